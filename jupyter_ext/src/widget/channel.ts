// A widget's way to its kernel: commands with an id, one reply each, a time limit.
import type { Connection } from "../view/source.ts";

const TIME_LIMIT_MS = 8000;

/** What anywidget gives; only what is used here. */
export interface WidgetModel {
  get(name: string): unknown;
  on(event: string, listener: (...values: never[]) => void): void;
  off(event: string, listener: (...values: never[]) => void): void;
  send(content: unknown): void;
}

interface Waiting<R> {
  replied(reply: R): void;
  failed(error: Error): void;
}

export class Channel<R extends { id: string }> {
  readonly model: WidgetModel;
  readonly #waiting = new Map<string, Waiting<R>>();
  readonly #listeners = new Set<() => void>();
  readonly #traits: readonly string[];
  // Replies reach all views of a widget: the prefix says whose they are.
  readonly #prefix = Math.random().toString(36).slice(2);
  #count = 0;
  #connection: Connection = "live";

  /** Listens to these traits. */
  constructor(model: WidgetModel, traits: readonly string[]) {
    this.model = model;
    this.#traits = traits;
    for (const trait of traits) model.on(`change:${trait}`, this.tell);
    model.on("msg:custom", this.#received as never);
  }

  dispose(): void {
    for (const trait of this.#traits) this.model.off(`change:${trait}`, this.tell);
    this.model.off("msg:custom", this.#received as never);
    this.#listeners.clear();
    this.#fail("the view was closed");
  }

  connection(): Connection {
    return this.#connection;
  }

  /** Calls back when traits or connection are others; returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The kernel was restarted, shut down or lost. */
  lose(): void {
    this.#connect("gone");
    this.#fail("the kernel is gone");
  }

  /** Sends a command; the reply to it, whatever it says. */
  send(command: { kind: string }): Promise<R> {
    if (this.#connection === "gone") return Promise.reject(new Error("the kernel is gone"));
    const id = `${this.#prefix}-${this.#count++}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        this.#connect("silent");
        reject(new Error("the kernel does not answer"));
      }, TIME_LIMIT_MS);
      const replied = (reply: R) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const failed = (error: Error) => {
        clearTimeout(timer);
        reject(error);
      };
      this.#waiting.set(id, { replied, failed });
      this.model.send({ ...command, id });
    });
  }

  readonly tell = () => {
    for (const listener of this.#listeners) listener();
  };

  readonly #received = (reply: R) => {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    this.#waiting.delete(reply.id);
    this.#connect("live");
    waiting.replied(reply);
  };

  #fail(words: string): void {
    for (const { failed } of this.#waiting.values()) failed(new Error(words));
    this.#waiting.clear();
  }

  #connect(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    this.tell();
  }
}

// Sends commands to the kernel and waits for their replies: the only file that sends.
import type { Answers, Command, ModuleView, Reply } from "../protocol.ts";
import type { Connection, Fields, ModuleSource } from "../view/source.ts";

const TIME_LIMIT_MS = 8000;

/** What anywidget gives; only what is used here. */
export interface WidgetModel {
  get(name: "view" | "note"): unknown;
  on(event: string, listener: (...values: never[]) => void): void;
  off(event: string, listener: (...values: never[]) => void): void;
  send(content: unknown): void;
}

interface Waiting {
  answered(value: never): void;
  failed(error: Error): void;
}

export class LiveSource implements ModuleSource {
  readonly #model: WidgetModel;
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Set<() => void>();
  // Replies reach all views of a widget: the prefix says whose they are.
  readonly #prefix = Math.random().toString(36).slice(2);
  #count = 0;
  #connection: Connection = "live";
  #isOutdated = false;

  constructor(model: WidgetModel) {
    this.#model = model;
    model.on("change:view", this.#changed);
    model.on("change:note", this.#tell);
    model.on("msg:custom", this.#received as never);
  }

  dispose(): void {
    this.#model.off("change:view", this.#changed);
    this.#model.off("change:note", this.#tell);
    this.#model.off("msg:custom", this.#received as never);
    this.#listeners.clear();
    for (const { failed } of this.#waiting.values()) failed(new Error("the view was closed"));
    this.#waiting.clear();
  }

  current(): ModuleView {
    return this.#model.get("view") as ModuleView;
  }

  note(): string {
    return String(this.#model.get("note") ?? "");
  }

  connection(): Connection {
    return this.#connection;
  }

  isOutdated(): boolean {
    return this.#isOutdated;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The kernel was restarted, shut down or lost. */
  lose(): void {
    this.#connect("gone");
    for (const { failed } of this.#waiting.values()) failed(new Error("the kernel is gone"));
    this.#waiting.clear();
  }

  ask<K extends Command["kind"]>(kind: K, fields: Fields<K>): Promise<Answers[K]> {
    if (this.#connection === "gone") return Promise.reject(new Error("the kernel is gone"));
    const id = `${this.#prefix}-${this.#count++}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        this.#connect("silent");
        reject(new Error("the kernel does not answer"));
      }, TIME_LIMIT_MS);
      this.#waiting.set(id, {
        answered: (value: Answers[K]) => {
          clearTimeout(timer);
          resolve(value);
        },
        failed: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#model.send({ ...fields, kind, id });
    });
  }

  readonly #changed = () => {
    this.#isOutdated = false;
    this.#tell();
  };

  readonly #received = (reply: Reply) => {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    this.#waiting.delete(reply.id);
    this.#connect("live");
    switch (reply.kind) {
      case "answered":
        if (this.#isOutdated !== reply.is_outdated) {
          this.#isOutdated = reply.is_outdated;
          this.#tell();
        }
        waiting.answered(reply.answer as never);
        return;
      case "failed":
        waiting.failed(new Error(reply.message));
        return;
      default:
        unreachable(reply);
    }
  };

  #connect(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    this.#tell();
  }

  readonly #tell = () => {
    for (const listener of this.#listeners) listener();
  };
}

/** A new kind of reply fails to compile here. */
function unreachable(reply: never): never {
  throw new Error(`unknown reply: ${JSON.stringify(reply)}`);
}

// The inspector's commands and their replies.
import type { Answers, Command, ModuleView, Reply } from "../protocol.ts";
import type { Connection, Fields, ModuleSource } from "../view/source.ts";
import { Channel, type WidgetModel } from "./channel.ts";

export class LiveSource implements ModuleSource {
  readonly #channel: Channel<Reply>;
  #isOutdated = false;

  constructor(model: WidgetModel) {
    this.#channel = new Channel(model, ["note"]);
    this.#isOutdated = model.get("is_outdated") === true;
    this.#channel.model.on("change:view", this.#renewed);
    this.#channel.model.on("change:is_outdated", this.#aged);
  }

  dispose(): void {
    this.#channel.model.off("change:view", this.#renewed);
    this.#channel.model.off("change:is_outdated", this.#aged);
    this.#channel.dispose();
  }

  current(): ModuleView {
    return this.#channel.model.get("view") as ModuleView;
  }

  note(): string {
    return String(this.#channel.model.get("note") ?? "");
  }

  firstTab(): string {
    return String(this.#channel.model.get("first_tab") ?? "");
  }

  connection(): Connection {
    return this.#channel.connection();
  }

  isOutdated(): boolean {
    return this.#isOutdated;
  }

  onChange(listener: () => void): () => void {
    return this.#channel.onChange(listener);
  }

  /** The kernel was restarted, shut down or lost. */
  lose(): void {
    this.#channel.lose();
  }

  async ask<K extends Command["kind"]>(kind: K, fields: Fields<K>): Promise<Answers[K]> {
    const reply = await this.#channel.send({ ...fields, kind });
    switch (reply.kind) {
      case "answered":
        this.#setOutdated(reply.is_outdated);
        return reply.answer as Answers[K];
      case "failed":
        throw new Error(reply.message);
      default:
        return unreachable(reply);
    }
  }

  readonly #renewed = () => {
    this.#isOutdated = false;
    this.#channel.tell();
  };

  readonly #aged = () => this.#setOutdated(this.#channel.model.get("is_outdated") === true);

  #setOutdated(isOutdated: boolean): void {
    if (this.#isOutdated === isOutdated) return;
    this.#isOutdated = isOutdated;
    this.#channel.tell();
  }
}

/** A new kind of reply fails to compile here. */
function unreachable(reply: never): never {
  throw new Error(`unknown reply: ${JSON.stringify(reply)}`);
}

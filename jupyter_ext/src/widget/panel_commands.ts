// The control panel's commands and their replies.
import { type Ask, type PanelSource, Refused } from "../control_panel/source.ts";
import type { PanelReply, PanelView } from "../protocol.ts";
import type { Connection } from "../view/source.ts";
import { Channel, type WidgetModel } from "./channel.ts";

export class LivePanel implements PanelSource {
  readonly #channel: Channel<PanelReply>;

  constructor(model: WidgetModel) {
    this.#channel = new Channel(model, ["view"]);
  }

  dispose(): void {
    this.#channel.dispose();
  }

  current(): PanelView {
    return this.#channel.model.get("view") as PanelView;
  }

  connection(): Connection {
    return this.#channel.connection();
  }

  onChange(listener: () => void): () => void {
    return this.#channel.onChange(listener);
  }

  /** The kernel was restarted, shut down or lost. */
  lose(): void {
    this.#channel.lose();
  }

  async ask(command: Ask): Promise<string> {
    const reply = await this.#channel.send(command);
    if (reply.kind === "refused") throw new Refused(reply.message, reply.advice, reply.detail);
    return reply.words;
  }
}

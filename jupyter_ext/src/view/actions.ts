// What a reader can do beside going somewhere: ask for another drawing, copy a name.
import type { Command } from "../protocol.ts";
import { copy } from "./dom.ts";
import type { Fields, ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

export class Actions {
  /** What did not work, for the bar above the view. */
  failure = "";
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #announce: (words: string) => void;

  constructor(source: ModuleSource, store: Store, announce: (words: string) => void) {
    this.#source = source;
    this.#store = store;
    this.#announce = announce;
  }

  /** Asks for another drawing, which comes as a change of the source. */
  async draw<K extends "open" | "close" | "redraw">(kind: K, fields: Fields<K>): Promise<void> {
    try {
      await this.#source.ask<Command["kind"]>(kind, fields);
      this.failure = "";
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
    this.#store.update({});
  }

  /** Says above the view what did not work. */
  fail(message: string): void {
    this.failure = message;
    this.#store.update({});
  }

  /** Selects the function with a name, where there is one. */
  goToNamed(name: string): void {
    const node = this.#source.current().nodes.find((other) => other.name === name);
    if (node) this.#store.go({ tab: "functions", selected: node.id });
  }

  /** Copies the name of an op, or of the selected function as the module calls it. */
  copyName(op: string | null): void {
    if (op) {
      void copy(op);
      this.#announce(`${op} copied`);
      return;
    }
    const { selected } = this.#store.state;
    const node = this.#source.current().nodes.find((other) => other.id === selected);
    const name = node ? node.merged || node.name : selected && `@${selected}`;
    if (!name) return;
    void copy(name);
    this.#announce(`${name} copied`);
  }
}

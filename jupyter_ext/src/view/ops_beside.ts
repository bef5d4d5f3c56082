// The ops of a second function beside the view.
import { button, fill, h } from "./dom.ts";
import { type IconName, icon } from "./icons.ts";
import { OpsPane } from "./ops_pane.ts";
import type { ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

export class OpsBeside {
  readonly element = h("section", { class: "km-beside", "aria-label": "Beside", hidden: true });
  readonly pane: OpsPane;
  readonly #name = h("h3", { class: "mono" });
  readonly #store: Store;
  readonly #announce: (words: string) => void;
  #root = "";
  #op = "";

  constructor(source: ModuleSource, store: Store, announce: (words: string) => void) {
    this.#store = store;
    this.#announce = announce;
    this.pane = new OpsPane(source, {
      select: (op) => {
        this.#op = op;
        this.draw();
      },
      enter: (root) => this.#enter(root),
      openFunction: (id) => this.open(id),
      openBeside: (id) => this.open(id),
      showText: () => store.go({ tab: "text", selected: store.state.beside, line: 0 }),
      announce,
      drawn: () => this.draw(),
    });
    fill(this.element, this.#head(), this.pane.element);
  }

  /** Shows a function there. */
  open(id: string): void {
    this.#root = "";
    this.#op = "";
    this.#store.update({ beside: id });
    this.#announce(`@${id} stands beside`);
  }

  draw(): void {
    const { beside, hops, foldsTrivial } = this.#store.state;
    this.element.hidden = beside === "";
    if (beside === "") return;
    this.pane.show({ function: beside, root: this.#root, focus: "", hops, foldsTrivial }, false);
    this.pane.mark({ selected: this.#op, hits: new Map() });
    const { name, merged } = this.pane.drawing ?? { name: `@${beside}`, merged: "" };
    this.#name.textContent = merged ? `${name} → ${merged}` : name;
  }

  #enter(root: string): void {
    this.#root = root;
    this.draw();
  }

  #head(): HTMLElement {
    const tool = (label: string, name: IconName, act: () => void) =>
      button("km-btn icon", { "aria-label": label, title: label, onclick: act }, icon(name));
    return h(
      "div",
      { class: "km-bar thin" },
      this.#name,
      tool("The whole function", "back", () => this.#enter("")),
      tool("Open here", "fit", () => {
        const { beside } = this.#store.state;
        this.#store.update({ beside: "" });
        this.#store.go({ tab: "ops", selected: beside, line: 0 });
      }),
      tool("Close what stands beside", "close", () => this.#store.update({ beside: "" })),
    );
  }
}

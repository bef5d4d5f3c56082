// The side panel: the selected function's text, merged or as its author wrote it, and its facts.
import type { FunctionAnswer, FunctionText, ModuleView, NodeView } from "../protocol.ts";
import { button, type Child, copy, fill, h } from "./dom.ts";
import { factList, textBox, textSwitch, tool } from "./panel_text.ts";
import type { ModuleSource } from "./source.ts";
import { plural, unitLetters } from "./words.ts";

export interface PanelEvents {
  close(): void;
  /** Shows the line in the text view. */
  goToText(text: number, line: number): void;
  select(node: string): void;
  announce(words: string): void;
}

const MOST_NEIGHBOURS = 6;

export class Panel {
  readonly element = h("section", { class: "km-side", "aria-label": "Selected function" });
  readonly #source: ModuleSource;
  readonly #events: PanelEvents;
  #node = "";
  #digest = "";
  #answer: FunctionAnswer | null = null;
  #text = -1;
  #wraps = false;

  constructor(source: ModuleSource, events: PanelEvents) {
    this.#source = source;
    this.#events = events;
    this.element.hidden = true;
  }

  /** Shows a function; an empty id closes the panel. */
  show(id: string, view: ModuleView): void {
    this.element.hidden = id === "";
    if (id === "" || (id === this.#node && view.digest === this.#digest)) return;
    this.#node = id;
    this.#digest = view.digest;
    this.#answer = null;
    this.#draw(view, "");
    const waiting = setTimeout(() => this.#draw(view, "Asking the kernel for the text…"), 300);
    this.#source
      .ask("function", { node: id })
      .then((answer) => {
        if (this.#node !== id) return;
        this.#answer = answer;
        const has = answer.texts.some((text) => text.text === this.#text);
        if (!has) this.#text = answer.texts[0]?.text ?? -1;
        this.#draw(view, "");
      })
      .catch((error: Error) => {
        if (this.#node === id) this.#draw(view, `The text is not there: ${error.message}.`);
      })
      .finally(() => clearTimeout(waiting));
  }

  #draw(view: ModuleView, note: string): void {
    const node = view.nodes.find((other) => other.id === this.#node);
    const text = this.#answer?.texts.find((other) => other.text === this.#text);
    fill(
      this.element,
      this.#head(node, view, text),
      note ? h("p", { class: "km-empty" }, note) : text ? this.#lines(text) : this.#noText(node),
      this.#facts(node, view),
    );
  }

  #head(node: NodeView | undefined, view: ModuleView, text: FunctionText | undefined): HTMLElement {
    const name = node?.name ?? `@${this.#node}`;
    return h(
      "div",
      { class: "km-bar thin" },
      h("h3", { class: "mono", title: node?.merged ? `${name} → ${node.merged}` : name }, name),
      textSwitch(this.#answer?.texts ?? [], this.#text, view, (text) => {
        this.#text = text;
        this.#draw(view, "");
      }),
      text ? tool("Wrap long lines", "wrap", () => this.#toggleWrap(view), this.#wraps) : null,
      text ? tool("Copy the text", "copy", () => this.#copy(text)) : null,
      tool("Close the panel (Esc)", "close", () => this.#events.close()),
    );
  }

  #lines(text: FunctionText): HTMLElement {
    return textBox(text, "Text of the function", {
      line: 0,
      wraps: this.#wraps,
      go: (line) => this.#events.goToText(text.text, line),
    });
  }

  #noText(node: NodeView | undefined): HTMLElement {
    if (!this.#answer) return h("p", { class: "km-empty" });
    const words =
      node?.kind === "custom_call"
        ? "A custom call has no text: code outside of the module serves it."
        : "No text of it is at hand.";
    return h("p", { class: "km-empty" }, words);
  }

  #facts(node: NodeView | undefined, view: ModuleView): HTMLElement {
    const facts: [string, Child][] = [];
    if (node) {
      const units = node.units.map((unit) => view.units[unit]?.name ?? "").join(", ");
      const letters = unitLetters(node, view);
      if (units) facts.push([node.units.length > 1 ? "units" : "unit", `${letters} · ${units}`]);
      facts.push(["status", node.facts[0] ?? ""]);
      if (node.merged) facts.push(["merged", h("code", {}, node.merged)]);
    }
    if (this.#answer?.type) facts.push(["type", h("code", {}, this.#answer.type)]);
    if (node?.kind === "function") facts.push(["ops", node.op_count.toLocaleString("en")]);
    facts.push(["calls", this.#names(this.#answer?.callees, view)]);
    facts.push(["called by", this.#names(this.#answer?.callers, view)]);
    return factList(facts);
  }

  #names(ids: string[] | undefined, view: ModuleView): Child {
    if (!ids?.length) return null;
    const links = ids.slice(0, MOST_NEIGHBOURS).map((id) => {
      const node = view.nodes.find((other) => other.id === id);
      // Several functions may have one author's name; in the module they have a name each.
      const name = node ? node.merged || node.name : `@${id}`;
      return button("km-link mono", { onclick: () => this.#events.select(id) }, name);
    });
    const more = ids.length - links.length;
    return h("span", {}, ...links, more > 0 && ` and ${more.toLocaleString("en")} more`);
  }

  #toggleWrap(view: ModuleView): void {
    this.#wraps = !this.#wraps;
    this.#draw(view, "");
  }

  #copy(text: FunctionText): void {
    void copy(`${text.lines.join("\n")}\n`);
    this.#events.announce(`${plural(text.lines.length, "line")} copied`);
  }
}

// The side panel of an op: its line in the text, its values, its attributes, where it stands.
import type { ModuleView, OpAnswer, OpValue } from "../protocol.ts";
import { button, type Child, copy, fill, h } from "./dom.ts";
import { factList, textBox, textSwitch, tool } from "./panel_text.ts";

export interface OpPanelEvents {
  close(): void;
  goToText(text: number, line: number): void;
  select(op: string): void;
  openFunction(id: string): void;
  announce(words: string): void;
}

export class OpPanel {
  readonly element = h("section", { class: "km-side", "aria-label": "Selected op", hidden: true });
  readonly #events: OpPanelEvents;
  #answer: OpAnswer | null = null;
  #note = "";
  #text = -1;
  #wraps = false;

  constructor(events: OpPanelEvents) {
    this.#events = events;
  }

  /** Shows an op, or why it is not known yet. */
  show(answer: OpAnswer | null, note: string, view: ModuleView): void {
    if (answer === this.#answer && note === this.#note && this.element.hasChildNodes()) return;
    this.#answer = answer;
    this.#note = note;
    if (answer && !answer.texts.some((text) => text.text === this.#text)) {
      this.#text = answer.texts[0]?.text ?? -1;
    }
    this.#draw(view);
  }

  #draw(view: ModuleView): void {
    const answer = this.#answer;
    const text = answer?.texts.find((other) => other.text === this.#text);
    const line = answer?.places.find((place) => place.text === this.#text)?.line ?? 0;
    fill(
      this.element,
      h(
        "div",
        { class: "km-bar thin" },
        h("h3", { class: "mono", title: answer?.path }, answer ? title(answer) : ""),
        textSwitch(answer?.texts ?? [], this.#text, view, (other) => {
          this.#text = other;
          this.#draw(view);
        }),
        text ? tool("Wrap long lines", "wrap", () => this.#wrap(view), this.#wraps) : null,
        tool("Close the panel (Esc)", "close", () => this.#events.close()),
      ),
      text
        ? textBox(text, "Text around the op", {
            line,
            wraps: this.#wraps,
            go: (other) => this.#events.goToText(text.text, other),
          })
        : h("p", { class: "km-empty" }, this.#note || (answer ? "No text of it is at hand." : "")),
      answer && this.#facts(answer, view),
      answer && this.#copies(answer),
    );
    const marked = this.element.querySelector<HTMLElement>(".km-text .sel");
    const box = marked?.parentElement;
    if (marked && box) box.scrollTop = marked.offsetTop - box.offsetTop - box.clientHeight / 3;
  }

  #facts(answer: OpAnswer, view: ModuleView): HTMLElement {
    const call = answer.callee;
    const attributes = answer.attributes.map(({ name, value }) =>
      h("div", {}, h("code", {}, `${name} = ${value}`)),
    );
    return factList([
      ["op", h("code", {}, answer.name)],
      ["calls", call ? this.#link(`@${call}`, () => this.#events.openFunction(call)) : null],
      ["operands", this.#values(answer.operands)],
      ["results", this.#values(answer.results)],
      ["used by", this.#values(answer.users, answer.users_left_out)],
      ["attributes", attributes.length > 0 ? h("div", {}, ...attributes) : null],
      ["scope", answer.scope ? h("code", {}, answer.scope) : null],
      ["stands in", this.#places(answer, view)],
    ]);
  }

  #values(values: readonly OpValue[], more = 0): Child {
    if (values.length === 0) return null;
    const shown = values.map(({ name, type, op }) =>
      h(
        "div",
        {},
        op ? this.#link(name, () => this.#events.select(op)) : h("code", {}, name),
        type !== "" && h("code", { class: "fg2" }, ` : ${type}`),
      ),
    );
    return h(
      "div",
      {},
      ...shown,
      more > 0 && h("div", { class: "fg2" }, `and ${more.toLocaleString("en")} more`),
    );
  }

  #places(answer: OpAnswer, view: ModuleView): Child {
    if (answer.places.length === 0) return null;
    const links = answer.places.map(({ text, line, column }) => {
      const unit = view.units[text];
      const where = unit ? `unit ${unit.name}` : view.text_word.toLowerCase();
      const words = `${where}, line ${line.toLocaleString("en")}, column ${column}`;
      return h(
        "div",
        {},
        this.#link(words, () => this.#events.goToText(text, line)),
      );
    });
    return h("div", {}, ...links);
  }

  #link(words: string, act: () => void): HTMLElement {
    return button("km-link mono", { onclick: act }, words);
  }

  #copies(answer: OpAnswer): HTMLElement {
    const make = (words: string, text: string) =>
      button("km-btn", { onclick: () => this.#copy(words, text) }, `Copy ${words}`);
    return h(
      "div",
      { class: "km-bar copies" },
      make("name", answer.name),
      make("op", answer.text),
      make("path", answer.path),
    );
  }

  #copy(words: string, text: string): void {
    void copy(text);
    this.#events.announce(`${words} copied`);
  }

  #wrap(view: ModuleView): void {
    this.#wraps = !this.#wraps;
    this.#draw(view);
  }
}

/** `%a · call`; the name alone of an argument. */
function title({ label, name }: OpAnswer): string {
  const short = name.slice(name.lastIndexOf(".") + 1);
  return label === short ? label : `${label} · ${short}`;
}

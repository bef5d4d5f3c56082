// A whole text, merged or a unit's own: only the lines in sight are there, however long it is.
import type { TextView as TextFacts, TextRange } from "../protocol.ts";
import { button, fill, h, set } from "./dom.ts";
import { irLine } from "./ir_line.ts";
import type { ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

const LINE_HEIGHT = 18;
const PAGE = 200;
const AROUND = 12;

export class TextPane {
  readonly #lines = h("div", { class: "km-lines" });
  readonly #spacer = h("div", { class: "km-spacer" }, this.#lines);
  readonly #scroller = h("div", { class: "km-text", tabindex: "0", role: "listbox" }, this.#spacer);
  readonly element = h("div", { class: "km-textpane" }, this.#scroller);
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #observer: ResizeObserver;
  readonly #prefix = `km-line-${Math.random().toString(36).slice(2)}-`;
  #key = "";
  #facts: TextFacts | null = null;
  #pages = new Map<number, string[] | "asked">();
  #wanted = "";

  constructor(source: ModuleSource, store: Store) {
    this.#source = source;
    this.#store = store;
    set(this.#scroller, {
      onscroll: () => this.#draw(),
      onclick: (event: MouseEvent) => this.#clicked(event),
    });
    this.#observer = new ResizeObserver(() => this.#draw());
    this.#observer.observe(this.#scroller);
  }

  dispose(): void {
    this.#observer.disconnect();
  }

  /** Shows the text of the store's place, with its line or its function in sight. */
  async show(): Promise<void> {
    const { text } = this.#store.state;
    const key = `${this.#source.current().digest} ${text}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#facts = null;
      this.#pages = new Map();
      this.#wanted = "";
      fill(this.element, h("p", { class: "km-empty" }, "Asking the kernel for the text…"));
      try {
        const facts = await this.#source.ask("text", { text });
        if (key !== this.#key) return;
        this.#facts = facts;
      } catch (error) {
        if (key === this.#key) this.#failed(error instanceof Error ? error.message : String(error));
        return;
      }
      fill(this.element, this.#scroller);
      this.#spacer.style.height = `${this.#facts.line_count * LINE_HEIGHT}px`;
    }
    this.#bringToSight();
    this.#draw();
  }

  focus(): void {
    this.#scroller.focus();
  }

  /** Lines in sight of all: for the status line. */
  status(): string {
    if (!this.#facts) return "";
    const [first, last] = this.#inSight();
    const number = (line: number) => line.toLocaleString("en");
    return `lines ${number(first + 1)} to ${number(last)} of ${number(this.#facts.line_count)}`;
  }

  /** True if the key was for the text. */
  key(event: KeyboardEvent): boolean {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (step !== undefined) {
      this.#goTo(this.#current() + step);
      return true;
    }
    if (event.key === "Home" || event.key === "End") {
      this.#goTo(event.key === "Home" ? 1 : (this.#facts?.line_count ?? 1));
      return true;
    }
    if (event.key === " ") {
      if (this.#store.state.selected) this.#store.go({ tab: "ops" });
      return true;
    }
    if (event.key !== "Enter") return false;
    this.#select(this.#current());
    return true;
  }

  #current(): number {
    const { line, selected } = this.#store.state;
    return line || this.#rangeOf(selected)?.first || 0;
  }

  #goTo(line: number): void {
    const last = this.#facts?.line_count ?? 0;
    this.#store.update({ line: Math.max(1, Math.min(line, last)) });
    this.#wanted = "";
    this.#bringToSight();
    this.#draw();
  }

  #select(line: number): void {
    const range = this.#facts?.ranges.find((range) => range.first <= line && line <= range.last);
    const { text } = this.#store.state;
    this.#store.go({ line, selected: range?.node ?? "", op: "" });
    if (range) void this.#selectOp(text, line);
  }

  /** The op on the line is the one that is selected in the ops view. */
  async #selectOp(text: number, line: number): Promise<void> {
    try {
      const { function: found, op } = await this.#source.ask("op_at", { text, line });
      const { state } = this.#store;
      const isHere = state.text === text && state.line === line && state.selected === found;
      if (isHere && op !== "") this.#store.update({ op });
    } catch {
      // Without a kernel the function alone is selected.
    }
  }

  #clicked(event: MouseEvent): void {
    const row = event.target instanceof Element && event.target.closest("[data-line]");
    if (row) this.#select(Number(row.getAttribute("data-line")));
  }

  #rangeOf(node: string): TextRange | undefined {
    return node ? this.#facts?.ranges.find((range) => range.node === node) : undefined;
  }

  /** Scrolls once for each place, so that somebody who scrolled away is left alone. */
  #bringToSight(): void {
    const { line, selected, text } = this.#store.state;
    const wanted = `${text} ${line} ${selected}`;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    const range = this.#rangeOf(selected);
    const first = line || range?.first;
    if (!first) return;
    const top = (first - 1) * LINE_HEIGHT;
    const last = line ? line : Math.min(range?.last ?? first, first + 8);
    const { scrollTop, clientHeight } = this.#scroller;
    const isSeen = top >= scrollTop && last * LINE_HEIGHT <= scrollTop + clientHeight;
    if (!isSeen) this.#scroller.scrollTop = Math.max(0, top - 3 * LINE_HEIGHT);
  }

  #inSight(): [number, number] {
    const count = this.#facts?.line_count ?? 0;
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.floor(scrollTop / LINE_HEIGHT);
    return [
      Math.min(first, count),
      Math.min(count, Math.ceil((scrollTop + clientHeight) / LINE_HEIGHT)),
    ];
  }

  #draw(): void {
    const facts = this.#facts;
    if (!facts || this.#scroller.clientHeight === 0) return;
    const [seenFirst, seenLast] = this.#inSight();
    const first = Math.max(0, seenFirst - AROUND);
    const last = Math.min(facts.line_count, seenLast + AROUND);
    const range = this.#rangeOf(this.#store.state.selected);
    const current = this.#store.state.line;
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index++) {
      const row = irLine(index + 1, this.#line(index) ?? "…");
      const isInRange = range !== undefined && range.first <= index + 1 && index + 1 <= range.last;
      row.classList.toggle("sel", current ? current === index + 1 : isInRange);
      row.classList.toggle("range", isInRange);
      const isSelected = current ? current === index + 1 : range?.first === index + 1;
      set(row, {
        role: "option",
        id: `${this.#prefix}${index + 1}`,
        "aria-selected": String(isSelected),
        "aria-posinset": index + 1,
        "aria-setsize": facts.line_count,
      });
      rows.push(row);
    }
    fill(this.#lines, ...rows);
    this.#lines.style.transform = `translateY(${first * LINE_HEIGHT}px)`;
    const view = this.#source.current();
    const name = view.units[facts.text]?.name ?? view.text_word;
    const active = this.#current();
    set(this.#scroller, {
      "aria-label": `Text: ${name}`,
      "aria-activedescendant": first < active && active <= last ? `${this.#prefix}${active}` : null,
    });
    this.element.dispatchEvent(new CustomEvent("km-scrolled"));
  }

  /** The line at an index; asks for its page where it is not there yet. */
  #line(index: number): string | undefined {
    const page = Math.floor(index / PAGE);
    const lines = this.#pages.get(page);
    if (lines === undefined) void this.#askFor(page);
    return Array.isArray(lines) ? lines[index - page * PAGE] : undefined;
  }

  async #askFor(page: number): Promise<void> {
    const key = this.#key;
    this.#pages.set(page, "asked");
    try {
      const fields = { text: this.#store.state.text, first: page * PAGE + 1, count: PAGE };
      const { lines } = await this.#source.ask("lines", fields);
      if (key !== this.#key) return;
      this.#pages.set(page, lines);
    } catch {
      // The bar above says that the kernel is silent; scrolling asks again.
      if (key === this.#key) this.#pages.delete(page);
      return;
    }
    this.#draw();
  }

  #failed(message: string): void {
    const again = () => {
      this.#key = "";
      void this.show();
    };
    fill(
      this.element,
      h(
        "div",
        { class: "km-empty" },
        h("p", {}, `The text is not there: ${message}.`),
        button("km-btn", { onclick: again }, "Try again"),
      ),
    );
  }
}

// The query box: finds functions by name, lists what it found, walks the hits.
import type { Hit } from "../protocol.ts";
import { fill, h, set } from "./dom.ts";
import { icon } from "./icons.ts";
import type { ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

const DELAY_MS = 120;
const MOST_LISTED = 12;

export class SearchBox {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #count = h("span", { class: "count" });
  readonly #key = h("kbd", { "aria-hidden": "true" }, "/");
  readonly #list = h("div", {
    class: "km-hits",
    role: "listbox",
    "aria-label": "Hits",
    hidden: true,
  });
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #announce: (words: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: ModuleSource, store: Store, announce: (words: string) => void) {
    this.#source = source;
    this.#store = store;
    this.#announce = announce;
    this.#list.id = `km-hits-${Math.random().toString(36).slice(2)}`;
    this.#input = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "Find a function",
      role: "combobox",
      "aria-label": "Find a function by its name",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.#list.id,
    });
    set(this.#input, {
      oninput: () => this.#typed(),
      onkeydown: (event: KeyboardEvent) => this.#keyed(event),
      onfocus: () => this.#showList(this.#store.state.hits.length > 0),
      onblur: () => this.#showList(false),
    });
    this.element = h(
      "div",
      { class: "km-search" },
      icon("search"),
      this.#input,
      this.#count,
      this.#key,
      this.#list,
    );
    store.subscribe((state, before) => {
      if (state.hits !== before.hits || state.hit !== before.hit) this.#draw();
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  /** Goes to the next hit or, with -1, to the one before. */
  walk(step: 1 | -1): void {
    const { hits, hit } = this.#store.state;
    if (hits.length === 0) return;
    this.#choose((hit + step + hits.length) % hits.length);
  }

  #typed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#find(this.#input.value), DELAY_MS);
  }

  async #find(query: string): Promise<void> {
    if (!query.trim()) {
      this.#store.update({ query: "", hits: [], hitTotal: 0, hit: -1 });
      return;
    }
    try {
      const { hits, total } = await this.#source.ask("find", { query, within: "", drawn: null });
      if (this.#input.value !== query) return;
      this.#store.update({ query, hits, hitTotal: total, hit: -1 });
      this.#showList(document.activeElement === this.#input || total === 0);
      this.#announce(total === 0 ? "nothing found" : `${total.toLocaleString("en")} found`);
    } catch (error) {
      this.#announce(`the search failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  #keyed(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.#store.state.hit < 0) this.walk(1);
      this.#showList(false);
    } else if (event.key === "Escape") {
      this.#escape();
    }
  }

  /** First the list goes, then the query, then the focus. */
  #escape(): void {
    if (!this.#list.hidden) {
      this.#showList(false);
    } else if (this.#input.value) {
      this.#input.value = "";
      void this.#find("");
    } else {
      this.#input.blur();
    }
  }

  #choose(index: number): void {
    const hit = this.#store.state.hits[index];
    if (!hit) return;
    this.#store.update({ hit: index });
    this.#store.go({ selected: hit.node });
  }

  #draw(): void {
    const { query, hits, hitTotal, hit } = this.#store.state;
    const total = hitTotal.toLocaleString("en");
    this.#count.textContent = !query ? "" : hit >= 0 ? `${hit + 1} of ${total}` : total;
    this.#key.hidden = query !== "";
    const start = Math.max(0, Math.min(hit - MOST_LISTED + 3, hits.length - MOST_LISTED));
    const listed = hits.slice(start, start + MOST_LISTED);
    const rows = listed.map((found, index) =>
      this.#row(found, start + index, start + index === hit),
    );
    const more = hitTotal - start - listed.length;
    fill(
      this.#list,
      ...rows,
      more > 0 && h("p", { class: "more" }, `${more.toLocaleString("en")} more: ↓ goes on`),
      hitTotal === 0 &&
        query !== "" &&
        h("p", { class: "more" }, "No function has a name like that."),
    );
  }

  #row(found: Hit, index: number, isCurrent: boolean): HTMLElement {
    return h(
      "div",
      {
        class: isCurrent ? "row sel" : "row",
        role: "option",
        "aria-selected": String(isCurrent),
        // The box keeps the focus: a press would take it away before the click.
        onpointerdown: (event: PointerEvent) => event.preventDefault(),
        onclick: () => this.#choose(index),
      },
      h("span", { class: "nmx" }, found.name),
      found.merged !== "" && h("span", { class: "fg2" }, `→ ${found.merged}`),
      found.group !== "" && h("span", { class: "x" }, "folded"),
    );
  }

  #showList(isShown: boolean): void {
    this.#list.hidden = !isShown || this.#store.state.query === "";
    set(this.#input, { "aria-expanded": String(!this.#list.hidden) });
  }
}

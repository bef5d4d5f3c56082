// The query box: finds functions and ops, lists what it found, walks the hits.
import type { Hit, Suggestion } from "../protocol.ts";
import { button, fill, h, set } from "./dom.ts";
import { icon } from "./icons.ts";
import { queryHelp } from "./query_help.ts";
import type { Fields, ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

const DELAY_MS = 120;
const MOST_LISTED = 12;

/** Where a search looks, and in which drawing its hits are marked. */
export type Scope = Omit<Fields<"find">, "query">;

export class SearchBox {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #count = h("span", { class: "count" });
  readonly #key = h("kbd", { "aria-hidden": "true" }, "/");
  readonly #list = h("div", { role: "listbox", "aria-label": "Hits" });
  readonly #note = h("div", { class: "km-query-note" });
  readonly #drop = h("div", { class: "km-hits", hidden: true }, this.#list, this.#note);
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #scope: () => Scope;
  readonly #announce: (words: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = "";
  #failure = "";
  #nearest: Suggestion[] = [];

  constructor(
    source: ModuleSource,
    store: Store,
    scope: () => Scope,
    announce: (words: string) => void,
  ) {
    this.#source = source;
    this.#store = store;
    this.#scope = scope;
    this.#announce = announce;
    this.#list.id = `km-hits-${Math.random().toString(36).slice(2)}`;
    this.#input = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      role: "combobox",
      "aria-label": "Find a function or an op",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.#list.id,
    });
    set(this.#input, {
      oninput: () => this.#typed(),
      onkeydown: (event: KeyboardEvent) => this.#keyed(event),
      onfocus: () => this.#drawList(true),
      onblur: () => this.#showDrop(false),
    });
    // The box keeps the focus: a press would take it away before the click.
    set(this.#drop, { onpointerdown: (event: PointerEvent) => event.preventDefault() });
    this.element = h(
      "div",
      { class: "km-search" },
      icon("search"),
      this.#input,
      this.#count,
      this.#key,
      this.#drop,
    );
    this.#drawList(false);
    store.subscribe((state, before) => {
      if (state.hits !== before.hits || state.hit !== before.hit || state.tab !== before.tab) {
        this.#drawList(!this.#drop.hidden);
      }
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  /** Finds again where the hits are to be marked in another drawing, or looked for elsewhere. */
  follow(): void {
    const query = this.#input.value;
    if (query.trim() && this.#asked && this.#asked !== this.#asking(query)) void this.#find(query);
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

  #asking(query: string): string {
    return JSON.stringify([query, this.#scope()]);
  }

  async #find(query: string): Promise<void> {
    const asked = this.#asking(query);
    const isSame = query === this.#store.state.query;
    this.#asked = asked;
    this.#failure = "";
    this.#nearest = [];
    if (!query.trim()) {
      this.#asked = "";
      this.#store.update({ query: "", hits: [], hitTotal: 0, hit: -1 });
      return;
    }
    try {
      const answer = await this.#source.ask("find", { query, ...this.#scope() });
      if (this.#asked !== asked) return;
      this.#nearest = answer.nearest;
      const { hits, total } = answer;
      const hit = isSame ? this.#same(hits) : -1;
      this.#store.update({ query, hits, hitTotal: total, hit });
      if (!isSame) {
        this.#announce(total === 0 ? "nothing found" : `${total.toLocaleString("en")} found`);
      }
    } catch (error) {
      if (this.#asked !== asked) return;
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#store.update({ query, hits: [], hitTotal: 0, hit: -1 });
      this.#announce(this.#failure.split("\n")[0] ?? "");
    }
    if (!isSame) this.#showDrop(this.#isFocused() || this.#store.state.hitTotal === 0);
  }

  /** The place of the hit that was gone to, among those found again. */
  #same(hits: readonly Hit[]): number {
    const { hits: before, hit } = this.#store.state;
    const old = before[hit];
    return old ? hits.findIndex(({ node, op }) => node === old.node && op === old.op) : -1;
  }

  #keyed(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.#store.state.hit < 0) this.walk(1);
      this.#showDrop(false);
    } else if (event.key === "Escape") {
      this.#escape();
    }
  }

  /** First the list goes, then the query, then the focus. */
  #escape(): void {
    if (!this.#drop.hidden) {
      this.#showDrop(false);
    } else if (this.#input.value) {
      this.#use("");
    } else {
      this.#input.blur();
    }
  }

  #use(query: string): void {
    this.#input.value = query;
    this.#input.focus();
    void this.#find(query);
  }

  #choose(index: number): void {
    const hit = this.#store.state.hits[index];
    if (!hit) return;
    this.#store.update({ hit: index });
    if (!hit.op) {
      this.#store.go({ selected: hit.node });
      return;
    }
    const tab = this.#store.state.tab === "text" ? "text" : "ops";
    this.#store.go({ tab, selected: hit.node, op: hit.op, line: 0 });
  }

  #drawList(isShown: boolean): void {
    const { query, hits, hitTotal, hit, tab } = this.#store.state;
    const total = hitTotal.toLocaleString("en");
    this.#input.placeholder =
      tab === "ops" ? "Find  op:dot_general shape:8x64*" : "Find a function or op";
    this.#count.textContent = !query ? "" : hit >= 0 ? `${hit + 1} of ${total}` : total;
    this.#key.hidden = query !== "";
    const start = Math.max(0, Math.min(hit - MOST_LISTED + 3, hits.length - MOST_LISTED));
    const listed = hits.slice(start, start + MOST_LISTED);
    this.#list.hidden = listed.length === 0;
    fill(
      this.#list,
      ...listed.map((found, index) => this.#row(found, start + index, start + index === hit)),
    );
    const more = hitTotal - start - listed.length;
    fill(
      this.#note,
      more > 0 && h("p", { class: "more" }, `${more.toLocaleString("en")} more: ↓ goes on`),
      this.#failure !== "" && h("p", { class: "wrong" }, untilCaret(this.#failure)),
      hitTotal === 0 && query !== "" && !this.#failure && this.#nothing(),
      this.#scopeSwitch(),
      (query === "" || this.#failure !== "") && queryHelp((key) => this.#insert(key)),
    );
    this.#showDrop(isShown);
  }

  /** Nothing was found: what is near. */
  #nothing(): HTMLElement {
    const others = this.#nearest.map(({ query, total }) =>
      h(
        "div",
        { class: "near" },
        button("km-link mono", { tabindex: "-1", onclick: () => this.#use(query) }, query),
        h("span", { class: "fg2" }, `finds ${total.toLocaleString("en")}`),
      ),
    );
    const words = others.length > 0 ? "Nothing is found. Near to it:" : "Nothing is found.";
    return h("div", {}, h("p", { class: "more" }, words), ...others);
  }

  /** In the ops view: this function, or all. */
  #scopeSwitch(): HTMLElement | null {
    const { tab, searchesAll } = this.#store.state;
    if (tab !== "ops") return null;
    const make = (label: string, isAll: boolean) =>
      button(
        "",
        {
          tabindex: "-1",
          "aria-pressed": String(isAll === searchesAll),
          onclick: () => {
            this.#store.update({ searchesAll: isAll });
            this.follow();
            this.#drawList(true);
          },
        },
        label,
      );
    return h(
      "div",
      { class: "scope" },
      h("div", { class: "km-seg" }, make("This function", false), make("All functions", true)),
    );
  }

  #insert(key: string): void {
    const { value } = this.#input;
    this.#input.value = value && !value.endsWith(" ") ? `${value} ${key}` : value + key;
    this.#input.focus();
  }

  #row(found: Hit, index: number, isCurrent: boolean): HTMLElement {
    return h(
      "div",
      {
        class: isCurrent ? "row sel" : "row",
        role: "option",
        "aria-selected": String(isCurrent),
        onclick: () => this.#choose(index),
      },
      h("span", { class: "nmx" }, found.name),
      found.merged !== "" && h("span", { class: "fg2" }, `→ ${found.merged}`),
      h("span", { class: "x" }, found.where || (found.group !== "" ? "folded" : "")),
    );
  }

  #isFocused(): boolean {
    return document.activeElement === this.#input;
  }

  #showDrop(isShown: boolean): void {
    this.#drop.hidden = !isShown;
    set(this.#input, { "aria-expanded": String(isShown && !this.#list.hidden) });
  }
}

/** What is wrong and where; what is understood stands in the table below. */
function untilCaret(message: string): string {
  const lines = message.split("\n");
  const caret = lines.findIndex((line) => /^ *\^+$/.test(line));
  return lines.slice(0, caret < 0 ? lines.length : caret + 1).join("\n");
}

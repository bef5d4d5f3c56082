// The rename map as a table: from, to, why, uses; the other way round as well.
import type { ModuleView, SymbolRow, Why } from "../protocol.ts";
import { button, type Child, copy, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";
import { unitChip } from "./outline_view.ts";
import type { ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";
import {
  type Column,
  type Order,
  REASONS,
  reasonCounts,
  shownRows,
  toCsv,
} from "./symbol_table.ts";
import { plural, whyIcon } from "./words.ts";

const ROWS_AT_ONCE = 300;
const COLUMNS: [Column | null, string][] = [
  ["unit", "Unit"],
  ["old", "From"],
  ["new", "To"],
  ["kind", "Kind"],
  ["why", "Why"],
  [null, "Explanation"],
  ["uses", "Uses"],
  ["line", "Line"],
];

export interface SymbolsEvents {
  goToText(text: number, line: number): void;
  announce(words: string): void;
}

export class SymbolsView {
  readonly element = h("div", { class: "km-symbols" });
  readonly #filters = h("div", { class: "km-bar km-filters", role: "group", "aria-label": "Why" });
  readonly #table = h("div", {
    class: "km-scroll",
    tabindex: "0",
    role: "region",
    "aria-label": "Rename map",
  });
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #events: SymbolsEvents;
  #rows: readonly SymbolRow[] | null = null;
  #digest = "";
  #reason: Why | "" = "";
  #order: Order = { column: "why", isDescending: false };
  #isInverse = false;
  #most = ROWS_AT_ONCE;

  constructor(source: ModuleSource, store: Store, events: SymbolsEvents) {
    this.#source = source;
    this.#store = store;
    this.#events = events;
    fill(this.element, this.#filters, this.#table);
  }

  /** Asks for the rows when the module is another one; else only marks the selection. */
  async show(): Promise<void> {
    const view = this.#source.current();
    if (this.#digest !== view.digest) {
      this.#digest = view.digest;
      this.#rows = null;
      fill(this.#table, h("p", { class: "km-empty" }, "Asking the kernel for the names…"));
      try {
        this.#rows = (await this.#source.ask("symbols", {})).rows;
      } catch (error) {
        this.#digest = "";
        this.#failed(error instanceof Error ? error.message : String(error));
        return;
      }
    }
    this.#draw();
  }

  /** What the status line says of it. */
  status(): string {
    if (!this.#rows) return "";
    const renamed = this.#rows.filter((row) => row.why === "renamed").length;
    return `${plural(this.#rows.length, "symbol")} · ${renamed.toLocaleString("en")} renamed`;
  }

  copyCsv(): void {
    const rows = this.#shown();
    const view = this.#source.current();
    void copy(toCsv(rows, (unit) => view.units[unit]?.name ?? ""));
    this.#events.announce(`${plural(rows.length, "row")} copied`);
  }

  /** The tool of the path bar: in which direction the table is read. */
  directionSwitch(): HTMLElement {
    const make = (label: string, isInverse: boolean) =>
      button(
        "",
        {
          "aria-pressed": String(this.#isInverse === isInverse),
          onclick: () => {
            this.#isInverse = isInverse;
            this.#order = { column: isInverse ? "new" : "why", isDescending: false };
            this.#store.update({});
            this.#draw();
          },
        },
        label,
      );
    return h(
      "div",
      { class: "km-seg", role: "group", "aria-label": "Read" },
      make("from → to", false),
      make("to → from", true),
    );
  }

  #shown(): SymbolRow[] {
    return shownRows(this.#rows ?? [], this.#reason, this.#store.state.query, this.#order);
  }

  #draw(): void {
    const rows = this.#rows;
    if (!rows) return;
    const counts = reasonCounts(rows);
    const reasons = REASONS.filter((reason) => counts.has(reason));
    fill(
      this.#filters,
      this.#filter("", `all ${rows.length.toLocaleString("en")}`, null),
      ...reasons.map((reason) =>
        this.#filter(
          reason,
          `${reason} ${counts.get(reason)?.toLocaleString("en")}`,
          icon(whyIcon(reason)),
        ),
      ),
    );
    const shown = this.#shown();
    const columns = this.#isInverse ? swapped(COLUMNS) : COLUMNS;
    const table = h(
      "table",
      { class: "km-stack" },
      h(
        "thead",
        {},
        h("tr", {}, ...columns.map(([column, label]) => this.#heading(column, label))),
      ),
      h("tbody", {}, ...shown.slice(0, this.#most).map((row) => this.#row(row))),
    );
    const more = shown.length - this.#most;
    fill(
      this.#table,
      table,
      shown.length === 0 &&
        h("p", { class: "km-empty" }, "No symbol fits the query and the filter."),
      more > 0 &&
        button(
          "km-btn km-more",
          { onclick: () => this.#showMore() },
          `Show ${Math.min(more, ROWS_AT_ONCE)} more of ${more.toLocaleString("en")}`,
        ),
    );
  }

  #showMore(): void {
    this.#most += ROWS_AT_ONCE;
    this.#draw();
  }

  #filter(reason: Why | "", label: string, sign: Child): HTMLElement {
    const choose = () => {
      this.#reason = reason;
      this.#most = ROWS_AT_ONCE;
      this.#draw();
    };
    return button(
      "km-btn",
      { "aria-pressed": String(this.#reason === reason), onclick: choose },
      sign,
      label,
    );
  }

  #heading(column: Column | null, label: string): HTMLElement {
    const isNumber = column === "uses" || column === "line";
    if (column === null) return h("th", { scope: "col" }, label);
    const isOrder = this.#order.column === column;
    const direction = this.#order.isDescending ? "descending" : "ascending";
    const sort = () => {
      this.#order = { column, isDescending: isOrder && !this.#order.isDescending };
      this.#draw();
    };
    const arrow = isOrder ? (this.#order.isDescending ? " ▾" : " ▴") : "";
    return h(
      "th",
      { scope: "col", class: isNumber && "num", "aria-sort": isOrder && direction },
      button("", { onclick: sort }, label + arrow),
    );
  }

  #row(row: SymbolRow): HTMLElement {
    const view = this.#source.current();
    const isSelected = row.node !== "" && row.node === this.#store.state.selected;
    const select = () => this.#store.go({ selected: row.node });
    const [first, second] = this.#isInverse ? [row.new, row.old] : [row.old, row.new];
    return h(
      "tr",
      { class: isSelected && "sel", "aria-selected": String(isSelected) },
      h(
        "td",
        {},
        h("span", { class: "km-badge" }, unitChip(row.unit, view), unitName(row.unit, view)),
      ),
      h(
        "td",
        {},
        row.node
          ? button("km-name", { onclick: select, title: first }, first)
          : h("code", {}, first),
      ),
      h(
        "td",
        {},
        row.old === row.new
          ? h("span", { class: "fg2 mono" }, "same")
          : h("code", {}, `${this.#isInverse ? "←" : "→"} ${second}`),
      ),
      h("td", { class: "fg2" }, row.kind),
      h("td", {}, h("span", { class: `km-badge why-${row.why}` }, icon(whyIcon(row.why)), row.why)),
      h("td", { class: row.explanation ? "fg2" : "fg2 nil" }, row.explanation),
      h("td", { class: "num", "data-l": "uses" }, row.uses.toLocaleString("en")),
      h(
        "td",
        { class: row.line === null ? "num nil" : "num", "data-l": "line" },
        this.#lineLink(row),
      ),
    );
  }

  #lineLink(row: SymbolRow): Child {
    if (row.line === null) return "–";
    const line = row.line;
    const go = () => this.#events.goToText(row.unit, line);
    return button(
      "km-link",
      { onclick: go, "aria-label": `Line ${line} of its unit` },
      line.toLocaleString("en"),
    );
  }

  #failed(message: string): void {
    fill(
      this.#table,
      h(
        "div",
        { class: "km-empty" },
        h("p", {}, `The names are not there: ${message}.`),
        button("km-btn", { onclick: () => void this.show() }, "Try again"),
      ),
    );
  }
}

function swapped(columns: [Column | null, string][]): [Column | null, string][] {
  const [unit, from, to, ...rest] = columns;
  return unit && from && to ? [unit, [to[0], "To"], [from[0], "From"], ...rest] : columns;
}

function unitName(unit: number, view: ModuleView): string {
  return view.units[unit]?.name ?? "";
}

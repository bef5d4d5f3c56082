// The functions view as a tree: the form for narrow widgets, and for readers of text.
import type { ModuleView } from "../protocol.ts";
import { fill, h, set } from "./dom.ts";
import type { NodeEvents } from "./graph_canvas.ts";
import { icon } from "./icons.ts";
import type { Marks } from "./marks.ts";
import { type OutlineRow, outlineRows } from "./outline.ts";
import { nodeIcon, nodeLabel, unitColour } from "./words.ts";

export class OutlineView {
  readonly element: HTMLDivElement;
  readonly #events: NodeEvents;
  readonly #closed = new Set<string>();
  #view: ModuleView | null = null;
  #rows: OutlineRow[] = [];
  #elements: HTMLElement[] = [];
  #focused = 0;
  #marks: Marks = { selected: -1, hits: new Set(), dimmed: [] };

  constructor(events: NodeEvents) {
    this.#events = events;
    this.element = h("div", { class: "km-tree", role: "tree", hidden: true });
    set(this.element, {
      onclick: (event: MouseEvent) => this.#clicked(event),
      onfocusin: (event: FocusEvent) => {
        const index = this.#elements.indexOf(event.target as HTMLElement);
        if (index >= 0) this.#rove(index);
      },
    });
  }

  draw(view: ModuleView): void {
    this.#view = view;
    this.#rows = outlineRows(view, this.#closed);
    this.#elements = this.#rows.map((row) => this.#row(row, view));
    set(this.element, { "aria-label": `Functions of ${view.title}` });
    fill(this.element, ...this.#elements);
    this.#rove(Math.min(this.#focused, Math.max(0, this.#rows.length - 1)));
    this.mark(this.#marks);
  }

  mark(marks: Marks): void {
    this.#marks = marks;
    this.#rows.forEach((row, index) => {
      const element = this.#elements[index];
      const isSelected = row.place === marks.selected;
      const isOther = marks.hits.size > 0 && !marks.hits.has(row.place) && !isSelected;
      const units = row.node.units;
      const isOff = units.length > 0 && units.every((unit) => marks.dimmed.includes(unit));
      element?.classList.toggle("sel", isSelected);
      element?.setAttribute("aria-selected", String(isSelected));
      element?.classList.toggle("hit", marks.hits.has(row.place) && !isSelected);
      element?.classList.toggle("dim", isOther || isOff);
    });
  }

  reveal(place: number): void {
    const index = this.#rows.findIndex((row) => row.place === place && row.seen === "");
    this.#elements[index]?.scrollIntoView({ block: "nearest" });
    if (index >= 0) this.#rove(index);
  }

  focus(): void {
    this.#elements[this.#focused]?.focus();
  }

  /** True if the key was for the tree. */
  key(event: KeyboardEvent): boolean {
    const row = this.#rows[this.#focused];
    if (!row) return false;
    switch (event.key) {
      case "ArrowDown":
        return this.#focusAt(this.#focused + 1);
      case "ArrowUp":
        return this.#focusAt(this.#focused - 1);
      case "Home":
        return this.#focusAt(0);
      case "End":
        return this.#focusAt(this.#rows.length - 1);
      case "ArrowRight":
        return this.#enter(row);
      case "ArrowLeft":
        return this.#leave(row);
      case "Enter":
        return this.#activate(row);
      case " ":
        if (row.node.kind !== "group") this.#events.open(row.node);
        return true;
      case "f":
      case "e":
        if (row.node.kind === "group") this.#events.unfold(row.node);
        return true;
      default:
        return false;
    }
  }

  #row(row: OutlineRow, view: ModuleView): HTMLElement {
    const { node } = row;
    const name = nodeIcon(node);
    const isClosed = this.#closed.has(node.id);
    const label = row.seen ? `${node.name}, ${seenWords(row)}` : nodeLabel(node, view);
    return h(
      "div",
      {
        class: `row ${node.status === "missing" ? "missing" : ""}`,
        role: "treeitem",
        tabindex: "-1",
        "aria-level": row.level + 1,
        "aria-expanded": row.hasChildren ? String(!isClosed) : null,
        "aria-label": label,
        style: `padding-left:${8 + 16 * Math.min(row.level, 10)}px`,
      },
      node.kind === "custom_call"
        ? h("span", { class: "km-hex" }, icon("custom"))
        : unitChip(node.units[0] ?? -1, view),
      h("span", { class: "nmx" }, node.name),
      node.merged !== "" && !row.seen && h("span", { class: "fg2 to" }, `→ ${node.merged}`),
      h(
        "span",
        { class: "x" },
        row.edge !== null && row.edge.count > 1 && h("span", {}, `×${row.edge.count}`),
        row.seen ? seenWords(row) : h("span", {}, name ? icon(name) : "", ` ${fact(row)}`),
      ),
    );
  }

  #clicked(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target.closest(".row") : null;
    const index = this.#elements.indexOf(target as HTMLElement);
    const row = this.#rows[index];
    if (row) this.#activate(row);
  }

  #activate({ node }: OutlineRow): boolean {
    if (node.kind === "group") this.#events.unfold(node);
    else this.#events.select(node);
    return true;
  }

  #enter(row: OutlineRow): boolean {
    if (!row.hasChildren) return true;
    if (!this.#closed.has(row.node.id)) return this.#focusAt(this.#focused + 1);
    this.#closed.delete(row.node.id);
    return this.#redraw();
  }

  #leave(row: OutlineRow): boolean {
    if (row.hasChildren && !this.#closed.has(row.node.id)) {
      this.#closed.add(row.node.id);
      return this.#redraw();
    }
    const above = this.#rows.slice(0, this.#focused);
    return this.#focusAt(above.findLastIndex((other) => other.level < row.level));
  }

  #redraw(): boolean {
    if (this.#view) this.draw(this.#view);
    this.focus();
    return true;
  }

  #focusAt(index: number): boolean {
    this.#elements[index]?.focus();
    return true;
  }

  #rove(index: number): void {
    this.#elements[this.#focused]?.setAttribute("tabindex", "-1");
    this.#focused = index;
    this.#elements[index]?.setAttribute("tabindex", "0");
  }
}

/** A unit's letter in its colour. */
export function unitChip(unit: number, view: ModuleView): HTMLElement {
  const letter = view.units[unit]?.letter ?? "…";
  return h(
    "span",
    { class: "km-unit", style: `--u:${unitColour(unit)}`, "aria-hidden": "true" },
    letter,
  );
}

function seenWords(row: OutlineRow): string {
  return row.seen === "cycle" ? "cycle: still open above" : "shown above";
}

/** Changed things say how they changed, kept things how large they are. */
function fact({ node }: OutlineRow): string {
  const [status = "", size = status] = node.facts;
  return node.kind === "function" && node.status === "kept" ? size : status;
}

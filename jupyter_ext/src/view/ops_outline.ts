// The ops of a function as a tree: the form for narrow widgets, and for readers of text.
import type { OpBlock, OpItem, OpsDrawing } from "../protocol.ts";
import { fill, h, set } from "./dom.ts";
import { icon } from "./icons.ts";
import { hasRegions, levels, OP_SIGNS, opLabel } from "./op_words.ts";
import { itemKey, type OpEvents, type OpMarks, openItem } from "./ops_canvas.ts";

interface Row {
  item: OpItem | null;
  element: HTMLElement;
  level: number;
}

export class OpsOutline {
  readonly element = h("div", { class: "km-tree", role: "tree", hidden: true });
  readonly #events: OpEvents;
  #rows: Row[] = [];
  #focused = 0;

  constructor(events: OpEvents) {
    this.#events = events;
    set(this.element, {
      onclick: (event: MouseEvent) => this.#clicked(event),
      ondblclick: (event: MouseEvent) => {
        const item = this.#rowOf(event.target)?.item;
        if (item && item.kind !== "group") openItem(item, events);
      },
      onfocusin: (event: FocusEvent) => {
        const index = this.#rows.findIndex((row) => row.element === event.target);
        if (index >= 0) this.#rove(index);
      },
    });
  }

  draw(drawing: OpsDrawing): void {
    const hadFocus = this.element.contains(document.activeElement);
    const before = this.item?.op;
    const depths = levels(drawing);
    const heads = new Set<number>();
    this.#rows = drawing.items.flatMap((item, place) => {
      const block = drawing.blocks[item.block];
      const depth = depths[place] ?? 0;
      const level = 2 * depth + (block?.is_framed ? 1 : 0);
      const rows: Row[] = [{ item, element: itemRow(item, level), level }];
      if (block?.is_framed && !heads.has(item.block)) {
        heads.add(item.block);
        rows.unshift({ item: null, element: headRow(block, level - 1), level: level - 1 });
      }
      return rows;
    });
    set(this.element, { "aria-label": `Ops of ${drawing.name}` });
    fill(this.element, ...this.#rows.map((row) => row.element));
    const same = this.#rows.findIndex((row) => row.item?.op === before);
    this.#rove(Math.max(0, same));
    if (hadFocus) this.focus();
  }

  mark({ selected, hits }: OpMarks): void {
    for (const { item, element } of this.#rows) {
      const count = (item && hits.get(item.id)) ?? 0;
      const isSelected = item !== null && item.id === selected;
      element.classList.toggle("sel", isSelected);
      element.setAttribute("aria-selected", String(isSelected));
      element.classList.toggle("hit", count > 0 && !isSelected);
      element.classList.toggle("dim", hits.size > 0 && count === 0 && !isSelected);
    }
  }

  reveal(id: string): void {
    const index = this.#rows.findIndex((row) => row.item?.id === id);
    this.#rows[index]?.element.scrollIntoView({ block: "nearest" });
    if (index >= 0) this.#rove(index);
  }

  focus(): void {
    this.#rows[this.#focused]?.element.focus();
  }

  get item(): OpItem | undefined {
    return this.#rows[this.#focused]?.item ?? undefined;
  }

  /** True if the key was for the tree. */
  key(event: KeyboardEvent): boolean {
    const at = this.#focused;
    switch (event.key) {
      case "ArrowDown":
        return this.#focusAt(at + 1);
      case "ArrowUp":
        return this.#focusAt(at - 1);
      case "Home":
        return this.#focusAt(0);
      case "End":
        return this.#focusAt(this.#rows.length - 1);
      case "ArrowRight":
        return this.#inwards();
      case "ArrowLeft":
        return this.#outwards();
      default:
        return this.item !== undefined && itemKey(event, this.item, this.#events);
    }
  }

  #inwards(): boolean {
    const { item } = this;
    if (!item || item.is_open) return this.#focusAt(this.#focused + 1);
    if (item.kind === "group" || hasRegions(item)) this.#events.toggle(item);
    return true;
  }

  #outwards(): boolean {
    const row = this.#rows[this.#focused];
    if (!row) return true;
    if (row.item?.is_open) {
      this.#events.toggle(row.item);
      return true;
    }
    const above = this.#rows.slice(0, this.#focused);
    return this.#focusAt(above.findLastIndex((other) => other.level < row.level));
  }

  #clicked(event: MouseEvent): void {
    const item = this.#rowOf(event.target)?.item;
    if (!item) return;
    const isSign = event.target instanceof Element && event.target.closest("[data-act]") !== null;
    if (item.kind === "group" || (isSign && hasRegions(item))) this.#events.toggle(item);
    else this.#events.select(item);
  }

  #rowOf(target: EventTarget | null): Row | undefined {
    const element = target instanceof Element ? target.closest(".row") : null;
    return this.#rows.find((row) => row.element === element);
  }

  #focusAt(index: number): boolean {
    this.#rows[index]?.element.focus();
    return true;
  }

  #rove(index: number): void {
    this.#rows[this.#focused]?.element.setAttribute("tabindex", "-1");
    this.#focused = index;
    this.#rows[index]?.element.setAttribute("tabindex", "0");
  }
}

function row(level: number, attributes: Record<string, string | null>, ...children: Node[]) {
  const pad = 8 + 12 * Math.min(level, 12);
  return h(
    "div",
    {
      class: "row",
      role: "treeitem",
      tabindex: "-1",
      "aria-level": level + 1,
      style: `padding-left:${pad}px`,
      ...attributes,
    },
    ...children,
  );
}

function headRow(block: OpBlock, level: number): HTMLElement {
  return row(
    level,
    { "aria-expanded": "true" },
    h("span", { class: "region" }, block.name),
    h("span", { class: "x" }, block.title),
  );
}

function itemRow(item: OpItem, level: number): HTMLElement {
  const opens = item.kind === "group" || hasRegions(item);
  const isPill = item.kind !== "op" && item.kind !== "group";
  return row(
    level,
    { "aria-expanded": opens ? String(item.is_open) : null, "aria-label": opLabel(item) },
    opens ? plusOrMinus(item) : h("span", { class: "km-sign" }, sign(item)),
    h("span", { class: isPill ? "pill" : "nmx" }, item.label),
    h("span", { class: "fg2 to" }, item.note),
    h("span", { class: "x mono" }, size(item)),
  );
}

function plusOrMinus(item: OpItem): HTMLElement {
  const name = item.is_open ? "minus" : "plus";
  return h("span", { class: "km-sign", "data-act": "toggle" }, icon(name));
}

function sign(item: OpItem): Node | string {
  if (item.does === "custom call") return icon("custom");
  return item.kind === "op" ? (OP_SIGNS[item.does] ?? "·") : "";
}

/** What is folded in it, else the type of what it gives. */
function size(item: OpItem): string {
  const isFolded = item.kind === "op" && !item.is_open && item.folded_ops > 0;
  return isFolded ? `${item.folded_ops.toLocaleString("en")} inside` : (item.types[0] ?? "");
}

// The ops of a function as a graph: regions are boxes inside boxes.
import type { OpItem, OpsDrawing } from "../protocol.ts";
import { Canvas } from "./canvas.ts";
import { h, s } from "./dom.ts";
import { arrowPath, curvePath } from "./edge_curves.ts";
import type { Box } from "./geometry.ts";
import { frame, OP_HEAD, opCard } from "./op_card.ts";
import { hasRegions } from "./op_words.ts";

export interface OpEvents {
  select(item: OpItem): void;
  /** Folds or opens. */
  toggle(item: OpItem): void;
  enter(item: OpItem): void;
  /** Opens the function that an op calls. */
  openCallee(item: OpItem): void;
  openBeside(item: OpItem): void;
}

/** What is marked beside the selection. */
export interface OpMarks {
  selected: string;
  /** Items to the number of hits that they show or hide. */
  hits: ReadonlyMap<string, number>;
}

export class OpsCanvas {
  readonly element: HTMLDivElement;
  readonly #events: OpEvents;
  readonly #canvas: Canvas;
  #drawing: OpsDrawing | null = null;
  #links: SVGGElement[] = [];
  #badges: SVGElement[] = [];

  constructor(events: OpEvents) {
    this.#events = events;
    this.#canvas = new Canvas({
      press: (place, target) => this.#pressed(this.#item(place), target),
      open: (place) => this.#open(this.#item(place)),
      lines: (place) => itemLines(this.#item(place)),
      key: (event, place) => this.#key(event, this.#item(place)),
    });
    this.element = this.#canvas.element;
  }

  dispose(): void {
    this.#canvas.dispose();
  }

  /** Draws; what has the focus stays where it is on the screen, unless it is another function. */
  draw(drawing: OpsDrawing): void {
    const before = this.#drawing;
    const isOther =
      before?.request.function !== drawing.request.function ||
      before.request.root !== drawing.request.root ||
      before.request.focus !== drawing.request.focus;
    const old = before?.items[this.#canvas.focused];
    const place = old ? drawing.items.findIndex((item) => isSame(item, old)) : -1;
    const now = drawing.items[place];
    this.#drawing = drawing;
    this.#links = drawing.links.map((link) => linkCurve(link));
    this.#badges = [];
    const focus = drawing.items.findIndex((item) => item.id === drawing.request.focus);
    const picture = {
      label: `Ops of ${drawing.name}, ${[...drawing.counts, ...drawing.folded].join(", ")}`,
      size: { width: drawing.width, height: drawing.height },
      boxes: drawing.items.map(boxOf),
      cards: drawing.items.map(opCard),
      under: [...frames(drawing), ...this.#links, ...heads(drawing), ...types(drawing)],
      isDown: true,
      first: isOther ? { anchor: Math.max(0, focus) } : null,
      moved: now && old ? { x: now.x - old.x, y: now.y - old.y } : { x: 0, y: 0 },
    };
    this.#canvas.draw(picture, isOther ? Math.max(0, focus) : place);
  }

  mark({ selected, hits }: OpMarks): void {
    const drawing = this.#drawing;
    if (!drawing) return;
    const at = drawing.items.findIndex((item) => item.id === selected);
    for (const badge of this.#badges) badge.remove();
    this.#badges = [];
    this.#canvas.cards.forEach((card, place) => {
      const item = drawing.items[place];
      const count = (item && hits.get(item.id)) ?? 0;
      const isSelected = place === at;
      card.classList.toggle("sel", isSelected);
      card.setAttribute("aria-pressed", String(isSelected));
      card.classList.toggle("hit", count > 0 && !isSelected);
      card.classList.toggle("dim", hits.size > 0 && count === 0 && !isSelected && !item?.is_open);
      if (item && count > 1 && !item.is_open) this.#badges.push(badge(item, count));
    });
    this.#badges.forEach((badge) => void this.#canvas.cards[0]?.parentNode?.append(badge));
    this.#links.forEach((link, place) => {
      const { source, target } = drawing.links[place] ?? {};
      const isOwn = at >= 0 && (source === at || target === at);
      link.classList.toggle("sel", isOwn);
    });
    if (at >= 0) this.#canvas.rove(at);
  }

  /** Brings an item to sight. */
  reveal(id: string): void {
    const place = this.#drawing?.items.findIndex((item) => item.id === id) ?? -1;
    if (place >= 0) this.#canvas.reveal(place);
  }

  focus(): void {
    this.#canvas.focus();
  }

  hideCard(): boolean {
    return this.#canvas.hideCard();
  }

  key(event: KeyboardEvent): boolean {
    return this.#canvas.key(event);
  }

  /** The item that has the focus. */
  get item(): OpItem | undefined {
    return this.#item(this.#canvas.focused);
  }

  #pressed(item: OpItem | undefined, target: Element): void {
    const act = target.closest("[data-act]")?.getAttribute("data-act");
    if (!item) return;
    if (act === "enter") this.#events.enter(item);
    else if (act === "toggle" || item.kind === "group") this.#events.toggle(item);
    else this.#events.select(item);
  }

  /** Goes into what an item stands for. */
  #open(item: OpItem | undefined): void {
    if (item) openItem(item, this.#events);
  }

  #key(event: KeyboardEvent, item: OpItem | undefined): boolean {
    return item !== undefined && itemKey(event, item, this.#events);
  }

  #item(place: number): OpItem | undefined {
    return this.#drawing?.items[place];
  }
}

/** Goes into a call, a region, a group; selects what is none of these. */
export function openItem(item: OpItem, events: OpEvents): void {
  if (item.kind === "group") events.toggle(item);
  else if (item.callee) events.openCallee(item);
  else if (hasRegions(item)) events.enter(item);
  else events.select(item);
}

/** The keys of an item, in the graph and in the outline. */
export function itemKey(event: KeyboardEvent, item: OpItem, events: OpEvents): boolean {
  if (event.key === "Enter" && event.shiftKey) events.openBeside(item);
  else if (event.key === "Enter" && item.kind !== "group") events.select(item);
  else if (event.key === "Enter" || event.key === " ") openItem(item, events);
  else if (event.key === "f") events.toggle(item);
  else if (event.key === "e" && hasRegions(item)) events.enter(item);
  else if (event.key === "e" && item.kind === "group") events.toggle(item);
  else return false;
  return true;
}

/** The lines of the card that shows after a rest. */
function itemLines(item: OpItem | undefined): Node[] {
  if (!item) return [];
  const line = item.line ? `line ${item.line.toLocaleString("en")}` : "";
  const id = item.kind === "op" || item.kind === "return" ? `op ${item.op}` : "";
  return [
    h("b", { class: "mono" }, item.name || item.label),
    ...(item.name && item.note ? [h("span", { class: "mono" }, item.note)] : []),
    ...(item.types.length > 0 ? [h("span", { class: "mono" }, `→ ${item.types.join(", ")}`)] : []),
    h(
      "span",
      { class: "fg2" },
      [item.kind === "op" ? item.does : item.kind, id, line].filter(Boolean).join(" · "),
    ),
  ];
}

/** Where an item is for keys and for bringing to sight: of an open one, the head. */
function boxOf(item: OpItem): Box {
  const { x, y, width } = item;
  return { x, y, width, height: item.is_open ? OP_HEAD : item.height };
}

function isSame(item: OpItem, old: OpItem): boolean {
  return item.id === old.id || (old.kind === "group" && item.op === old.op);
}

function linkCurve(link: OpsDrawing["links"][number]): SVGGElement {
  const words = [link.type, link.via.length > 0 ? `through ${link.via.join(", ")}` : ""];
  return s(
    "g",
    { class: link.via.length > 0 ? "e via" : "e" },
    s("title", {}, words.filter(Boolean).join(", ")),
    s("path", { class: "curve", d: curvePath(link.points) }),
    s("path", { class: "tip", d: arrowPath(link.points, link.tip) }),
  );
}

/** Frames of open ops and their regions, outer first. */
function frames(drawing: OpsDrawing): SVGElement[] {
  const own = drawing.items.filter((item) => item.is_open).map((item) => ({ box: item, rx: 5 }));
  const inner = drawing.blocks.filter((block) => block.is_framed).map((box) => ({ box, rx: 4 }));
  return [...own, ...inner]
    .sort((one, other) => other.box.width * other.box.height - one.box.width * one.box.height)
    .map(({ box, rx }) => frame(box, rx));
}

/** Opaque, so that edges pass behind them. */
function heads(drawing: OpsDrawing): SVGElement[] {
  return drawing.blocks
    .filter((block) => block.is_framed)
    .map(({ x, y, width, name, title }) =>
      s(
        "g",
        { class: "head", transform: `translate(${x} ${y})` },
        s("rect", { x: 1, y: 1, width: width - 2, height: 24, rx: 3 }),
        s(
          "text",
          { x: 12, y: 18 },
          s("tspan", { class: "region" }, name),
          s("tspan", { dx: 8 }, title),
        ),
      ),
    );
}

function types(drawing: OpsDrawing): SVGElement[] {
  const words = drawing.types.map(({ text, x, y }) => s("text", { x, y }, text));
  return [s("g", { class: "types" }, ...words)];
}

function badge(item: OpItem, count: number): SVGElement {
  const words = count.toLocaleString("en");
  const width = 12 + 7 * words.length;
  return s(
    "g",
    { class: "hits", transform: `translate(${item.x + item.width - width + 6} ${item.y - 8})` },
    s("rect", { width, height: 16, rx: 8 }),
    s("text", { x: width / 2, y: 12 }, words),
  );
}

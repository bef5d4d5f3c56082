// The functions view as a graph: drawing, hover, roving focus, keys.
import type { ModuleView, NodeView } from "../protocol.ts";
import { button, fill, h, s, set } from "./dom.ts";
import { edgeCurve } from "./edge_curves.ts";
import { countPlaces } from "./edge_labels.ts";
import { type Box, type Direction, NODE_HEIGHT, nearest } from "./geometry.ts";
import { HoverCard } from "./hover_card.ts";
import { type IconName, icon } from "./icons.ts";
import type { Marks } from "./marks.ts";
import { Minimap } from "./minimap.ts";
import { nodeCard } from "./node_card.ts";
import { PanZoom } from "./pan_zoom.ts";

const DIRECTIONS: Record<string, Direction> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

export interface CanvasEvents {
  select(node: NodeView): void;
  open(node: NodeView): void;
  unfold(node: NodeView): void;
}

export class GraphCanvas {
  readonly element: HTMLDivElement;
  readonly #world = s("g", { class: "world" });
  readonly #svg = s("svg", { class: "g", role: "group" }, this.#world);
  readonly #card = new HoverCard();
  readonly #minimap = new Minimap((x, y) => this.#pan.centre(x, y));
  readonly #percent = h("span", {});
  readonly #pan = new PanZoom(this.#svg, this.#world, () => this.#moved());
  readonly #events: CanvasEvents;
  readonly #observer: ResizeObserver;
  #view: ModuleView | null = null;
  #cards: SVGGElement[] = [];
  #curves: SVGGElement[] = [];
  #focused = 0;

  constructor(events: CanvasEvents) {
    this.#events = events;
    this.element = h(
      "div",
      { class: "km-canvas" },
      this.#svg,
      this.#card.element,
      this.#minimap.element,
      this.#zoomButtons(),
    );
    set(this.#svg, {
      onclick: (event: MouseEvent) => this.#clicked(event),
      ondblclick: (event: MouseEvent) => this.#doubleClicked(event),
      onpointerover: (event: PointerEvent) => this.#hovered(event),
      onpointerleave: () => this.#card.hide(),
      onfocusin: (event: FocusEvent) => this.#focusedIn(event),
    });
    this.#observer = new ResizeObserver(() => this.#resized());
    this.#observer.observe(this.element);
  }

  dispose(): void {
    this.#observer.disconnect();
    this.#card.hide();
  }

  /** Draws a view; the place on the screen stays unless it is another module. */
  draw(view: ModuleView): void {
    const before = this.#view;
    const focusedId = before?.nodes[this.#focused]?.id;
    const hadFocus = this.#svg.contains(document.activeElement);
    this.#view = view;
    this.#cards = view.nodes.map((node, place) => nodeCard(node, place, view));
    const labels = countPlaces(view);
    this.#curves = view.edges.map((edge, place) => edgeCurve(edge, labels.get(place)));
    fill(this.#world, ...this.#curves, ...this.#cards);
    set(this.#svg, { "aria-label": `Function graph of ${view.title}, ${view.counts.join(", ")}` });
    this.#minimap.draw(view);
    const same = view.nodes.findIndex((node) => node.id === focusedId);
    const entry = view.nodes.findIndex((node) => node.is_entry);
    this.#rove(same >= 0 ? same : Math.max(0, entry));
    if (hadFocus) this.focus();
    const anchor = view.nodes[Math.max(0, entry)];
    this.#pan.setGraph(view, before?.digest !== view.digest, anchor && boxOf(anchor));
    this.#resized();
  }

  mark({ selected, hits, dimmed }: Marks): void {
    const view = this.#view;
    if (!view) return;
    this.#cards.forEach((card, place) => {
      const units = view.nodes[place]?.units ?? [];
      const isSelected = place === selected;
      const isOther = hits.size > 0 && !hits.has(place) && !isSelected;
      const isOff = units.length > 0 && units.every((unit) => dimmed.includes(unit));
      card.classList.toggle("sel", isSelected);
      card.setAttribute("aria-pressed", String(isSelected));
      card.classList.toggle("hit", hits.has(place) && !isSelected);
      card.classList.toggle("dim", isOther || isOff);
    });
    // The calls of a function that is folded are not those of its group.
    const of = view.nodes[selected]?.kind === "group" ? -1 : selected;
    this.#curves.forEach((curve, place) => {
      const edge = view.edges[place];
      const isOwn = edge !== undefined && (edge.caller === of || edge.callee === of);
      curve.classList.toggle("sel", isOwn);
      // What belongs to the selection lies over the other edges, still under the nodes.
      if (isOwn) this.#world.insertBefore(curve, this.#cards[0] ?? null);
    });
    if (selected >= 0) this.#rove(selected);
  }

  /** Pans only as far as the node needs to be seen. */
  reveal(place: number): void {
    const box = this.#box(place);
    if (box) this.#pan.reveal(box);
  }

  focus(): void {
    this.#cards[this.#focused]?.focus({ preventScroll: true });
  }

  /** The first view again. */
  reset(): void {
    this.#pan.reset();
  }

  /** True if a card was there. */
  hideCard(): boolean {
    return this.#card.hide();
  }

  /** True if the key was for the graph. */
  key(event: KeyboardEvent): boolean {
    const direction = DIRECTIONS[event.key];
    if (direction) {
      this.#step(direction);
      return true;
    }
    const act = this.#keys[event.key];
    if (!act) return false;
    act(this.#view?.nodes[this.#focused]);
    return true;
  }

  readonly #keys: Record<string, (node: NodeView | undefined) => void> = {
    "+": () => this.#pan.zoomIn(),
    "=": () => this.#pan.zoomIn(),
    "-": () => this.#pan.zoomOut(),
    "0": () => this.#pan.fit(),
    Enter: (node) => this.#activate(node),
    " ": (node) =>
      node?.kind === "group" ? this.#activate(node) : node && this.#events.open(node),
    f: (node) => node?.kind === "group" && this.#events.unfold(node),
    e: (node) => node?.kind === "group" && this.#events.unfold(node),
  };

  #activate(node: NodeView | undefined): void {
    if (node?.kind === "group") this.#events.unfold(node);
    else if (node) this.#events.select(node);
  }

  #zoomButtons(): HTMLElement {
    const make = (name: IconName, label: string, act: () => void) =>
      button("km-btn icon", { "aria-label": label, title: label, onclick: act }, icon(name));
    return h(
      "div",
      { class: "km-zoom", role: "group", "aria-label": "Zoom" },
      make("minus", "Zoom out (-)", () => this.#pan.zoomOut()),
      this.#percent,
      make("plus", "Zoom in (+)", () => this.#pan.zoomIn()),
      make("fit", "Fit all (0)", () => this.#pan.fit()),
    );
  }

  #focusedIn(event: FocusEvent): void {
    const place = placeOf(event.target);
    if (place === null) return;
    this.#rove(place);
    // A click selects, and the selection comes to sight by itself.
    if (event.target instanceof Element && event.target.matches(":focus-visible"))
      this.reveal(place);
  }

  #clicked(event: MouseEvent): void {
    const node = this.#nodeAt(event);
    if (!node || this.#pan.isDragging) return;
    const isPlus = event.target instanceof Element && event.target.closest("[data-open]") !== null;
    if (isPlus || node.kind === "group") this.#events.unfold(node);
    else this.#events.select(node);
  }

  #doubleClicked(event: MouseEvent): void {
    const node = this.#nodeAt(event);
    if (node && node.kind !== "group") this.#events.open(node);
  }

  #hovered(event: PointerEvent): void {
    this.#card.hide();
    const node = this.#nodeAt(event);
    const box = this.#box(placeOf(event.target) ?? -1);
    if (!node || !box || !this.#view || event.buttons !== 0) return;
    this.#card.rest(node, this.#view, box, this.#pan.viewport, this.#pan.size);
  }

  #nodeAt(event: Event): NodeView | undefined {
    return this.#view?.nodes[placeOf(event.target) ?? -1];
  }

  #step(direction: Direction): void {
    const boxes = this.#view?.nodes.map(boxOf) ?? [];
    const next = nearest(boxes, this.#focused, direction);
    if (next !== null) this.#cards[next]?.focus({ preventScroll: true });
  }

  #rove(place: number): void {
    this.#cards[this.#focused]?.setAttribute("tabindex", "-1");
    this.#focused = place;
    this.#cards[place]?.setAttribute("tabindex", "0");
  }

  #box(place: number): Box | null {
    const node = this.#view?.nodes[place];
    return node ? boxOf(node) : null;
  }

  #resized(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.#pan.resized({ width, height });
  }

  #moved(): void {
    this.#percent.textContent = `${Math.round(this.#pan.viewport.scale * 100)}%`;
    this.#minimap.follow(this.#pan.viewport, this.#pan.size);
    this.#card.hide();
  }
}

function boxOf(node: NodeView): Box {
  return { x: node.x, y: node.y, width: node.width, height: NODE_HEIGHT };
}

function placeOf(target: EventTarget | null): number | null {
  const card = target instanceof Element ? target.closest("[data-place]") : null;
  return card ? Number(card.getAttribute("data-place")) : null;
}

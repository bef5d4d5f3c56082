// The functions view as a graph.
import type { ModuleView, NodeView } from "../protocol.ts";
import { Canvas } from "./canvas.ts";
import { edgeCurve } from "./edge_curves.ts";
import { countPlaces } from "./edge_labels.ts";
import { type Box, NODE_HEIGHT } from "./geometry.ts";
import { nodeLines } from "./hover_card.ts";
import type { Marks } from "./marks.ts";
import { nodeCard } from "./node_card.ts";

export interface NodeEvents {
  select(node: NodeView): void;
  open(node: NodeView): void;
  openBeside(node: NodeView): void;
  unfold(node: NodeView): void;
}

export class GraphCanvas {
  readonly #events: NodeEvents;
  readonly #canvas: Canvas;
  readonly element: HTMLDivElement;
  #view: ModuleView | null = null;
  #curves: SVGGElement[] = [];

  constructor(events: NodeEvents) {
    this.#events = events;
    this.#canvas = new Canvas({
      press: (place, target) => {
        const node = this.#node(place);
        if (node && target.closest("[data-open]")) events.unfold(node);
        else this.#activate(node);
      },
      open: (place) => {
        const node = this.#node(place);
        if (node && node.kind !== "group") events.open(node);
      },
      lines: (place) => {
        const node = this.#node(place);
        return node && this.#view ? nodeLines(node, this.#view) : [];
      },
      key: (event, place) => this.#key(event, this.#node(place)),
    });
    this.element = this.#canvas.element;
  }

  dispose(): void {
    this.#canvas.dispose();
  }

  /** Draws a view; the place on the screen stays unless it is another module. */
  draw(view: ModuleView): void {
    const before = this.#view;
    const focusedId = before?.nodes[this.#canvas.focused]?.id;
    const isOther = before?.digest !== view.digest;
    const labels = countPlaces(view);
    const entry = Math.max(
      0,
      view.nodes.findIndex((node) => node.is_entry),
    );
    const same = view.nodes.findIndex((node) => node.id === focusedId);
    this.#view = view;
    this.#curves = view.edges.map((edge, place) => edgeCurve(edge, labels.get(place)));
    const picture = {
      label: `Function graph of ${view.title}, ${view.counts.join(", ")}`,
      size: { width: view.width, height: view.height },
      boxes: view.nodes.map(boxOf),
      cards: view.nodes.map((node, place) => nodeCard(node, place, view)),
      under: [...this.#curves],
      isDown: false,
      first: isOther ? { anchor: entry } : null,
      moved: { x: 0, y: 0 },
    };
    this.#canvas.draw(picture, same >= 0 ? same : entry);
  }

  mark({ selected, hits, dimmed }: Marks): void {
    const view = this.#view;
    if (!view) return;
    this.#canvas.cards.forEach((card, place) => {
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
      if (isOwn) this.#canvas.raise(curve);
    });
    if (selected >= 0) this.#canvas.rove(selected);
  }

  reveal(place: number): void {
    this.#canvas.reveal(place);
  }

  focus(): void {
    this.#canvas.focus();
  }

  /** Where the reader was at first. */
  reset(): void {
    this.#canvas.reset();
  }

  hideCard(): boolean {
    return this.#canvas.hideCard();
  }

  key(event: KeyboardEvent): boolean {
    return this.#canvas.key(event);
  }

  #key(event: KeyboardEvent, node: NodeView | undefined): boolean {
    if (!node) return false;
    const isGroup = node.kind === "group";
    if (event.key === "Enter" && event.shiftKey && !isGroup) this.#events.openBeside(node);
    else if (event.key === "Enter" || (event.key === " " && isGroup)) this.#activate(node);
    else if (event.key === " ") this.#events.open(node);
    else if (isGroup && (event.key === "f" || event.key === "e")) this.#events.unfold(node);
    else return false;
    return true;
  }

  #activate(node: NodeView | undefined): void {
    if (node?.kind === "group") this.#events.unfold(node);
    else if (node) this.#events.select(node);
  }

  #node(place: number): NodeView | undefined {
    return this.#view?.nodes[place];
  }
}

function boxOf(node: NodeView): Box {
  return { x: node.x, y: node.y, width: node.width, height: NODE_HEIGHT };
}

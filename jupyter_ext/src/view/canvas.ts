// A drawing on a canvas: moved about, hovered, walked by arrow keys. Knows no module.
import { button, fill, h, s, set } from "./dom.ts";
import { type Box, type Direction, nearest, type Size } from "./geometry.ts";
import { HoverCard } from "./hover_card.ts";
import { type IconName, icon } from "./icons.ts";
import { Minimap } from "./minimap.ts";
import { PanZoom } from "./pan_zoom.ts";

const DIRECTIONS: Record<string, Direction> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};
const READING = 40;

/** What is drawn: a card for each box, a button each. */
export interface Picture {
  /** What a screen reader calls it. */
  label: string;
  size: Size;
  boxes: readonly Box[];
  cards: readonly SVGGElement[];
  /** What lies under the cards. */
  under: readonly SVGElement[];
  /** Whether it runs from top to bottom, not from left to right. */
  isDown: boolean;
  /** Another drawing than before: the first view comes back, with this box in sight. */
  first: { anchor: number } | null;
  /** How far what the reader looks at has moved, in px of the drawing. */
  moved: { x: number; y: number };
}

/** What a canvas is told to do with the cards. */
export interface CardEvents {
  press(place: number, target: Element): void;
  open(place: number): void;
  /** The lines of the card that shows after a rest. */
  lines(place: number): Node[];
  /** True if the key was for the card that has the focus. */
  key(event: KeyboardEvent, place: number): boolean;
}

export class Canvas {
  readonly element: HTMLDivElement;
  /** Place of the card that Tab leads to. */
  focused = 0;
  readonly #world = s("g", {});
  readonly #svg = s("svg", { class: "g", role: "group" }, this.#world);
  readonly #stage = h("div", { class: "km-stage" }, this.#svg);
  readonly #card = new HoverCard();
  readonly #minimap = new Minimap((x, y) => this.#pan.centre(x, y));
  readonly #percent = h("span", {});
  readonly #pan = new PanZoom(this.#stage, this.#svg, () => this.#moved());
  readonly #events: CardEvents;
  readonly #observer: ResizeObserver;
  #picture: Picture | null = null;

  constructor(events: CardEvents) {
    this.#events = events;
    this.element = h(
      "div",
      { class: "km-canvas" },
      this.#stage,
      this.#card.element,
      this.#minimap.element,
      this.#zoomButtons(),
    );
    set(this.#svg, {
      onclick: (event: MouseEvent) => this.#clicked(event),
      ondblclick: (event: MouseEvent) => this.#act(event, (place) => events.open(place)),
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

  get cards(): readonly SVGGElement[] {
    return this.#picture?.cards ?? [];
  }

  /** Draws; the focus goes to the card at `focused`, if it was in the drawing. */
  draw(picture: Picture, focused: number): void {
    const hadFocus = this.#svg.contains(document.activeElement);
    this.#picture = picture;
    fill(this.#world, ...picture.under, ...picture.cards);
    const { width, height } = picture.size;
    set(this.#svg, {
      "aria-label": picture.label,
      width: width + READING,
      height: height + READING,
    });
    this.#minimap.draw(picture.size, picture.boxes);
    this.rove(Math.max(0, focused));
    if (hadFocus) this.focus();
    const anchor = picture.boxes[picture.first?.anchor ?? 0];
    this.#pan.setGraph(picture.size, picture.first !== null, anchor, picture.isDown);
    if (!picture.first) this.#pan.shift(picture.moved.x, picture.moved.y);
    this.#resized();
  }

  /** Lays something that belongs to the selection over the rest, still under the cards. */
  raise(element: SVGElement): void {
    this.#world.insertBefore(element, this.cards[0] ?? null);
  }

  /** Pans only as far as the card needs to be seen. */
  reveal(place: number): void {
    const box = this.#picture?.boxes[place];
    if (box) this.#pan.reveal(box);
  }

  focus(): void {
    this.cards[this.focused]?.focus({ preventScroll: true });
  }

  rove(place: number): void {
    this.cards[this.focused]?.setAttribute("tabindex", "-1");
    this.focused = place;
    this.cards[place]?.setAttribute("tabindex", "0");
  }

  /** The first view again. */
  reset(): void {
    this.#pan.reset();
  }

  /** True if a card was there. */
  hideCard(): boolean {
    return this.#card.hide();
  }

  /** True if the key was for the drawing. */
  key(event: KeyboardEvent): boolean {
    const direction = DIRECTIONS[event.key];
    if (direction) {
      this.#step(direction);
      return true;
    }
    const act = this.#keys[event.key];
    act?.();
    return act !== undefined || this.#events.key(event, this.focused);
  }

  readonly #keys: Record<string, () => void> = {
    "+": () => this.#pan.zoomIn(),
    "=": () => this.#pan.zoomIn(),
    "-": () => this.#pan.zoomOut(),
    "0": () => this.#pan.fit(),
  };

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

  #act(event: Event, act: (place: number, target: Element) => void): void {
    const place = placeOf(event.target);
    if (place !== null) act(place, event.target as Element);
  }

  #clicked(event: MouseEvent): void {
    if (this.#pan.isDragging) return;
    this.#act(event, (place, target) => this.#events.press(place, target));
  }

  #focusedIn(event: FocusEvent): void {
    this.#act(event, (place, target) => {
      this.rove(place);
      // A click selects, and the selection comes to sight by itself.
      if (target.matches(":focus-visible")) this.reveal(place);
    });
  }

  #hovered(event: PointerEvent): void {
    this.#card.hide();
    const place = placeOf(event.target) ?? -1;
    const box = this.#picture?.boxes[place];
    if (!box || event.buttons !== 0) return;
    const lines = () => this.#events.lines(place);
    this.#card.rest(lines, box, this.#pan.viewport, this.#pan.size);
  }

  #step(direction: Direction): void {
    const next = nearest(this.#picture?.boxes ?? [], this.focused, direction);
    if (next !== null) this.cards[next]?.focus({ preventScroll: true });
  }

  #resized(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.#pan.resized({ width, height });
  }

  #moved(): void {
    const percent = `${Math.round(this.#pan.viewport.scale * 100)}%`;
    if (this.#percent.textContent !== percent) this.#percent.textContent = percent;
    this.#minimap.follow(this.#pan.viewport, this.#pan.size);
    this.#card.hide();
  }
}

function placeOf(target: EventTarget | null): number | null {
  const card = target instanceof Element ? target.closest("[data-place]") : null;
  return card ? Number(card.getAttribute("data-place")) : null;
}

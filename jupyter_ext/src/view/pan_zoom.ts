// Moves a drawing about on its canvas: drag, Ctrl+wheel, pinch, buttons, and bringing to sight.
import { h, set } from "./dom.ts";
import {
  type Box,
  firstView,
  firstViewDown,
  fitted,
  held,
  revealing,
  type Size,
  type Viewport,
  zoomed,
} from "./geometry.ts";

const ZOOM_STEP = 1.25;
const DRAG_FROM = 4;
const SETTLED_MS = 200;

export class PanZoom {
  viewport: Viewport = { x: 0, y: 0, scale: 1 };
  size: Size = { width: 0, height: 0 };
  readonly #stage: HTMLElement;
  readonly #svg: SVGSVGElement;
  /** Has the pointer while it drags: another cursor of the stage would be one of all cards. */
  readonly #grip = h("div", { class: "km-grip", hidden: true });
  readonly #onMove: () => void;
  #graph: Size | null = null;
  #anchor: Box | undefined;
  #isDown = false;
  #isPlaced = false;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #drag: { x: number; y: number; isMoving: boolean } | null = null;

  /** `svg` is as large as its drawing and is moved as a whole on its `stage`. */
  constructor(stage: HTMLElement, svg: SVGSVGElement, onMove: () => void) {
    this.#stage = stage;
    this.#svg = svg;
    this.#onMove = onMove;
    stage.append(this.#grip);
    set(stage, {
      onpointerdown: (event: PointerEvent) => this.#pressed(event),
      onpointermove: (event: PointerEvent) => this.#dragged(event),
      onpointerup: () => this.#released(),
      onpointercancel: () => this.#released(),
    });
    // A listener that may keep the page from zooming has to be registered so.
    stage.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
  }

  /** True while the pointer moves the drawing, and in the click that ends it. */
  get isDragging(): boolean {
    return this.#drag?.isMoving ?? false;
  }

  /** Takes the size of another drawing; `isOther` brings back the first view, of `anchor`. */
  setGraph(graph: Size, isOther: boolean, anchor: Box | undefined, isDown: boolean): void {
    this.#graph = graph;
    this.#anchor = anchor;
    this.#isDown = isDown;
    if (isOther) this.#isPlaced = false;
    this.resized(this.size);
  }

  resized(size: Size): void {
    // A canvas that is not seen has no size; it comes back with the one it had.
    const wider = size.width > 0 && this.size.width > 0 ? size.width - this.size.width : 0;
    if (size.width > 0) this.size = size;
    // What runs downwards stands in the middle, and stays there when a panel takes its room.
    if (this.#isDown) this.viewport = { ...this.viewport, x: this.viewport.x + wider / 2 };
    if (!this.#graph || this.size.width === 0) return;
    if (!this.#isPlaced) {
      this.#isPlaced = true;
      this.viewport = this.#first(this.#graph);
    }
    this.#move(this.viewport);
  }

  zoomIn(): void {
    this.#zoom(ZOOM_STEP);
  }

  zoomOut(): void {
    this.#zoom(1 / ZOOM_STEP);
  }

  fit(): void {
    if (this.#graph) this.#move(fitted(this.#graph, this.size));
  }

  reset(): void {
    if (this.#graph) this.#move(this.#first(this.#graph));
  }

  /** Goes with something that has moved inside the drawing. */
  shift(dx: number, dy: number): void {
    const { x, y, scale } = this.viewport;
    if (this.#isPlaced) this.#move({ x: x - dx * scale, y: y - dy * scale, scale });
  }

  /** Pans only as far as a box needs to be seen. */
  reveal(box: Box): void {
    if (this.#isPlaced) this.#move(revealing(this.viewport, box, this.size));
  }

  /** Brings a point of the drawing into the middle. */
  centre(x: number, y: number): void {
    const { scale } = this.viewport;
    const { width, height } = this.size;
    this.#move({ x: width / 2 - x * scale, y: height / 2 - y * scale, scale });
  }

  #first(graph: Size): Viewport {
    const first = this.#isDown ? firstViewDown : firstView;
    return first(graph, this.size, this.#anchor);
  }

  #zoom(factor: number): void {
    this.#move(zoomed(this.viewport, factor, this.size.width / 2, this.size.height / 2));
  }

  #wheeled(event: WheelEvent): void {
    // A plain wheel scrolls the notebook; a pinch on a touchpad comes as Ctrl+wheel.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = this.#stage.getBoundingClientRect();
    const factor = Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.01);
    this.#move(zoomed(this.viewport, factor, event.clientX - left, event.clientY - top));
  }

  #pressed(event: PointerEvent): void {
    if (event.button === 0) this.#drag = { x: event.clientX, y: event.clientY, isMoving: false };
  }

  #dragged(event: PointerEvent): void {
    const drag = this.#drag;
    if (!drag || (event.buttons & 1) === 0) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.isMoving && Math.hypot(dx, dy) < DRAG_FROM) return;
    if (!drag.isMoving) {
      // Not before: a captured pointer clicks the canvas, not the node under it.
      this.#grip.hidden = false;
      this.#grip.setPointerCapture(event.pointerId);
    }
    this.#drag = { x: event.clientX, y: event.clientY, isMoving: true };
    this.#move({ ...this.viewport, x: this.viewport.x + dx, y: this.viewport.y + dy });
  }

  #released(): void {
    this.#grip.hidden = true;
    setTimeout(() => {
      this.#drag = null;
    });
  }

  #move(viewport: Viewport): void {
    if (!this.#graph) return;
    this.viewport = held(viewport, this.#graph, this.size);
    const { x, y, scale } = this.viewport;
    // Of the whole picture, not of a group in it: a group would be laid out again for each step.
    this.#svg.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    this.#float();
    this.#onMove();
  }

  /** A layer of its own while it moves, or each step paints it again; at rest letters are sharp. */
  #float(): void {
    this.#svg.style.willChange = "transform";
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.#svg.style.willChange = "";
    }, SETTLED_MS);
  }
}

// The small picture of a view that is larger than the canvas. The keyboard pans without it.
import { fill, s, set } from "./dom.ts";
import { type Box, type Size, seesAll, type Viewport } from "./geometry.ts";

const WIDTH = 150;
const HEIGHT = 96;

export class Minimap {
  readonly element = s("svg", { class: "km-mini", "aria-hidden": "true", hidden: true });
  readonly #window = s("rect", { class: "window" });
  #scale = 1;
  #graph: Size = { width: 0, height: 0 };

  /** `move` is told which point of the graph shall stand in the middle. */
  constructor(move: (x: number, y: number) => void) {
    const onDrag = (event: PointerEvent) => {
      if (event.buttons !== 1) return;
      const { left, top } = this.element.getBoundingClientRect();
      move((event.clientX - left) / this.#scale, (event.clientY - top) / this.#scale);
    };
    set(this.element, { onpointerdown: onDrag, onpointermove: onDrag });
  }

  draw(graph: Size, boxes: readonly Box[]): void {
    this.#graph = graph;
    this.#scale = Math.min(WIDTH / Math.max(1, graph.width), HEIGHT / Math.max(1, graph.height));
    const k = this.#scale;
    const size = { width: Math.max(24, graph.width * k), height: Math.max(16, graph.height * k) };
    set(this.element, size);
    const shape = ({ x, y, width, height }: Box) => {
      const wide = Math.max(2, width * k);
      return `M${x * k} ${y * k}h${wide}v${Math.max(1.5, height * k)}h-${wide}z`;
    };
    fill(this.element, s("path", { class: "nodes", d: boxes.map(shape).join("") }), this.#window);
  }

  follow(viewport: Viewport, canvas: Size): void {
    const isNeeded = !seesAll(viewport, this.#graph, canvas) && canvas.width > 480;
    this.element.toggleAttribute("hidden", !isNeeded);
    if (!isNeeded) return;
    const k = this.#scale / viewport.scale;
    set(this.#window, {
      x: -viewport.x * k,
      y: -viewport.y * k,
      width: canvas.width * k,
      height: canvas.height * k,
    });
  }
}

// Pan and zoom as arithmetic, and which node lies nearest in a direction. Knows no DOM.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Size {
  width: number;
  height: number;
}

/** On the screen, a point of the graph stands at `point * scale + (x, y)`. */
export interface Viewport {
  x: number;
  y: number;
  scale: number;
}

export type Direction = "left" | "right" | "up" | "down";

export const NODE_HEIGHT = 44;
const LEAST_SCALE = 0.1;
const MOST_SCALE = 4;
const PADDING = 20;

/** The first view: never scaled; all where it fits, else the left with `anchor` in sight. */
export function firstView(graph: Size, canvas: Size, anchor?: Box): Viewport {
  const spare = canvas.height - graph.height;
  const room = canvas.width - graph.width;
  const x = room > 2 * PADDING ? Math.min(room / 2, 40) : PADDING;
  if (spare > 2 * PADDING) return { x, y: spare / 2, scale: 1 };
  const middle = anchor ? canvas.height / 2 - (anchor.y + anchor.height / 2) : PADDING;
  return { x, y: clamp(middle, spare - PADDING, PADDING), scale: 1 };
}

/** The same for a graph that runs from top to bottom: its top, in the middle or at `anchor`. */
export function firstViewDown(graph: Size, canvas: Size, anchor?: Box): Viewport {
  const room = canvas.width - graph.width;
  const spare = canvas.height - graph.height;
  const middle = anchor ? canvas.width / 2 - (anchor.x + anchor.width / 2) : PADDING;
  const x = room > 2 * PADDING ? room / 2 : clamp(middle, room - PADDING, PADDING);
  return { x, y: spare > 2 * PADDING ? Math.min(spare / 2, 40) : PADDING, scale: 1 };
}

/** All of the graph in the middle, not larger than it is. */
export function fitted(graph: Size, canvas: Size): Viewport {
  const across = (canvas.width - 2 * PADDING) / Math.max(1, graph.width);
  const down = (canvas.height - 2 * PADDING) / Math.max(1, graph.height);
  const scale = clamp(Math.min(1, across, down), LEAST_SCALE, 1);
  return {
    x: (canvas.width - graph.width * scale) / 2,
    y: (canvas.height - graph.height * scale) / 2,
    scale,
  };
}

/** Zooms so that what is under the point stays there. */
export function zoomed(view: Viewport, factor: number, x: number, y: number): Viewport {
  const scale = clamp(view.scale * factor, LEAST_SCALE, MOST_SCALE);
  const ratio = scale / view.scale;
  return { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, scale };
}

/** Pans only as far as a box needs to be seen whole. */
export function revealing(view: Viewport, box: Box, canvas: Size, margin = 24): Viewport {
  const left = box.x * view.scale + view.x;
  const top = box.y * view.scale + view.y;
  return {
    x: view.x + shift(left, box.width * view.scale, canvas.width, margin),
    y: view.y + shift(top, box.height * view.scale, canvas.height, margin),
    scale: view.scale,
  };
}

/** Keeps a bit of the graph on the canvas, however far somebody drags. */
export function held(view: Viewport, graph: Size, canvas: Size): Viewport {
  const rest = 40;
  return {
    x: clamp(view.x, rest - graph.width * view.scale, canvas.width - rest),
    y: clamp(view.y, rest - graph.height * view.scale, canvas.height - rest),
    scale: view.scale,
  };
}

/** True if all of the graph is seen. */
export function seesAll(view: Viewport, graph: Size, canvas: Size): boolean {
  return (
    view.x >= -1 &&
    view.y >= -1 &&
    view.x + graph.width * view.scale <= canvas.width + 1 &&
    view.y + graph.height * view.scale <= canvas.height + 1
  );
}

/** The place of the nearest box in a direction, or null: what lies straight ahead counts more. */
export function nearest(boxes: readonly Box[], from: number, direction: Direction): number | null {
  const here = boxes[from];
  if (!here) return null;
  const along = direction === "left" || direction === "right" ? "x" : "y";
  const sign = direction === "right" || direction === "down" ? 1 : -1;
  let best: number | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  boxes.forEach((box, place) => {
    const dx = centre(box).x - centre(here).x;
    const dy = centre(box).y - centre(here).y;
    const ahead = (along === "x" ? dx : dy) * sign;
    if (place === from || ahead <= 1) return;
    const aside = Math.abs(along === "x" ? dy : dx);
    const cost = along === "x" ? ahead + 2 * aside : ahead + 1.5 * aside;
    if (cost < bestCost) {
      best = place;
      bestCost = cost;
    }
  });
  return best;
}

function centre(box: Box): { x: number; y: number } {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

function shift(start: number, length: number, room: number, margin: number): number {
  if (start < margin || length > room - 2 * margin) return margin - start;
  return Math.min(0, room - margin - length - start);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(least, most));
}

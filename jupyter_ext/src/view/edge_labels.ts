// Finds places for the counts of edges where they cover nothing. Knows no DOM.
import type { EdgeView, ModuleView } from "../protocol.ts";
import { type Box, NODE_HEIGHT } from "./geometry.ts";

const ADVANCE = 7.3;
const HEIGHT = 13;
const STEPS = 10;
// Offsets from the arrow's tip to the right end of the count's base line, best first.
const PLACES: readonly [number, number][] = [
  [-10, 15],
  [-10, -6],
  [-16, 20],
  [-16, -12],
  [-24, 26],
  [-24, -18],
  [-10, 28],
  [-10, -20],
];

export interface Label {
  /** Where the text ends, and its base line. */
  x: number;
  y: number;
}

/** A place for each edge that is called more than once; the first place where none is free. */
export function countPlaces(view: ModuleView): Map<number, Label> {
  const places = new Map<number, Label>();
  const counted = view.edges.flatMap((edge, index) => (edge.count > 1 ? [index] : []));
  if (counted.length === 0) return places;
  const samples = view.edges.map(sampled);
  const taken: Box[] = view.nodes.map(({ x, y, width }) => ({ x, y, width, height: NODE_HEIGHT }));
  for (const index of counted) {
    const edge = view.edges[index];
    if (!edge) continue;
    const [x = 0, y = 0] = edge.tip;
    const width = (edge.count.toLocaleString("en").length + 1) * ADVANCE;
    const near = samples.filter((points) =>
      points.some((point) => Math.hypot(point.x - x, point.y - y) < 80),
    );
    const boxAt = ([dx, dy]: readonly [number, number]): Box => ({
      x: x + dx - width,
      y: y + dy - HEIGHT + 3,
      width,
      height: HEIGHT,
    });
    const isFree = (box: Box) =>
      !taken.some((other) => overlap(box, other)) &&
      !near.some((points) => points.some((point) => holds(box, point)));
    const place = PLACES.find((offset) => isFree(boxAt(offset))) ?? ([-10, 15] as const);
    taken.push(boxAt(place));
    places.set(index, { x: x + place[0], y: y + place[1] });
  }
  return places;
}

interface Point {
  x: number;
  y: number;
}

function sampled(edge: EdgeView): Point[] {
  const found: Point[] = [];
  const { points } = edge;
  for (let at = 0; at + 7 < points.length; at += 6) {
    const [ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0, dx = 0, dy = 0] = points.slice(
      at,
      at + 8,
    );
    for (let step = 0; step <= STEPS; step++) {
      const t = step / STEPS;
      const u = 1 - t;
      const weights = [u * u * u, 3 * t * u * u, 3 * t * t * u, t * t * t] as const;
      found.push({
        x: weights[0] * ax + weights[1] * bx + weights[2] * cx + weights[3] * dx,
        y: weights[0] * ay + weights[1] * by + weights[2] * cy + weights[3] * dy,
      });
    }
  }
  return found;
}

function holds(box: Box, { x, y }: Point): boolean {
  return (
    x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y - 1 && y <= box.y + box.height + 1
  );
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

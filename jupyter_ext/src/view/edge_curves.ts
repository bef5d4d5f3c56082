// Draws edges: curves, arrows, diamonds and counts.
import type { EdgeView } from "../protocol.ts";
import { s } from "./dom.ts";
import type { Label } from "./edge_labels.ts";

const HALF_ARROW = 3.3;
const TAIL_SHIFT = 11;

/** One edge; its count stands at the callee's end, only above 1. */
export function edgeCurve(edge: EdgeView, label: Label | undefined): SVGGElement {
  const points = leavingApart(edge);
  const [x = 0, y = 0] = points;
  return s(
    "g",
    { class: `e ${edge.kind}` },
    s("path", { class: "curve", d: curvePath(points) }),
    s("path", { class: "tip", d: arrowPath(points, edge.tip) }),
    edge.kind === "composite" && s("path", { class: "diamond", d: `M${x} ${y}l6 -4l6 4l-6 4Z` }),
    label !== undefined &&
      s("text", { x: label.x, y: label.y }, `×${edge.count.toLocaleString("en")}`),
  );
}

/** A composite's edge leaves below the calls, so that its diamond is seen to be its own. */
function leavingApart(edge: EdgeView): number[] {
  if (edge.kind !== "composite" || edge.caller === edge.callee) return edge.points;
  return edge.points.map((value, index) =>
    index === 1 || index === 3 ? value + TAIL_SHIFT : value,
  );
}

/** A path of cubic segments. */
export function curvePath(points: number[]): string {
  const [x = 0, y = 0, ...rest] = points;
  return `M${x} ${y}C${rest.join(" ")}`;
}

/** The point of an arrow. */
export function arrowPath(points: number[], tip: number[]): string {
  const [x = 0, y = 0] = tip;
  const [baseX = 0, baseY = 0] = points.slice(-2);
  const length = Math.hypot(x - baseX, y - baseY) || 1;
  const acrossX = (-(y - baseY) / length) * HALF_ARROW;
  const acrossY = ((x - baseX) / length) * HALF_ARROW;
  return `M${x} ${y}L${baseX + acrossX} ${baseY + acrossY}L${baseX - acrossX} ${baseY - acrossY}Z`;
}

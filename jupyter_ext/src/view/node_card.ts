// Draws one node of the functions view.
import type { ModuleView, NodeView } from "../protocol.ts";
import { type Child, s } from "./dom.ts";
import { NODE_HEIGHT } from "./geometry.ts";
import { iconPath } from "./icons.ts";
import { cutMiddle, nodeIcon, nodeLabel, unitColour, weight } from "./words.ts";

// Advance of one character of the widest of our code fonts.
const ADVANCE = 0.603;
const NAME_SIZE = 13;
const RENAME_SIZE = 12;
const GAP = 8;
const PLUS_ROOM = 34;
const STACK_OF_MANY = 100;
const MOST_STRIPES = 4;
const CORNER = 7;

/** A node at its place: a button whose name is all that is seen. */
export function nodeCard(node: NodeView, place: number, view: ModuleView): SVGGElement {
  const label = nodeLabel(node, view);
  return s(
    "g",
    {
      class: `n ${node.kind} ${weight(node)}`,
      transform: `translate(${node.x} ${node.y})`,
      role: "button",
      tabindex: "-1",
      "data-place": place,
      "aria-label": node.kind === "group" ? `${label}, open with f` : label,
      "aria-pressed": "false",
    },
    ring(node),
    ...stack(node),
    body(node),
    ...stripes(node),
    ...chip(node, view),
    ...names(node),
    facts(node),
    node.kind === "group" && plus(node),
  );
}

function ring(node: NodeView): SVGElement {
  const size = { width: node.width + 8, height: NODE_HEIGHT + 8 };
  return s("rect", { class: "ring", x: -4, y: -4, ...size, rx: 7 });
}

function stack(node: NodeView): SVGElement[] {
  if (node.kind !== "group") return [];
  const size = { width: node.width, height: NODE_HEIGHT, rx: 4 };
  const offsets = node.members >= STACK_OF_MANY ? [8, 4] : [4];
  return offsets.map((offset) => s("rect", { class: "box", x: offset, y: offset, ...size }));
}

function body(node: NodeView): SVGElement {
  if (node.kind !== "custom_call") {
    const size = { width: node.width, height: NODE_HEIGHT, rx: 4 };
    return s("rect", { class: "box", ...size });
  }
  const right = node.width;
  const low = NODE_HEIGHT;
  const path = `M${CORNER} 0H${right - CORNER}L${right} ${CORNER}V${low - CORNER}L${right - CORNER} ${low}H${CORNER}L0 ${low - CORNER}V${CORNER}Z`;
  return s("path", { class: "box", d: path });
}

function stripes(node: NodeView): SVGElement[] {
  if (node.kind === "custom_call") return [];
  const units = node.units.length > 0 ? node.units.slice(0, MOST_STRIPES) : [-1];
  const part = (NODE_HEIGHT - 1) / units.length;
  return units.map((unit, index) => {
    const top = 0.5 + index * part;
    const low = top + part;
    const start = index === 0 ? `M4 ${top}A3.5 3.5 0 0 0 .5 ${top + 3.5}` : `M.5 ${top}`;
    const end = index === units.length - 1 ? `V${low - 3.5}A3.5 3.5 0 0 0 4 ${low}` : `V${low}`;
    return s("path", { d: `${start}${end}H5V${top}Z`, style: `fill:${unitColour(unit)}` });
  });
}

function chip(node: NodeView, view: ModuleView): SVGElement[] {
  if (node.kind === "custom_call") {
    return [s("path", { class: "hexagon", d: "M16 7.5H24L28 14L24 20.5H16L12 14Z" })];
  }
  const [unit = -1] = node.units;
  const letter = chipLetter(node, view);
  if (!letter) return [];
  const style = `stroke:${unitColour(letter === "…" ? -1 : unit)};fill:${tint(unit)}`;
  const width = chipWidth(letter);
  return [
    s("rect", { x: 12.5, y: 6.5, width: width - 1, height: 15, rx: 3, class: "chip", style }),
    s("text", { class: "letter", x: 12 + width / 2, y: 18 }, letter),
  ];
}

function chipLetter(node: NodeView, view: ModuleView): string {
  if (node.kind === "group" && node.units.length !== 1) return "…";
  return view.units[node.units[0] ?? -1]?.letter ?? "";
}

/** 16 px for one letter, and more from the unit `AA` on. */
function chipWidth(letter: string): number {
  return 16 + 9 * (letter.length - 1);
}

function tint(unit: number): string {
  return `color-mix(in srgb, ${unitColour(unit)} 16%, var(--km-surface))`;
}

function names(node: NodeView): Child[] {
  const start = 34 + (node.units.length > 0 || node.kind !== "function" ? 0 : -20);
  const x = start + (node.is_entry ? 12 : 0);
  const room = node.width - x - 10 - (node.kind === "group" ? PLUS_ROOM : 0);
  const [name, merged] = fittingNames(node, room);
  const mergedX = x + [...name].length * ADVANCE * NAME_SIZE + GAP;
  return [
    node.is_entry && s("path", { class: "entry", d: `M${x - 11} 9.5L${x - 4} 14L${x - 11} 18.5Z` }),
    s("text", { class: "name", x, y: 18.5 }, name),
    merged !== "" && s("text", { class: "merged", x: mergedX, y: 18.5 }, `→ ${merged}`),
  ];
}

/** A short name leaves its share of the row to the longer one. */
function fittingNames(node: NodeView, room: number): [string, string] {
  const wide = ADVANCE * NAME_SIZE;
  if (!node.merged) return [cutMiddle(node.name, Math.floor(room / wide)), ""];
  const small = ADVANCE * RENAME_SIZE;
  const both = room - GAP - 2 * small;
  const own = [...node.name].length * wide;
  const share = Math.max(both / 2, both - [...node.merged].length * small);
  const name = own <= share ? node.name : cutMiddle(node.name, Math.floor(share / wide));
  const rest = both - [...name].length * wide;
  return [name, cutMiddle(node.merged, Math.floor(rest / small))];
}

function facts(node: NodeView): SVGElement {
  const name = nodeIcon(node);
  return s(
    "g",
    { class: "facts" },
    name !== null && s("path", { class: "icon", transform: "translate(14 27)", d: iconPath(name) }),
    s("text", { x: 34, y: 37 }, node.facts.join(" · ")),
  );
}

function plus(node: NodeView): SVGElement {
  const x = node.width - 30;
  return s(
    "g",
    { class: "plus", "data-open": "true" },
    s("rect", { class: "area", x: x - 4, y: 8, width: 28, height: 28 }),
    s("rect", { class: "frame", x, y: 12, width: 20, height: 20, rx: 3 }),
    s("path", { class: "sign", transform: `translate(${x + 4} 16)`, d: iconPath("plus") }),
  );
}

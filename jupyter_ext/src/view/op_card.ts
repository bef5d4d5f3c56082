// Draws one item of the ops view: an op, a pill, a group, the head of an op that is open.
import type { OpItem } from "../protocol.ts";
import { type Child, s } from "./dom.ts";
import { iconPath } from "./icons.ts";
import { hasRegions, OP_SIGNS, opLabel } from "./op_words.ts";

export const OP_HEAD = 32;
const STACK_OF_MANY = 100;

/** An item at its place: a button whose name is all that is seen. */
export function opCard(item: OpItem, place: number): SVGGElement {
  const { width, height } = item;
  const low = item.is_open ? OP_HEAD : height;
  return s(
    "g",
    {
      class: `n op ${item.kind}${item.is_open ? " open" : ""}`,
      transform: `translate(${item.x} ${item.y})`,
      role: "button",
      tabindex: "-1",
      "data-place": place,
      "aria-label": opLabel(item),
      "aria-pressed": "false",
      "aria-expanded": item.kind === "group" || hasRegions(item) ? String(item.is_open) : null,
    },
    s("rect", { class: "ring", x: -4, y: -4, width: width + 8, height: low + 8, rx: 7 }),
    ...stack(item),
    item.is_open
      ? s("path", {
          class: "box",
          d: `M0 ${OP_HEAD}V5a5 5 0 0 1 5 -5H${width - 5}a5 5 0 0 1 5 5V${OP_HEAD}Z`,
        })
      : s("rect", { class: "box", width, height, rx: isPill(item) ? 13 : 4 }),
    ...(isPill(item) ? pill(item) : item.kind === "group" ? group(item) : op(item, low)),
  );
}

/** The frame of an op that is open, or of a region: it lies under the edges. */
export function frame(box: { x: number; y: number; width: number; height: number }, rx: number) {
  const { x, y, width, height } = box;
  return s("rect", { class: rx === 5 ? "frame op" : "frame", x, y, width, height, rx });
}

function isPill(item: OpItem): boolean {
  return item.kind === "argument" || item.kind === "captured" || item.kind === "return";
}

function stack(item: OpItem): SVGElement[] {
  if (item.kind !== "group") return [];
  const size = { width: item.width, height: item.height, rx: 4 };
  const offsets = item.folded_ops >= STACK_OF_MANY ? [8, 4] : [4];
  return offsets.map((offset) => s("rect", { class: "box", x: offset, y: offset, ...size }));
}

function pill(item: OpItem): Child[] {
  return [
    s(
      "text",
      { class: "pill", x: item.width / 2, y: item.height / 2 + 4 },
      s("tspan", {}, item.label),
      item.note !== "" && s("tspan", { class: "note", dx: 7 }, item.note),
    ),
  ];
}

function group(item: OpItem): Child[] {
  return [
    s("text", { class: "opname", x: 13, y: 18.5 }, item.label),
    s("text", { x: 13, y: 36 }, item.note),
    plus(item.width),
  ];
}

function plus(width: number): SVGElement {
  const x = width - 28;
  return s(
    "g",
    { class: "plus", "data-act": "toggle" },
    s("rect", { class: "area", x: x - 4, y: 8, width: 28, height: 28 }),
    s("rect", { class: "frame", x, y: 12, width: 20, height: 20, rx: 3 }),
    s("path", { class: "sign", transform: `translate(${x + 4} 16)`, d: iconPath("plus") }),
  );
}

function op(item: OpItem, low: number): Child[] {
  const y = low / 2 + 4.5;
  const folded = hasRegions(item) && !item.is_open;
  const inside = `${item.folded_ops.toLocaleString("en")} ${item.folded_ops === 1 ? "op" : "ops"} inside`;
  return [
    sign(item, y),
    s(
      "text",
      { x: 28, y },
      s("tspan", { class: "opname" }, item.label),
      item.note !== "" && s("tspan", { class: "note", dx: 7 }, item.note),
    ),
    folded && s("text", { class: "inside", x: item.width - 56, y }, inside),
    folded && press("Open", "toggle", item.width - 48, low, 44),
    item.is_open && press("Enter", "enter", item.width - 104, low, 50),
    item.is_open && press("Fold", "toggle", item.width - 50, low, 44),
  ];
}

function sign(item: OpItem, y: number): SVGElement {
  if (item.does === "custom call") {
    return s("path", { class: "hexagon", d: `M7 ${y - 4}l4 -5.5h6l4 5.5l-4 5.5h-6Z` });
  }
  return s("text", { class: "opsign", x: 14, y }, OP_SIGNS[item.does] ?? "·");
}

/** A button for the pointer; the keyboard has `f` and `e`. */
function press(words: string, act: string, x: number, low: number, width: number): SVGElement {
  return s(
    "g",
    { class: "press", "data-act": act },
    s("rect", { class: "area", x, y: low / 2 - 14, width, height: 28 }),
    s("rect", { class: "frame", x: x + 1, y: low / 2 - 11, width: width - 2, height: 22, rx: 3 }),
    s("text", { x: x + width / 2, y: low / 2 + 4 }, words),
  );
}

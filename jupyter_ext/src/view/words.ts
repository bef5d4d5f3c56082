// What nodes and counts say in words, and cutting names to fit.
import type { ModuleView, NodeView, Why } from "../protocol.ts";
import type { IconName } from "./icons.ts";

/** `1 op`, `1,480 ops`. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Cuts in the middle, at an underscore where one stands near: names differ in their tails. */
export function cutMiddle(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  if (most < 3) return "…";
  const longest = Math.max(1, Math.floor((2 * most + 2) / 3));
  const underscore = letters.indexOf("_", letters.length - longest - 1);
  let tail = underscore < 0 ? [] : letters.slice(underscore + 1);
  if (tail.length < most / 3 || tail.length > longest) {
    tail = letters.slice(letters.length - Math.floor(most / 2));
  }
  return `${letters.slice(0, Math.max(1, most - 1 - tail.length)).join("")}…${tail.join("")}`;
}

/** Letters of the units that define a node: `A`, `A and C`. */
export function unitLetters(node: NodeView, view: ModuleView): string {
  return node.units.map((unit) => view.units[unit]?.letter ?? "").join(" and ");
}

/** What a screen reader says: all that is seen. */
export function nodeLabel(node: NodeView, view: ModuleView): string {
  const letters = unitLetters(node, view);
  const parts = [
    letters && view.units.length > 1 ? `unit ${letters}` : "",
    node.merged ? `${node.name} → ${node.merged}` : node.name,
    node.is_entry ? "entry" : "",
    ...node.facts,
  ];
  return parts.filter(Boolean).join(", ");
}

/** The status icon of a node, if it has one. */
export function nodeIcon(node: NodeView): IconName | null {
  if (node.kind === "group") return null;
  if (node.status === "missing") return "missing";
  if (node.kind === "custom_call") return null;
  if (node.kind === "declaration" && node.status === "kept") return "declared";
  return node.status;
}

/** Kept things are quiet, changed things are strong, broken things are red. */
export function weight(node: NodeView): "quiet" | "strong" | "bad" {
  if (node.status === "missing") return "bad";
  return node.kind === "function" && node.status !== "kept" ? "strong" : "quiet";
}

/** The icon of a reason. */
export function whyIcon(why: Why): IconName {
  return why;
}

/** The colour of the unit at a place; the seventh is the first again. */
export function unitColour(place: number): string {
  return place < 0 ? "var(--km-line2)" : `var(--km-unit-${"ABCDEF"[place % 6]})`;
}

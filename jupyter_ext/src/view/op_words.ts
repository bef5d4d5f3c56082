// What ops and groups say in words, and which ids belong to which group. Knows no DOM.
import type { OpItem, OpsDrawing } from "../protocol.ts";

/** One sign for each kind of work; a custom call has a hexagon instead. */
export const OP_SIGNS: Record<string, string> = {
  call: "ƒ",
  elementwise: "∘",
  reduce: "Σ",
  contraction: "×",
  "data movement": "⇄",
  control: "↻",
  constant: "c",
  other: "·",
};

/** True if an op has regions, open or folded. */
export function hasRegions(item: OpItem): boolean {
  return item.kind === "op" && (item.is_open || item.folded_ops > 0);
}

/** What a screen reader says: all that is seen, and what the keys do. */
export function opLabel(item: OpItem): string {
  const kinds: Partial<Record<OpItem["kind"], string>> = {
    argument: "argument",
    captured: "value from outside",
  };
  const acts =
    item.kind === "group"
      ? "open with f"
      : hasRegions(item)
        ? `${item.is_open ? "fold" : `${item.folded_ops} ops folded, open`} with f, enter with e`
        : item.callee
          ? "open with Space"
          : "";
  const parts = [
    item.does === "call" ? "call" : (kinds[item.kind] ?? ""),
    item.label,
    item.note,
    ...item.types,
    acts,
  ];
  return parts.filter(Boolean).join(", ");
}

/** `4/1.0.` and 2 of `4/1.0.2`; an argument's number comes with its `#`. */
function split(id: string): { block: string; isArgument: boolean; number: number } {
  const [, block = "", mark = "", number = ""] = /^(.*?)(#?)(\d+)$/.exec(id) ?? [];
  return { block, isArgument: mark === "#", number: Number(number) };
}

/** Whether an op or an argument is one of those that a group `FIRST..LAST` stands for. */
export function isInGroup(op: string, group: string): boolean {
  const [first = "", last = ""] = group.split("..");
  const [one, from, to] = [split(op), split(first), split(last)];
  return (
    one.block === from.block &&
    one.isArgument === from.isArgument &&
    one.number >= from.number &&
    one.number <= to.number
  );
}

/** What a reader opened and folded in one function. */
export interface Folding {
  opened: readonly string[];
  closed: readonly string[];
}

/** Opens what is folded and folds what is open; an op of an opened group folds that again. */
export function toggled(folding: Folding, item: OpItem): Folding {
  const without = (ids: readonly string[], id: string) => ids.filter((other) => other !== id);
  const { opened, closed } = folding;
  if (item.kind === "group") return { opened: [...without(opened, item.id), item.id], closed };
  if (hasRegions(item)) {
    return item.is_open
      ? { opened: without(opened, item.id), closed: [...closed, item.id] }
      : { opened: [...opened, item.id], closed: without(closed, item.id) };
  }
  const group = opened.findLast((id) => id.includes("..") && isInGroup(item.id, id));
  return group ? { opened: without(opened, group), closed } : folding;
}

/** How deep an item stands in regions. */
export function levels(drawing: OpsDrawing): number[] {
  const found: number[] = [];
  for (const item of drawing.items) {
    const holder = drawing.blocks[item.block]?.item ?? -1;
    found.push(holder < 0 ? 0 : (found[holder] ?? 0) + 1);
  }
  return found;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { outlineRows } from "../src/view/outline.ts";
import { edge, module, node } from "./views.ts";

const shape = (view: ReturnType<typeof module>, closed?: Set<string>) =>
  outlineRows(view, closed).map((row) =>
    `${"  ".repeat(row.level)}${row.node.id} ${row.seen}`.trimEnd(),
  );

test("entries come first, calls below, and what is shown above only points up", () => {
  const nodes = [node("helper"), node("main", { is_entry: true }), node("alone")];
  const view = module(nodes, [edge(1, 0), edge(1, 2), edge(2, 0)]);
  assert.deepEqual(shape(view), ["main", "  helper", "  alone", "    helper above"]);
});

test("a cycle is named where it closes, one that nobody enters is there as well", () => {
  const view = module([node("a"), node("b")], [edge(0, 1), edge(1, 0)]);
  assert.deepEqual(shape(view), ["a", "  b", "    a cycle"]);
  assert.deepEqual(shape(module([node("a")], [edge(0, 0)])), ["a", "  a cycle"]);
});

test("a closed function hides what it calls", () => {
  const nodes = [node("a"), node("b"), node("c")];
  const view = module(nodes, [edge(0, 1), edge(1, 2)]);
  assert.deepEqual(shape(view, new Set(["a"])), ["a"]);
  assert.deepEqual(shape(view, new Set(["b"])), ["a", "  b"]);
});

test("a chain of 5,000 calls needs no stack, and is cut", () => {
  const nodes = Array.from({ length: 5000 }, (_, index) => node(`f${index}`));
  const edges = nodes.slice(1).map((_, index) => edge(index, index + 1));
  assert.equal(outlineRows(module(nodes, edges)).length, 2000);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiffRun } from "../src/protocol.ts";
import { changedWords, DiffRows } from "../src/view/diff_rows.ts";

const RUNS: DiffRun[] = [
  { kind: "same", left: 0, left_count: 2, right: 0, right_count: 2, pairs: [] },
  { kind: "changed", left: 2, left_count: 2, right: 2, right_count: 2, pairs: [1, 0] },
  { kind: "same", left: 4, left_count: 1, right: 4, right_count: 1, pairs: [] },
  { kind: "changed", left: 5, left_count: 0, right: 5, right_count: 2, pairs: [] },
];

test("side by side, a line stands beside the one that took its place", () => {
  const rows = new DiffRows(RUNS, true);
  assert.equal(rows.length, 8);
  assert.equal(rows.changeCount, 2);
  const all = [...Array(8).keys()].map((at) => {
    const { kind, left, right } = rows.at(at);
    return [kind, left, right];
  });
  assert.deepEqual(all, [
    ["same", 0, 0],
    ["same", 1, 1],
    ["removed", 2, -1],
    ["changed", 3, 2],
    ["added", -1, 3],
    ["same", 4, 4],
    ["added", -1, 5],
    ["added", -1, 6],
  ]);
  assert.deepEqual(rows.span(1), { first: 6, count: 2 });
});

test("lines between pairs share a row, but no words", () => {
  const run: DiffRun = {
    kind: "changed",
    left: 0,
    left_count: 1,
    right: 0,
    right_count: 2,
    pairs: [],
  };
  const rows = new DiffRows([run], true);
  assert.deepEqual([rows.at(0).kind, rows.at(1).kind], ["apart", "added"]);
});

test("one below the other, what was removed stands above what was added", () => {
  const rows = new DiffRows(RUNS, false);
  assert.equal(rows.length, 9);
  const { kind, left, partner } = rows.at(2);
  assert.deepEqual([kind, left, partner], ["removed", 2, -1]);
  assert.deepEqual([rows.at(3).kind, rows.at(3).partner], ["removed", 2]);
  assert.deepEqual([rows.at(4).kind, rows.at(4).right, rows.at(4).partner], ["added", 2, 3]);
  assert.deepEqual([rows.at(8).kind, rows.at(8).change], ["added", 1]);
});

test("no runs are no rows", () => {
  const rows = new DiffRows([], true);
  assert.equal(rows.length, 0);
  assert.equal(rows.at(0).left, -1);
});

test("the words that differ are marked, and the pieces put together are the lines", () => {
  const left = "  %0 = call @helper(%arg0) : (tensor<3xf32>) -> tensor<3xf32>";
  const right = "  %0 = call @helper_3f2a(%arg0) : (tensor<3xf32>) -> tensor<3xf32>";
  const found = changedWords(left, right);
  assert.ok(found);
  const [one, other] = found;
  assert.equal(one.map(({ text }) => text).join(""), left);
  assert.equal(other.map(({ text }) => text).join(""), right);
  const marked = (pieces: typeof one) => pieces.filter((p) => p.isMarked).map((p) => p.text);
  assert.deepEqual([marked(one), marked(other)], [["helper"], ["helper_3f2a"]]);
});

test("lines with little in common are two lines", () => {
  assert.equal(changedWords("return %0 : tensor<f32>", "stablehlo.custom_call @x()"), null);
  assert.equal(changedWords("x ".repeat(400), "y"), null);
});

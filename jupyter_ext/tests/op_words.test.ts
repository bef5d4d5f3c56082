import assert from "node:assert/strict";
import { test } from "node:test";
import { isInGroup, levels, opLabel, toggled } from "../src/view/op_words.ts";
import { drawing, item } from "./views.ts";

const nothing = { opened: [], closed: [] };

test("a group holds the ops of its block from its first to its last", () => {
  assert.ok(isInGroup("401", "400..799"));
  assert.ok(isInGroup("4/1.0.12", "4/1.0.2..4/1.0.20"));
  assert.ok(!isInGroup("800", "400..799"));
  assert.ok(!isInGroup("4/1.0.12", "4/0.0.2..4/0.0.20"));
  assert.ok(!isInGroup("#5", "0..9"));
  assert.ok(isInGroup("#5", "#0..#9"));
});

test("what is folded opens, what is open folds", () => {
  const group = item("0..399", { kind: "group", op: "0" });
  const open = toggled(nothing, group);
  assert.deepEqual(open.opened, ["0..399"]);
  assert.deepEqual(toggled(open, item("17")).opened, []);
  const region = item("4", { is_open: true });
  const closed = toggled(nothing, region);
  assert.deepEqual(closed.closed, ["4"]);
  const again = toggled(closed, item("4", { folded_ops: 3 }));
  assert.deepEqual(again, { opened: ["4"], closed: [] });
});

test("an op without regions or group has nothing to fold", () => {
  assert.equal(toggled(nothing, item("3")), nothing);
});

test("a label says what is seen and what the keys do", () => {
  assert.equal(opLabel(item("0", { note: "const 1" })), "add, const 1, 8xf32");
  assert.equal(
    opLabel(item("0", { does: "call", label: "gelu", callee: "gelu" })),
    "call, gelu, 8xf32, open with Space",
  );
  assert.equal(
    opLabel(item("0", { label: "while", types: [], folded_ops: 12 })),
    "while, 12 ops folded, open with f, enter with e",
  );
  assert.equal(opLabel(item("#0", { kind: "argument", label: "%x" })), "argument, %x, 8xf32");
});

test("what stands in a region stands one level deeper", () => {
  const items = [item("0", { is_open: true }), item("0/0", { block: 1 }), item("1")];
  assert.deepEqual(levels(drawing(items, [-1, 0])), [0, 1, 0]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens } from "../src/view/tokens.ts";
import { cutMiddle, nodeIcon, nodeLabel, plural, weight } from "../src/view/words.ts";
import { module, node } from "./views.ts";

test("names are cut in the middle, and the tail is kept from an underscore on", () => {
  assert.equal(cutMiddle("dynamic_index_in_dim_0", 12), "dyn…in_dim_0");
  assert.equal(cutMiddle("short", 15), "short");
  assert.ok([...cutMiddle("x".repeat(190), 20)].length <= 20);
  assert.equal(cutMiddle("name", 2), "…");
});

test("a label says all that is seen", () => {
  const renamed = node("main_1", {
    name: "@main",
    merged: "@main_1",
    status: "renamed",
    facts: ["renamed", "3 ops"],
    is_entry: true,
    units: [1],
  });
  assert.equal(
    nodeLabel(renamed, module([renamed])),
    "unit B, @main → @main_1, entry, renamed, 3 ops",
  );
});

test("broken things are red, changed things strong, kept things quiet", () => {
  assert.equal(weight(node("a", { status: "missing" })), "bad");
  assert.equal(weight(node("a", { status: "reused" })), "strong");
  assert.equal(weight(node("a")), "quiet");
  assert.equal(nodeIcon(node("a", { kind: "declaration" })), "declared");
  assert.equal(nodeIcon(node("a", { kind: "custom_call" })), null);
  assert.equal(nodeIcon(node("a", { kind: "custom_call", status: "missing" })), "missing");
});

test("numbers have commas", () => {
  assert.equal(plural(1, "op"), "1 op");
  assert.equal(plural(1480, "op"), "1,480 ops");
});

const kinds = (line: string) =>
  tokens(line)
    .filter(({ kind }) => kind !== "plain")
    .map(({ kind, text }) => `${kind} ${text}`);

test("a line of MLIR is cut into its pieces", () => {
  assert.deepEqual(kinds("  %0 = stablehlo.add %arg0, %c_1 : tensor<8x64xf32>"), [
    "value %0",
    "op stablehlo.add",
    "value %arg0",
    "value %c_1",
  ]);
  assert.deepEqual(kinds('func.func private @"odd name"(%x: tensor<f32>)'), [
    "op func.func",
    "op private",
    'symbol @"odd name"',
    "value %x",
  ]);
  assert.deepEqual(kinds("dense<1.5e+3> // don't"), ["number 1.5e+3", "comment // don't"]);
});

test("the pieces put together are the line, whatever it holds", () => {
  for (const line of ["", "'\"\\", '"open', "@", "%%hlo", "</script>\u202e]]>", "a".repeat(3000)]) {
    const text = tokens(line).map((token) => token.text);
    assert.equal(text.join(""), line);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SymbolRow } from "../src/protocol.ts";
import { reasonCounts, shownRows, toCsv } from "../src/view/symbol_table.ts";

const row = (old: string, changes: Partial<SymbolRow> = {}): SymbolRow => ({
  unit: 0,
  old,
  new: old,
  why: "kept",
  kind: "function",
  explanation: "",
  uses: 1,
  line: 1,
  node: old.slice(1),
  ...changes,
});
const rows = [
  row("@main", { uses: 0 }),
  row("@helper_10", { uses: 12 }),
  row("@helper_2", { why: "renamed", new: "@helper_3", uses: 2 }),
];
const names = (found: SymbolRow[]) => found.map((one) => one.old);

test("changed symbols come before kept ones", () => {
  const found = shownRows(rows, "", "", { column: "why", isDescending: false });
  assert.deepEqual(names(found), ["@helper_2", "@main", "@helper_10"]);
});

test("numbers in names and columns sort as numbers", () => {
  const byName = shownRows(rows, "", "help", { column: "old", isDescending: false });
  assert.deepEqual(names(byName), ["@helper_2", "@helper_10"]);
  const byUses = shownRows(rows, "", "", { column: "uses", isDescending: true });
  assert.deepEqual(names(byUses), ["@helper_10", "@helper_2", "@main"]);
});

test("a query finds a symbol by its new name", () => {
  const found = shownRows(rows, "", "helper_3", { column: "old", isDescending: false });
  assert.deepEqual(names(found), ["@helper_2"]);
  assert.deepEqual(shownRows(rows, "bound", "", { column: "old", isDescending: false }), []);
});

test("reasons are counted", () => {
  assert.deepEqual(
    [...reasonCounts(rows)],
    [
      ["kept", 2],
      ["renamed", 1],
    ],
  );
});

test("CSV quotes what would break it, and nothing in it is a formula", () => {
  const csv = toCsv([row('@a"b,c', { explanation: "=1+1" })], () => "block");
  assert.equal(
    csv,
    'unit,from,to,kind,why,explanation,uses,line\r\nblock,"\'@a""b,c","\'@a""b,c",function,kept,\'=1+1,1,1\r\n',
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsIn } from "../src/labextension/problems.ts";

const CELL = `%%hlo bad
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.nothing %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}`;

function error(...lines: string[]) {
  return [{ output_type: "error", ename: "ParseError", evalue: "", traceback: [lines.join("\n")] }];
}

const ONE = error(
  "ParseError: MLIR refused the cell: custom op 'stablehlo.nothing' is unknown",
  "  cell:3:8",
  "    %0 = stablehlo.nothing %x : tensor<4xf32>",
  "         ^^^^^^^^^^^^^^^^^",
  "  Correct it and run it again; nothing was changed.",
);

test("a problem lies under the carets, and says what the error says", () => {
  const [found, ...others] = problemsIn(ONE, CELL);
  assert.ok(found);
  assert.deepEqual(others, []);
  assert.equal(CELL.slice(found.from, found.to), "stablehlo.nothing");
  assert.equal(found.message, "MLIR refused the cell: custom op 'stablehlo.nothing' is unknown");
});

test("of several problems each has its own words", () => {
  const outputs = error(
    "ParseError: MLIR refused the cell: first (and 1 more)",
    "  cell:3:8",
    "    %0 = stablehlo.nothing %x : tensor<4xf32>",
    "         ^^^^^^^^^^^^^^^^^ first",
    "  cell:4:10",
    "    return %0 : tensor<4xf32>",
    "           ^^ second",
  );
  const found = problemsIn(outputs, CELL);
  assert.deepEqual(
    found.map(({ from, to, message }) => [CELL.slice(from, to), message]),
    [
      ["stablehlo.nothing", "first"],
      ["%0", "second"],
    ],
  );
});

test("a line that was changed since has no mark", () => {
  assert.deepEqual(problemsIn(ONE, CELL.replace("nothing", "negate")), []);
  assert.deepEqual(problemsIn(ONE, `%%hlo\n${CELL}`), []);
  assert.equal(problemsIn(ONE, `${CELL}\n// more`).length, 1);
});

test("characters beyond the basic plane count as one", () => {
  const cell = '%%hlo\n  "💡💡"(%x)';
  const outputs = error("ParseError: no", "  cell:2:8", '    "💡💡"(%x)', "         ^^");
  const [found] = problemsIn(outputs, cell);
  assert.ok(found);
  assert.equal(cell.slice(found.from, found.to), "%x");
});

test("long lines are shown in part, and hidden characters as pictures", () => {
  const cell = `%%hlo\n  ${"%a, ".repeat(60)}%z\u0007 = bad`;
  const outputs = error("ParseError: no", "  cell:2:243", "    … %a, %z␇ = bad", "            ^^");
  const [found] = problemsIn(outputs, cell);
  assert.ok(found);
  assert.equal(cell.slice(found.from, found.to), "%z");
});

test("a place on an empty line has no width", () => {
  const found = problemsIn(error("ParseError: no", "  cell:2:1  here"), "%%hlo\n\nx");
  assert.deepEqual(found, [{ from: 6, to: 6, message: "here" }]);
});

test("colours of a terminal, other outputs and other errors are harmless", () => {
  const coloured = error(
    "\u001b[31mParseError\u001b[0m: no",
    "  cell:4:10",
    "    return %0 : tensor<4xf32>",
    "           ^^",
  );
  assert.equal(problemsIn(coloured, CELL).length, 1);
  assert.deepEqual(problemsIn([{ output_type: "stream" }], CELL), []);
  assert.deepEqual(problemsIn(error("NameError: cell:3:8"), CELL), []);
  assert.deepEqual(problemsIn([{ output_type: "error" }], CELL), []);
});

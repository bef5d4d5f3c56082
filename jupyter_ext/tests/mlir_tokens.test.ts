import assert from "node:assert/strict";
import { test } from "node:test";
import { StringStream } from "@codemirror/language";
import { mlirParser } from "../src/labextension/mlir_tokens.ts";

/** `text:token` for each piece of a text that has a token. */
function pieces(text: string): string[] {
  const state = mlirParser.startState?.(2);
  assert.ok(state);
  return text.split("\n").flatMap((line) => {
    const stream = new StringStream(line, 4, 2);
    const found: string[] = [];
    while (!stream.eol()) {
      stream.start = stream.pos;
      const token = mlirParser.token(stream, state);
      assert.ok(stream.pos > stream.start, `no progress at ${stream.pos} of ${line}`);
      if (token !== null && token !== "bracket") found.push(`${stream.current()}:${token}`);
    }
    return found;
  });
}

const OPERATION = "%0 = stablehlo.add %x, %x : tensor<4xf32>";
const COLOURED = [
  "%0:variableName",
  "=:operator",
  "stablehlo.add:builtin",
  "%x:variableName",
  "%x:variableName",
  "::operator",
  "tensor:variableName.special",
  "4x:variableName.special",
  "f32:variableName.special",
];

test("ops, values and types are told apart", () => {
  assert.deepEqual(pieces(OPERATION), COLOURED);
});

test("nothing in a comment leads the next line astray", () => {
  for (const comment of ["don't", 'say "no', "{ ( [", "/* open", "\\", "%%hlo"]) {
    assert.deepEqual(pieces(`// ${comment}\n${OPERATION}`).slice(1), COLOURED, comment);
  }
});

test("a string that is not closed ends with its line", () => {
  assert.deepEqual(pieces(`{a = "open}\n${OPERATION}`).slice(3), COLOURED);
});

test("the magic's line is coloured as such, and only as the first", () => {
  const magic = ["%%hlo:meta", "--show:attributeName"];
  assert.deepEqual(pieces(`%%hlo scale --show text\n${OPERATION}`), [...magic, ...COLOURED]);
  assert.ok(!pieces(`${OPERATION}\n%%hlo`).includes("%%hlo:meta"));
});

test("names with quotes, quoted ops, attributes and numbers", () => {
  const found = pieces(
    '%p:2 = "stablehlo.sort"(%a) <{dimension = -1 : i64, mhlo.x = 1.5e-3}> @"a b"',
  );
  assert.deepEqual(found, [
    "%p:2:variableName",
    "=:operator",
    '"stablehlo.sort":builtin',
    "%a:variableName",
    "dimension:attributeName",
    "=:operator",
    "-1:number",
    "::operator",
    "i64:variableName.special",
    "mhlo.x:attributeName",
    "=:operator",
    "1.5e-3:number",
    '@"a b":def',
  ]);
});

test("structure is bold, whatever dialect it is of", () => {
  const found = pieces(
    "func.func public @f() attributes {} {\n^bb0(%a: i1):\n  stablehlo.return %a : i1",
  );
  for (const piece of ["func.func:keyword", "public:keyword", "attributes:keyword", "@f:def"]) {
    assert.ok(found.includes(piece), piece);
  }
  assert.ok(found.includes("^bb0:labelName"));
  assert.ok(found.includes("stablehlo.return:keyword"));
});

test("HLO text has colours of its own", () => {
  const found = pieces(
    "%%hlo\nHloModule m\n/* it's\n  long */\nENTRY main {\n  p = f32[3]{0} parameter(0)\n" +
      '  ROOT %r = f32[3]{0} multiply(p, p), metadata={op_name="x"}\n}',
  );
  assert.deepEqual(found, [
    "%%hlo:meta",
    "HloModule:keyword",
    "/* it's:comment",
    "long */:comment",
    "ENTRY:keyword",
    "p:variableName",
    "=:operator",
    "f32:variableName.special",
    "3:number",
    "0:number",
    "parameter:builtin",
    "0:number",
    "ROOT:keyword",
    "%r:variableName",
    "=:operator",
    "f32:variableName.special",
    "3:number",
    "0:number",
    "multiply:builtin",
    "metadata:attributeName",
    "=:operator",
    "op_name:attributeName",
    "=:operator",
    '"x":string',
  ]);
});

test("any text is cut to its end", () => {
  const odd = ["\u202e", "é", "💡", '"', "\\", "@", "%", "^", "#", "!", "->", "<", "0x", "/", "-"];
  for (const a of odd) for (const b of odd) pieces(`${a}${b}\n%%hlo ${a}\nHloModule ${b}${a}`);
});

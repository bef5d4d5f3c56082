// Cuts MLIR, and HLO text, into the tokens that an editor colours. Knows no DOM and no JupyterLab.
import type { StreamParser, StringStream } from "@codemirror/language";

export interface CellState {
  /** What the text is; null until its first word has been seen. */
  language: "mlir" | "hlo" | null;
  isInComment: boolean;
  /** Whether a cell magic may still come: no text has been seen before. */
  isAtStart: boolean;
}

type Rule = readonly [pattern: RegExp, token: string | null];

const STRING = /^"(?:[^"\\]|\\.)*(?:"|$)/;
const NUMBER = /^-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)/;

const MLIR: readonly Rule[] = [
  [/^\/\/.*/, "comment"],
  [/^"[a-z_]\w*(?:\.[\w$-]+)+"(?=\s*\()/, "builtin"],
  [STRING, "string"],
  [/^@(?:"(?:[^"\\]|\\.)*(?:"|$)|[\w$.-]*)/, "def"],
  [/^%[\w$.-]*(?:[:#]\d+)?/, "variableName"],
  [/^\^[\w$.-]*/, "labelName"],
  [/^[#!][a-zA-Z_][\w$.-]*/, "atom"],
  // Not where a shape begins with them: the `x` belongs to the type then.
  [/^(?:\?|\d+)x(?=[\d?a-z!])/, "variableName.special"],
  [/^(?:tensor|memref|vector|tuple|complex)(?=<)/, "variableName.special"],
  [/^(?:[fF]\d+E\d+M\d+\w*|bf16|tf32|f\d+|[su]?i\d+|index|none)\b/, "variableName.special"],
  [
    /^(?:func\.(?:func|return|call)|builtin\.module|(?:stablehlo|mhlo|scf|sdy)\.(?:return|yield))\b/,
    "keyword",
  ],
  [
    /^(?:module|func|return|call|yield|public|private|nested|attributes|loc|cond|do|else|init|applies|reducer|across|to|step|iter_args)(?![\w$.=])/,
    "keyword",
  ],
  [/^(?:dense_resource|dense|array|unit|true|false|affine_map|strided|opaque)\b(?!\s*=)/, "atom"],
  [/^[a-z_]\w*(?:\.[\w$-]+)+(?=\s*=(?!=))/, "attributeName"],
  [/^[a-z_]\w*(?:\.[\w$-]+)+/, "builtin"],
  [/^[a-zA-Z_][\w$]*(?=\s*=(?!=))/, "attributeName"],
  [NUMBER, "number"],
  [/^(?:->|[=:*])/, "operator"],
  [/^[{}()[\]<>]/, "bracket"],
  [/^[a-zA-Z_][\w$]*/, null],
];

const HLO: readonly Rule[] = [
  [/^\/\/.*/, "comment"],
  [STRING, "string"],
  [/^(?:HloModule|ENTRY|ROOT)\b/, "keyword"],
  [/^(?:pred|[suf]\d+\w*|bf16|c64|c128|token|opaque)(?=\[)/, "variableName.special"],
  [/^%[\w.-]+/, "variableName"],
  [/^[a-zA-Z_][\w.-]*(?=\s*=(?!=)\s*[\w{"%])/, "attributeName"],
  [/^[a-z][a-z-]*(?=\()/, "builtin"],
  [/^(?:true|false|inf|nan)\b/, "atom"],
  [NUMBER, "number"],
  [/^(?:->|[=:])/, "operator"],
  [/^[{}()[\]]/, "bracket"],
  [/^[a-zA-Z_][\w.-]*/, null],
];

/** Where in an HLO text an attribute is, in contrast to an instruction's own name. */
const INSTRUCTION = /^\s*(?:ROOT\s+)?%?[\w.-]+\s*=/;

const MAGIC: readonly Rule[] = [
  [/^%%\w+/, "meta"],
  [/^#.*/, "comment"],
  [/^--?[\w-]+/, "attributeName"],
  [STRING, "string"],
  [/^[^\s"#]+/, null],
];

export const mlirParser: StreamParser<CellState> = {
  name: "mlir",
  startState: () => ({ language: null, isInComment: false, isAtStart: true }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (state.isInComment) return endOfComment(stream, state);
    if (state.isAtStart) {
      if (stream.string.trimStart().startsWith("%%")) return magic(stream, state);
      state.isAtStart = false;
    }
    state.language ??= firstWord(stream);
    if (state.language !== "hlo") return first(MLIR, stream);
    if (stream.match("/*")) return endOfComment(stream, state);
    const token = first(HLO, stream);
    const isName = token === "attributeName" && isNameOfInstruction(stream);
    return isName ? "variableName" : token;
  },
  languageData: {
    commentTokens: { line: "//" },
    closeBrackets: { brackets: ["(", "[", "{", "<", '"'] },
    indentOnInput: /^\s*\}$/,
  },
};

/** A magic's line to its end; what follows is another text. */
function magic(stream: StringStream, state: CellState): string | null {
  const token = first(MAGIC, stream);
  if (stream.eol()) state.isAtStart = false;
  return token;
}

/** The language that the next word decides, if it does: comments come before it, too. */
function firstWord(stream: StringStream): CellState["language"] {
  if (/^(?:\/\/|\/\*)/.test(stream.string.slice(stream.pos))) {
    return stream.match("/*", false) ? "hlo" : null;
  }
  return stream.match(/^HloModule\b/, false) ? "hlo" : "mlir";
}

function endOfComment(stream: StringStream, state: CellState): string {
  const end = stream.string.indexOf("*/", stream.pos);
  state.isInComment = end < 0;
  if (end < 0) stream.skipToEnd();
  else stream.pos = end + 2;
  return "comment";
}

function isNameOfInstruction(stream: StringStream): boolean {
  const found = INSTRUCTION.exec(stream.string);
  return found !== null && stream.pos <= found[0].length;
}

function first(rules: readonly Rule[], stream: StringStream): string | null {
  for (const [pattern, token] of rules) {
    if (stream.match(pattern)) return token;
  }
  stream.next();
  return null;
}

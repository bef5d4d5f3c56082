// MLIR as a language of CodeMirror, in the colours of the theme.
import {
  HighlightStyle,
  type IndentContext,
  indentService,
  indentUnit,
  LanguageSupport,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { mlirParser } from "./mlir_tokens.ts";

export const MLIR_MIME = "text/x-mlir";
export const MLIR_FILES = ["mlir", "stablehlo", "hlo"];

/** As MLIR prints. */
const STEP = "  ";

const language = StreamLanguage.define(mlirParser);

/** A colour of the theme, mixed with that of the text: alone some of them are hard to read. */
function colour(name: string): string {
  return `color-mix(in srgb, var(--jp-mirror-editor-${name}-color) 72%, var(--jp-ui-font-color0))`;
}

const style = HighlightStyle.define(
  [
    { tag: tags.meta, color: colour("meta") },
    { tag: tags.keyword, color: colour("keyword"), fontWeight: "bold" },
    { tag: tags.standard(tags.variableName), color: colour("builtin") },
    { tag: tags.definition(tags.variableName), color: colour("def") },
    { tag: tags.special(tags.variableName), color: colour("variable-2") },
    { tag: tags.attributeName, color: colour("attribute") },
    { tag: tags.labelName, color: colour("string-2") },
    { tag: tags.atom, color: colour("atom") },
    { tag: tags.number, color: colour("number") },
    { tag: tags.string, color: colour("string") },
    { tag: tags.comment, color: colour("comment"), fontStyle: "italic" },
    { tag: tags.operator, color: colour("operator") },
    { tag: tags.bracket, color: colour("bracket") },
  ],
  { scope: language },
);

/** One step in behind a brace that opens or a block's label, one out before one that closes. */
function indentation(context: IndentContext, position: number): number {
  const before = context
    .lineAt(position, -1)
    .text.replace(/\/\/.*/, "")
    .trimEnd();
  const opens = /[{(]$/.test(before) || /^\s*\^.*:$/.test(before);
  const closes = /^\s*[})]/.test(context.textAfterPos(position));
  const leading = before.length - before.trimStart().length;
  return Math.max(0, leading + (Number(opens) - Number(closes)) * context.unit);
}

export function mlir(): LanguageSupport {
  return new LanguageSupport(language, [
    syntaxHighlighting(style),
    indentUnit.of(STEP),
    indentService.of(indentation),
  ]);
}

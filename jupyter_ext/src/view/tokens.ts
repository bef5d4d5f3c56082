// Cuts a line of MLIR into coloured pieces. Knows no DOM; an apostrophe in a comment is harmless.

export type TokenKind = "op" | "symbol" | "value" | "number" | "comment" | "string" | "plain";

export interface Token {
  kind: TokenKind;
  text: string;
}

const PATTERN =
  /(?<comment>\/\/.*)|(?<symbol>@(?:"(?:[^"\\]|\\.)*"|[\w$.-]+))|(?<string>"(?:[^"\\]|\\.)*"?)|(?<value>[%^#!][\w$.:-]*\w)|(?<op>\b[a-z_]\w*(?:\.\w+)+|\b(?:module|func|call|return|private|public)\b)|(?<number>\b-?\d[\d.]*(?:e[+-]?\d+)?\b)|(?<word>[A-Za-z_]\w*)/g;

/** The pieces of a line, in order; put together again they are the line. */
export function tokens(line: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(PATTERN)) {
    const kind = kindOf(match.groups);
    if (kind === null) continue;
    if (match.index > at) found.push({ kind: "plain", text: line.slice(at, match.index) });
    found.push({ kind, text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < line.length) found.push({ kind: "plain", text: line.slice(at) });
  return found;
}

function kindOf(groups: Record<string, string | undefined> | undefined): TokenKind | null {
  for (const kind of ["comment", "symbol", "string", "value", "op", "number"] as const) {
    if (groups?.[kind] !== undefined) return kind;
  }
  return null;
}

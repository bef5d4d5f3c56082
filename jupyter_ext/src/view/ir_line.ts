// One line of IR with its number, coloured.
import { h } from "./dom.ts";
import { tokens } from "./tokens.ts";

const CLASSES: Record<string, string> = {
  op: "t-op",
  symbol: "t-sym",
  number: "t-num",
  comment: "t-com",
};

/** The spans of a line; what has no colour is plain text. */
export function irSpans(line: string): (Node | string)[] {
  return tokens(line).map(({ kind, text }) => {
    const className = CLASSES[kind];
    return className ? h("span", { class: className }, text) : text;
  });
}

/** A line as it stands in a panel or in the text view. */
export function irLine(number: number, line: string): HTMLElement {
  return h(
    "div",
    { class: "l", "data-line": number },
    h("i", { "aria-hidden": "true" }, String(number)),
    h("span", {}, ...irSpans(line)),
  );
}

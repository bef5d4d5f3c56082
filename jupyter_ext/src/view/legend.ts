// What the signs mean, and which keys there are.
import { h, s } from "./dom.ts";
import { type IconName, icon } from "./icons.ts";
import { OP_SIGNS } from "./op_words.ts";

const SIGNS: [IconName, string][] = [
  ["kept", "kept its name"],
  ["renamed", "renamed: the name was taken"],
  ["reused", "reused: equal to one that was there"],
  ["missing", "missing: nothing serves it"],
  ["declared", "declared, no body"],
  ["custom", "custom call"],
];
const LINES: [string, string][] = [
  ["call", "calls"],
  ["bound", "declaration to its definition"],
  ["custom_call", "to a custom call"],
  ["reference", "named in an attribute"],
];
const KEYS: [string, string][] = [
  ["/", "find a function or an op"],
  ["arrows", "nearest node that way, next line or row"],
  ["Enter", "select and show its text"],
  ["Space", "open: the ops of a function, what is called"],
  ["Shift+Enter", "open beside"],
  ["f  e", "fold or open a group or a region; enter it"],
  ["n  p", "next, previous hit"],
  ["+  -  0", "zoom in, out, fit"],
  ["t  c", "text of the selection, copy its name"],
  ["Alt+←  Alt+→", "back, forward"],
  ["Esc", "close card, panel; back to the tabs"],
  ["?", "this table"],
];

export function legend(): HTMLElement {
  const sign = ([name, words]: [IconName, string]) =>
    h("span", { class: "km-badge" }, icon(name), words);
  const line = ([kind, words]: [string, string]) =>
    h(
      "span",
      { class: "km-badge" },
      s(
        "svg",
        { class: "g sample", viewBox: "0 0 30 12", "aria-hidden": "true" },
        s(
          "g",
          { class: `e ${kind}` },
          s("path", { class: "curve", d: "M1 6H22" }),
          s("path", { class: "tip", d: "M29 6L21 2.7V9.3Z" }),
        ),
      ),
      words,
    );
  const entry = h(
    "span",
    { class: "km-badge" },
    s(
      "svg",
      { class: "i solid", viewBox: "0 0 12 12", "aria-hidden": "true" },
      s("path", { d: "M3 2L10 6L3 10Z" }),
    ),
    "entry",
  );
  const composite = h(
    "span",
    { class: "km-badge" },
    s(
      "svg",
      { class: "i", viewBox: "0 0 12 12", "aria-hidden": "true" },
      s("path", { d: "M1 6L6 2.5L11 6L6 9.5Z" }),
    ),
    "composite to its decomposition",
  );
  const ops = Object.entries(OP_SIGNS).map(([does, sign]) =>
    h("span", { class: "km-badge" }, h("span", { class: "km-sign" }, sign), does),
  );
  return h(
    "div",
    { class: "km-legend" },
    ...SIGNS.map(sign),
    entry,
    ...LINES.map(line),
    composite,
    ...ops,
  );
}

export function keyTable(): HTMLElement {
  return h(
    "dl",
    { class: "km-facts km-keys" },
    ...KEYS.flatMap(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)]),
  );
}

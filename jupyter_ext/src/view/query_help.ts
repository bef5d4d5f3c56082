// What may be typed into the query box.
import { button, h } from "./dom.ts";

const KEYS: [string, string][] = [
  ["op:", "name of an op: op:dot_general, op:dynamic_*"],
  ["type:", "element type or type: type:bf16"],
  ["shape:", "shape of a value: shape:128x*"],
  ["calls:", "part of what is called: calls:layer_"],
  ["unit:", "part of a unit's name"],
  ["status:", "kept, renamed, reused, missing"],
  ["target:", "part of a custom call's target"],
];

/** A table of keys; a press writes one into the box. */
export function queryHelp(insert: (key: string) => void): HTMLElement {
  return h(
    "div",
    { class: "help" },
    ...KEYS.map(([key, words]) =>
      h(
        "div",
        { class: "near" },
        button("km-link mono", { tabindex: "-1", onclick: () => insert(key) }, key),
        h("span", { class: "fg2" }, words),
      ),
    ),
    h(
      "p",
      { class: "more" },
      'Other words are parts of names. A minus in front means not. "a b" is one word.',
    ),
  );
}

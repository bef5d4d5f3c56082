// Pieces of the panel's tables: statuses with a shape and a word, numbers, buttons.
import type { PluginState, Serving, Weight } from "../protocol.ts";
import { type Child, h } from "../view/dom.ts";
import { type IconName, icon } from "../view/icons.ts";

const STATES: Record<PluginState, [IconName, Weight]> = {
  "in use": ["current", ""],
  loaded: ["disc", ""],
  probing: ["arc", ""],
  probed: ["half", ""],
  found: ["circle", ""],
  "no device": ["error", "warn"],
  broken: ["missing", "bad"],
  forgotten: ["minus", ""],
};
const SERVINGS: Record<Serving, [IconName | null, string]> = {
  served: ["served", "ok"],
  fallback: ["fallback", "warn"],
  missing: ["missing", "bad"],
  "not loaded": [null, "fg2"],
};
const WEIGHTS: Record<Weight, IconName | null> = {
  "": null,
  ok: "served",
  warn: "error",
  bad: "missing",
};

const HEADS: Record<string, string> = { "#": "num", "|": "mid", "-": "hide-s" };

/** A plugin's state. */
export function stateBadge(state: PluginState): HTMLElement {
  const [name, weight] = STATES[state];
  const word = state === "in use" ? h("b", {}, state) : state;
  return h("span", { class: `km-badge ${weight}` }, icon(name), word);
}

/** Whether a plugin serves a target; narrow panels show the shape alone. */
export function servingCell(serving: Serving, plugin: string): HTMLElement {
  const [name, weight] = SERVINGS[serving];
  const word = serving === "missing" ? h("b", {}, serving) : serving;
  return h(
    "td",
    { class: `mid ${weight}`, title: `${serving} on ${plugin}` },
    h("span", { class: "km-badge" }, name && icon(name), h("span", { class: "word" }, word)),
  );
}

/** Words of the kernel; what stands between backticks is code. */
export function spoken(words: string): HTMLElement {
  const parts = words.split("`");
  const isWhole = parts.length % 2 === 1;
  const children = parts.map((part, place) => (place % 2 ? h("code", {}, part) : part));
  return h("span", {}, ...(isWhole ? children : [words]));
}

/** Words with the sign of their weight. */
export function weighed(words: string, weight: Weight): HTMLElement {
  const name = WEIGHTS[weight];
  return h("span", { class: `km-badge ${weight}` }, name && icon(name), words);
}

/** A cell; one without a value shows a dash, and nothing in narrow panels. */
export function value(words: Child, label = "", className = ""): HTMLElement {
  const isNil = words === "" || words === null;
  return h(
    "td",
    { class: isNil ? `nil ${className}` : className, "data-l": label || null },
    isNil ? h("span", { class: "fg2" }, "–") : words,
  );
}

/** A cell of a number. */
export function amount(words: string, label: string): HTMLElement {
  return value(words, label, "num");
}

/** A table's head: `#` stands before labels of numbers, `|` before centred ones, `-` before those
 * that narrow panels leave out. */
export function head(...labels: string[]): HTMLElement {
  const cells = labels.map((label) => {
    const className = HEADS[label[0] ?? ""] ?? null;
    return h("th", { scope: "col", class: className }, className ? label.slice(1) : label);
  });
  return h("thead", {}, h("tr", {}, ...cells));
}

/** The part of the panel that scrolls sideways where a table is wider than it. */
export function scrolling(label: string, ...children: Child[]): HTMLElement {
  return h(
    "div",
    { class: "km-scroll", tabindex: "0", role: "region", "aria-label": label },
    ...children,
  );
}

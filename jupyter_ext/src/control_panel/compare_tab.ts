// One function on several plugins: times as bars, differences, results.
import type { CompareRow, CompareView, PanelView } from "../protocol.ts";
import { button, fill, h, set } from "../view/dom.ts";
import { amount, head, scrolling, value, weighed } from "./cells.ts";
import type { Ask } from "./source.ts";

const LABELS = [
  "Plugin",
  "#Compile",
  "#Run",
  "Shorter is faster",
  "#Peak memory",
  "#Max abs diff",
  "#Max ULP",
  "Result",
];

export class CompareTab {
  readonly element = h("div", { class: "km-compare" });
  readonly #select = h("select", { class: "km-select", "aria-label": "Function" });
  readonly #chosen = new Set<string>();
  readonly #ask: (command: Ask) => void;

  constructor(ask: (command: Ask) => void) {
    this.#ask = ask;
  }

  draw(view: PanelView): void {
    const [latest] = view.comparisons;
    fill(
      this.element,
      view.functions.length > 0 && this.#form(view),
      view.comparing !== "" && h("p", { class: "km-note", role: "status" }, view.comparing),
      latest ? result(latest) : this.#nothing(view),
    );
  }

  #form(view: PanelView): HTMLElement {
    const before = this.#select.value;
    fill(
      this.#select,
      ...view.functions.map((name) =>
        h("option", { value: name, selected: name === before }, name),
      ),
    );
    const names = view.plugins
      .filter((row) => row.state === "in use" || row.state === "loaded")
      .map((row) => row.name);
    const run = () =>
      this.#ask({
        kind: "compare",
        function: this.#select.value,
        plugins: names.filter((name) => !this.#chosen.has(name)),
      });
    return h(
      "div",
      { class: "km-bar thin km-run" },
      this.#select,
      h("span", { class: "fg2" }, "on"),
      ...names.map((name) => this.#box(name)),
      h("span", { class: "grow" }),
      button("km-btn primary", { onclick: run, disabled: view.comparing !== "" }, "Compare"),
    );
  }

  /** All that are loaded, but for those that were taken out. */
  #box(name: string): HTMLElement {
    const box = h("input", { type: "checkbox", checked: !this.#chosen.has(name) });
    const choose = () => {
      if (box.checked) this.#chosen.delete(name);
      else this.#chosen.add(name);
    };
    set(box, { onchange: choose });
    return h("label", { class: "check" }, box, ` ${name}`);
  }

  #nothing(view: PanelView): HTMLElement {
    const words =
      view.functions.length > 0
        ? "Nothing was compared yet. Arguments are made from the signature, with a seed."
        : "The session has no function yet: run a %%hlo cell, then compare it here.";
    return h("p", { class: "km-empty" }, words);
  }
}

function result(view: CompareView): HTMLElement {
  return h(
    "div",
    {},
    h(
      "div",
      { class: "km-bar thin" },
      h("code", {}, h("b", {}, view.title)),
      h("span", { class: "fg2" }, view.conditions),
    ),
    scrolling(
      "Comparison",
      h("table", { class: "km-stack" }, head(...LABELS), h("tbody", {}, ...view.rows.map(row))),
    ),
    h("div", { class: "km-status" }, h("span", {}, view.summary)),
  );
}

function row(one: CompareRow): HTMLElement {
  const name = h("td", {}, h("code", {}, h("b", {}, one.plugin)));
  if (one.problem) {
    const words = h("td", { colspan: 6, class: "bad", title: one.problem }, one.problem);
    return h("tr", {}, name, words, h("td", {}, weighed("error", "bad")));
  }
  const bar = h("i", { class: one.is_fastest && "best", style: `width:${100 * one.share}%` });
  return h(
    "tr",
    {},
    name,
    amount(one.compile, "compile"),
    amount(one.run, "run"),
    h("td", { class: "bars" }, h("span", { class: "km-bars" }, bar)),
    amount(one.memory, "peak"),
    amount(one.difference, "diff"),
    amount(one.ulp, "ULP"),
    value(weighed(one.result, one.weight)),
  );
}

// Registered targets, and which of those that the session calls are served where.
import type { CallRow, CoverageRow, PanelView } from "../protocol.ts";
import { button, h } from "../view/dom.ts";
import { icon } from "../view/icons.ts";
import { amount, head, scrolling, servingCell, value, weighed } from "./cells.ts";
import type { Ask } from "./source.ts";

export interface CallEvents {
  ask(command: Ask): void;
  toggle(target: string): void;
  /** Fills the form for a target. */
  replace(target: string): void;
}

/** The table of targets; `open` are those whose error is shown whole. */
export function callsTable(
  view: PanelView,
  open: ReadonlySet<string>,
  events: CallEvents,
): HTMLElement {
  if (view.calls.length === 0) return noCalls();
  const rows = view.calls.flatMap((row) => {
    const isOpen = open.has(row.target) && row.detail !== "";
    const main = callRow(row, isOpen, events);
    return isOpen ? [main, details(row)] : [main];
  });
  const labels = [
    "Target",
    "Served by",
    "On",
    "Contract",
    "#Calls",
    "#Mean",
    "Last error",
    "#Actions",
  ];
  return scrolling(
    "Registered targets",
    h("table", { class: "km-stack" }, head(...labels), h("tbody", {}, ...rows)),
  );
}

/** Targets that the session calls against plugins. */
export function coverageTable(view: PanelView): HTMLElement {
  if (view.coverage.length === 0) {
    return h("p", { class: "km-empty" }, "No function of the session makes a custom call.");
  }
  const row = (one: CoverageRow) =>
    h(
      "tr",
      {},
      h("td", {}, h("code", {}, h("b", {}, one.target))),
      ...one.cells.map((cell, place) => servingCell(cell, view.covered[place] ?? "")),
      h("td", { class: "hide-s", title: one.called_in }, h("code", {}, one.called_in)),
    );
  return scrolling(
    "Coverage",
    h(
      "table",
      { class: "km-coverage" },
      head("Target", ...view.covered.map((name) => `|${name}`), "-Called in"),
      h("tbody", {}, ...view.coverage.map(row)),
    ),
  );
}

/** What the shapes of the coverage table mean, for narrow panels that show no words. */
export function coverageKey(): HTMLElement {
  return h(
    "span",
    { class: "km-badge fg2 show-s" },
    icon("served"),
    "served",
    icon("fallback"),
    "fallback",
    icon("missing"),
    "missing",
  );
}

function callRow(row: CallRow, isOpen: boolean, events: CallEvents): HTMLElement {
  const count = row.calls.toLocaleString("en");
  return h(
    "tr",
    {},
    h("td", {}, h("code", {}, h("b", {}, row.target))),
    h("td", { title: row.served_by }, row.served_by),
    value(row.plugins, "on"),
    h("td", { class: row.contract ? "mono" : "nil", title: row.contract }, row.contract || "–"),
    amount(count, "calls"),
    amount(row.mean, "mean"),
    row.problem ? problem(row, isOpen, events) : h("td", { class: "fg2 nil" }, "none"),
    h("td", { class: "act" }, ...actions(row.target, events)),
  );
}

function actions(target: string, events: CallEvents): HTMLElement[] {
  return [
    button(
      "km-btn",
      { "aria-label": `Replace the handler of ${target}`, onclick: () => events.replace(target) },
      "Replace",
    ),
    button(
      "km-btn",
      {
        "aria-label": `Unregister ${target}`,
        onclick: () => events.ask({ kind: "unregister", target }),
      },
      "Unregister",
    ),
  ];
}

/** The last error; where more is known of it, a button shows that. */
function problem(row: CallRow, isOpen: boolean, events: CallEvents): HTMLElement {
  if (!row.detail) return h("td", { title: row.problem }, weighed(row.problem, "bad"));
  const toggle = () => events.toggle(row.target);
  const attributes = { title: row.problem, "aria-expanded": String(isOpen), onclick: toggle };
  return h("td", {}, button("km-link bad", attributes, icon("missing"), ` ${row.problem}`));
}

function details(row: CallRow): HTMLElement {
  const error = h("pre", { tabindex: "0", "aria-label": `Error of ${row.target}` }, row.detail);
  return h("tr", { class: "more" }, h("td", { colspan: 8 }, h("b", {}, row.problem), error));
}

function noCalls(): HTMLElement {
  return h(
    "div",
    { class: "km-empty" },
    h("p", {}, "No target is registered. A library's symbol can be registered below; in a cell:"),
    h("pre", { tabindex: "0" }, "%%custom_call rms_norm\n// a C++ function and its binding"),
  );
}

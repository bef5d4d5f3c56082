// The table of plugins: state, where they come from, what they have, what can be done.
import type { PanelView, PluginAction, PluginRow } from "../protocol.ts";
import { button, copy, h } from "../view/dom.ts";
import { amount, head, scrolling, spoken, stateBadge, value } from "./cells.ts";
import type { Ask } from "./source.ts";

const COLUMNS = 8;
const LABELS: Record<PluginAction, string> = {
  use: "Use",
  load: "Load",
  probe: "Probe",
  forget: "Forget",
};

export interface PluginEvents {
  ask(command: Ask): void;
  toggle(name: string): void;
  announce(words: string): void;
}

/** The table; `open` are the plugins whose error is shown whole. */
export function pluginsTable(
  view: PanelView,
  open: ReadonlySet<string>,
  events: PluginEvents,
): HTMLElement {
  const rows = view.plugins.flatMap((row) => {
    const isOpen = open.has(row.name) && row.detail !== "";
    const main = pluginRow(row, isOpen, events);
    return isOpen ? [main, details(row, events)] : [main];
  });
  const labels = ["State", "Plugin", "Source", "#PJRT", "#FFI", "Devices", "#Memory", "#Actions"];
  return scrolling(
    "Plugins",
    h("table", { class: "km-stack" }, head(...labels), h("tbody", {}, ...rows)),
  );
}

function pluginRow(row: PluginRow, isOpen: boolean, events: PluginEvents): HTMLElement {
  return h(
    "tr",
    { class: row.state === "in use" && "sel" },
    h("td", {}, stateBadge(row.state)),
    h("td", {}, h("code", {}, h("b", {}, row.name))),
    h("td", { title: row.source }, row.source),
    ...facts(row),
    h("td", { class: "act" }, ...actions(row, isOpen, events)),
  );
}

function facts(row: PluginRow): HTMLElement[] {
  if (row.waiting) {
    return [h("td", { colspan: 4, class: "fg2", role: "status" }, row.waiting)];
  }
  const versions = [amount(row.pjrt, "PJRT"), amount(row.ffi, "FFI")];
  if (row.problem) {
    const weight = row.state === "broken" ? "bad" : "warn";
    return [
      ...versions,
      h("td", { colspan: 2, class: weight, title: row.problem }, spoken(row.problem)),
    ];
  }
  return [...versions, value(row.devices), amount(row.memory, "memory")];
}

function actions(row: PluginRow, isOpen: boolean, events: PluginEvents): HTMLElement[] {
  const made = row.actions.map((action) => {
    const isMain = action === "use";
    const isAgain = action === "probe" && row.state !== "found";
    return button(
      isMain ? "km-btn primary" : "km-btn",
      {
        "aria-label": `${LABELS[action]} ${row.name}`,
        onclick: () => events.ask({ kind: "plugin", action, name: row.name }),
      },
      isAgain ? "Probe again" : LABELS[action],
    );
  });
  if (row.detail) {
    const more = button(
      "km-btn",
      {
        "aria-expanded": String(isOpen),
        "aria-label": `Details of ${row.name}`,
        onclick: () => events.toggle(row.name),
      },
      "Details",
    );
    made.unshift(more);
  }
  const isCurrent = row.state === "in use" && made.length === 0;
  return isCurrent ? [h("span", { class: "fg2 hide-s" }, "current")] : made;
}

function details(row: PluginRow, events: PluginEvents): HTMLElement {
  const copied = () => {
    void copy(row.detail);
    events.announce("error copied");
  };
  return h(
    "tr",
    { class: "more" },
    h(
      "td",
      { colspan: COLUMNS },
      h("b", {}, spoken(row.problem)),
      h("pre", { tabindex: "0", "aria-label": `Error of ${row.name}` }, row.detail),
      spoken(row.advice),
      " ",
      button("km-link", { onclick: copied }, "Copy error"),
    ),
  );
}

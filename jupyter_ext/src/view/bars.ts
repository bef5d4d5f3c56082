// View bar and path bar: tabs, query box, the way back, the tools of a view.
import type { ModuleView } from "../protocol.ts";
import { button, type Child, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";
import { unitChip } from "./outline_view.ts";
import type { Store, Tab } from "./store.ts";

const TABS: [Tab, string][] = [
  ["functions", "Functions"],
  ["ops", "Ops"],
  ["text", "Text"],
  ["symbols", "Symbols"],
  ["diff", "Diff"],
];
const MOST_CHIPS = 6;

/** The tabs: one stop of the Tab key, arrows move between them. */
export function tabList(store: Store, panelId: string): { element: HTMLElement; draw(): void } {
  const tabs = TABS.map(([tab, label]) =>
    button(
      "km-tab",
      { role: "tab", "aria-controls": panelId, onclick: () => store.go({ tab, line: 0 }) },
      label,
    ),
  );
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = TABS.findIndex(([tab]) => tab === store.state.tab);
    const next = (at + step + TABS.length) % TABS.length;
    store.go({ tab: TABS[next]?.[0] ?? "functions", line: 0 });
    tabs[next]?.focus();
  };
  const element = h(
    "div",
    { class: "km-tabs", role: "tablist", "aria-label": "Views", onkeydown: move },
    ...tabs,
  );
  const draw = () => {
    TABS.forEach(([tab], index) => {
      const isCurrent = tab === store.state.tab;
      tabs[index]?.setAttribute("aria-selected", String(isCurrent));
      tabs[index]?.setAttribute("tabindex", isCurrent ? "0" : "-1");
    });
  };
  return { element, draw };
}

/** Where one is; each part but the last leads there. `entered` are the regions gone into. */
export function drawPath(
  element: HTMLElement,
  view: ModuleView,
  store: Store,
  entered: readonly Child[],
): void {
  const { tab, selected } = store.state;
  const node = view.nodes.find((other) => other.id === selected);
  const name = node ? node.name : selected && `@${selected}`;
  const parts: Child[] = [
    selected
      ? button(
          "",
          { onclick: () => store.go({ tab: "functions", selected: "", line: 0 }) },
          view.title,
        )
      : h("b", {}, view.title),
  ];
  if (tab !== "functions") parts.push(h("span", { class: "fg2" }, "›"), h("span", {}, tab));
  if (selected) {
    const last =
      entered.length > 0
        ? button("", { title: name, onclick: () => store.go({ root: "", focus: "" }) }, name)
        : h("b", { title: name }, name);
    parts.push(h("span", { class: "fg2" }, "›"), last);
  }
  fill(element, ...parts, ...entered);
}

/** Back and forward. */
export function history(store: Store): { element: HTMLElement; draw(): void } {
  const back = button(
    "km-btn icon",
    { "aria-label": "Back", title: "Back (Alt+←)", onclick: () => store.back() },
    icon("back"),
  );
  const forward = button(
    "km-btn icon",
    { "aria-label": "Forward", title: "Forward (Alt+→)", onclick: () => store.forward() },
    icon("forward"),
  );
  const draw = () => {
    back.disabled = !store.canGoBack;
    forward.disabled = !store.canGoForward;
  };
  return { element: h("span", { class: "km-history" }, back, forward), draw };
}

/** The units, each a switch that lets its functions step back. */
export function unitFilters(view: ModuleView, store: Store): HTMLElement[] {
  if (view.units.length < 2) return [];
  return view.units.slice(0, MOST_CHIPS).map((unit, place) => {
    const isShown = !store.state.dimmed.includes(place);
    const toggle = () => {
      const { dimmed } = store.state;
      store.update({
        dimmed: isShown ? [...dimmed, place] : dimmed.filter((other) => other !== place),
      });
    };
    return button(
      isShown ? "km-chip" : "km-chip off",
      {
        "aria-pressed": String(isShown),
        "aria-label": `Unit ${unit.name}`,
        title: isShown ? `Let unit ${unit.name} step back` : `Show unit ${unit.name} again`,
        onclick: toggle,
      },
      unitChip(place, view),
      h("span", { class: "hide-s" }, unit.name),
    );
  });
}

/** Graph or outline: the same data. */
export function formSwitch(store: Store, isOutline: boolean): HTMLElement {
  const make = (form: "graph" | "outline", label: string) =>
    button(
      "",
      {
        "aria-pressed": String((form === "outline") === isOutline),
        onclick: () => store.update({ form }),
      },
      label,
    );
  return h(
    "div",
    { class: "km-seg", role: "group", "aria-label": "Form" },
    make("graph", "Graph"),
    make("outline", "Outline"),
  );
}

/** Which text is shown. */
export function textChoice(view: ModuleView, store: Store): HTMLElement {
  const select = h("select", {
    class: "km-select",
    "aria-label": "Which text",
    onchange: () => store.go({ text: Number(select.value), line: 0 }),
  });
  const option = (value: number, label: string) =>
    h("option", { value, selected: value === store.state.text }, label);
  const units = view.units.flatMap((unit, place) =>
    unit.has_text ? [option(place, `${unit.letter} ${unit.name}`)] : [],
  );
  fill(select, option(-1, view.text_word), ...units);
  return select;
}

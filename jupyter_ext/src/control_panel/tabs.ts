// The tabs of the panel: one stop of the Tab key, arrows move between them.
import { button, h } from "../view/dom.ts";

export type PanelTab = "plugins" | "calls" | "compare";

const TABS: [PanelTab, string][] = [
  ["plugins", "Plugins"],
  ["calls", "Custom calls"],
  ["compare", "Compare"],
];

/** The tab list; `draw` marks the current one. */
export function panelTabs(
  bodyId: string,
  go: (tab: PanelTab) => void,
): { element: HTMLElement; draw(current: PanelTab): void } {
  const tabs = TABS.map(([tab, label]) =>
    button("km-tab", { role: "tab", "aria-controls": bodyId, onclick: () => go(tab) }, label),
  );
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(event.target as HTMLButtonElement);
    if (step === undefined || at < 0 || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (at + step + TABS.length) % TABS.length;
    go(TABS[next]?.[0] ?? "plugins");
    tabs[next]?.focus();
  };
  const attributes = { class: "km-tabs", role: "tablist", "aria-label": "Parts" };
  const element = h("div", { ...attributes, onkeydown: move }, ...tabs);
  const draw = (current: PanelTab) => {
    TABS.forEach(([tab], place) => {
      tabs[place]?.setAttribute("aria-selected", String(tab === current));
      tabs[place]?.setAttribute("tabindex", tab === current ? "0" : "-1");
    });
  };
  return { element, draw };
}

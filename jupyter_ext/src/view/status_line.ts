// The last line: counts, the one problem worth acting on, what is folded, how it was laid out.
import type { ModuleView } from "../protocol.ts";
import { button, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { ModuleSource } from "./source.ts";

export interface StatusEvents {
  /** Folds what was opened. */
  close(): void;
  csv: (() => void) | null;
  problem(name: string): void;
}

/** Draws the line; `own` is what the current view says of itself. */
export function drawStatus(
  element: HTMLElement,
  source: ModuleSource,
  own: string,
  events: StatusEvents,
): void {
  const view = source.current();
  const note = source.note();
  const [missing] = view.missing;
  const others = view.missing.length - 1;
  fill(
    element,
    h("span", {}, own || view.counts.join(" · ")),
    missing !== undefined &&
      h(
        "span",
        { class: "bad" },
        icon("missing"),
        ` ${missing} is missing${others > 0 ? `, and ${others} more` : ""} `,
        button("km-link", { onclick: () => events.problem(missing) }, "Show it"),
      ),
    view.folded !== "" &&
      !own &&
      h(
        "span",
        { title: "At most 200 functions are drawn at first: those nearest to the entries" },
        view.folded,
      ),
    view.opened.length > 0 &&
      !own &&
      button("km-link", { onclick: () => events.close() }, "Fold again"),
    note !== "" && h("span", {}, note),
    h("span", { class: "grow" }),
    own === "" && h("span", { class: "wide" }, layout(view)),
    events.csv !== null && button("km-link", { onclick: events.csv }, "Copy as CSV"),
  );
}

function layout(view: ModuleView): string {
  const time = `${Math.round(view.layout_time_ms).toLocaleString("en")} ms`;
  return view.engine === "plain" ? `simple layout, ${time}` : `laid out in ${time}`;
}

// The last line: counts, the one problem worth acting on, what is folded, how it was laid out.
import { button, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { ModuleSource } from "./source.ts";

/** What laid a drawing out, and how long that took. */
export interface LaidOut {
  engine: string;
  layout_time_ms: number;
}

const WHY_FOLDED =
  "At most 800 ops are drawn at a time: regions first, then groups by name scope, then by order";

export interface StatusEvents {
  /** Folds what was opened; null where nothing was. */
  close: (() => void) | null;
  csv: (() => void) | null;
  problem(name: string): void;
}

/** Draws the line; `own` is what the current view says of itself, if it is not the functions. */
export function drawStatus(
  element: HTMLElement,
  source: ModuleSource,
  own: string,
  laidOut: LaidOut | null,
  events: StatusEvents,
): void {
  const view = source.current();
  const note = source.note();
  const [missing] = view.missing;
  const others = view.missing.length - 1;
  fill(
    element,
    h("span", { title: own.includes("folded") && WHY_FOLDED }, own || view.counts.join(" · ")),
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
    events.close !== null && button("km-link", { onclick: events.close }, "Fold again"),
    note !== "" && h("span", {}, note),
    h("span", { class: "grow" }),
    laidOut !== null && h("span", { class: "wide" }, layout(laidOut)),
    events.csv !== null && button("km-link", { onclick: events.csv }, "Copy as CSV"),
  );
}

function layout({ engine, layout_time_ms }: LaidOut): string {
  const time = `${Math.round(layout_time_ms).toLocaleString("en")} ms`;
  return engine === "plain" ? `simple layout, ${time}` : `laid out in ${time}`;
}

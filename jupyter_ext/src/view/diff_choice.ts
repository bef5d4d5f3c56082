// Which texts are compared, and the way from change to change.
import { button, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";

/** Values and what stands for them. */
type Options = readonly (readonly [string, string])[];

export interface Choice {
  units: Options;
  versions: Options;
  unit: string;
  left: string;
  right: string;
  /** From 0; -1 before the first step. */
  change: number;
  changeCount: number;
}

export interface ChoiceEvents {
  unit(to: string): void;
  left(to: string): void;
  right(to: string): void;
  walk(step: 1 | -1): void;
}

export function drawChoice(element: HTMLElement, choice: Choice, events: ChoiceEvents): void {
  const { units, versions, change, changeCount } = choice;
  const place = change < 0 ? "–" : String(change + 1);
  const step = (label: string, name: "up" | "down", by: 1 | -1) => {
    const act = { "aria-label": label, title: label, onclick: () => events.walk(by) };
    return button("km-btn icon", { ...act, disabled: changeCount === 0 }, icon(name));
  };
  fill(
    element,
    units.length > 1 && select("Unit", units, choice.unit, events.unit),
    select("Left text", versions, choice.left, events.left),
    h("span", { class: "fg2", "aria-hidden": "true" }, "→"),
    select("Right text", versions, choice.right, events.right),
    h("span", { class: "grow" }),
    h("span", { class: "fg2 num" }, changeCount === 0 ? "" : `${place} of ${changeCount}`),
    step("Change before (p)", "up", -1),
    step("Next change (n)", "down", 1),
  );
}

function select(
  label: string,
  options: Options,
  now: string,
  chosen: (to: string) => void,
): HTMLElement {
  const element = h(
    "select",
    { class: "km-select", "aria-label": label, onchange: () => chosen(element.value) },
    ...options.map(([value, words]) => h("option", { value, selected: value === now }, words)),
  );
  return element;
}

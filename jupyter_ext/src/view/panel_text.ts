// What side panels are made of: the text with its numbers, and the switch between texts.
import type { FunctionText, ModuleView } from "../protocol.ts";
import { button, type Child, h } from "./dom.ts";
import { type IconName, icon } from "./icons.ts";
import { irLine } from "./ir_line.ts";
import { plural } from "./words.ts";

const MOST_TEXTS = 5;

export interface TextBox {
  /** The line that is marked; 0 for none. */
  line: number;
  wraps: boolean;
  /** A line was clicked. */
  go(line: number): void;
}

/** A text, indented as little as can be. */
export function textBox(text: FunctionText, label: string, box: TextBox): HTMLElement {
  const indent = commonIndent(text.lines);
  const lines = text.lines.map((line, index) => {
    const row = irLine(text.first + index, line.slice(indent));
    row.classList.toggle("sel", text.first + index === box.line);
    return row;
  });
  const more =
    text.left_out > 0 && h("p", { class: "more" }, `… ${plural(text.left_out, "more line")}`);
  return h(
    "div",
    {
      class: box.wraps ? "km-text wrap" : "km-text",
      tabindex: "0",
      role: "region",
      "aria-label": label,
      onclick: (event: MouseEvent) => {
        const line = event.target instanceof Element && event.target.closest("[data-line]");
        if (line) box.go(Number(line.getAttribute("data-line")));
      },
    },
    ...lines,
    more,
  );
}

/** Merged or as a unit has it; nothing where there is no choice. */
export function textSwitch(
  texts: readonly FunctionText[],
  current: number,
  view: ModuleView,
  choose: (text: number) => void,
): Child {
  if (texts.length < 2) return null;
  const label = (text: number) => {
    const unit = view.units[text];
    if (!unit) return view.text_word;
    return texts.length > 2 ? unit.letter : "Unit";
  };
  const buttons = texts.slice(0, MOST_TEXTS).map(({ text }) => {
    const unit = view.units[text];
    return button(
      "",
      {
        "aria-pressed": String(text === current),
        title: unit ? `As unit ${unit.name} has it` : "As the module has it",
        onclick: () => choose(text),
      },
      label(text),
    );
  });
  return h("div", { class: "km-seg", role: "group", "aria-label": "Which text" }, ...buttons);
}

/** A small button in a panel's head. */
export function tool(
  label: string,
  name: IconName,
  act: () => void,
  pressed?: boolean,
): HTMLElement {
  return button(
    "km-btn icon",
    { "aria-label": label, title: label, onclick: act, "aria-pressed": pressed },
    icon(name),
  );
}

/** Terms and what is said of them; a term without a value is left out. */
export function factList(facts: readonly [string, Child][]): HTMLElement {
  const shown = facts.filter(([, value]) => value !== null);
  return h(
    "dl",
    { class: "km-facts" },
    ...shown.flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]),
  );
}

/** Functions of a module are indented as a whole; a panel need not be. */
function commonIndent(lines: readonly string[]): number {
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  return indents.length > 0 ? Math.min(...indents) : 0;
}

// The bars above a view: what is amiss, why, and what to do. Nothing is hidden behind them.
import { button, fill, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { ModuleSource } from "./source.ts";

export interface NoteEvents {
  redraw(): void;
}

/** Draws the bars that hold at this moment. */
export function drawNotes(
  element: HTMLElement,
  source: ModuleSource,
  failure: string,
  events: NoteEvents,
): void {
  const at = source.current().drawn_at;
  const again = (label: string) => button("km-link", { onclick: () => events.redraw() }, label);
  const notes: HTMLElement[] = [];
  switch (source.connection()) {
    case "saved":
      notes.push(
        note(
          "",
          `Saved view of ${at}. What was kept with the notebook can be used; for the rest, run the cell again.`,
        ),
      );
      break;
    case "gone":
      notes.push(
        note(
          "warn",
          `The kernel is gone. This is the view of ${at}: graph and names stay usable, texts that were not read are not. Run the cell again to go on.`,
        ),
      );
      break;
    case "silent":
      notes.push(
        note(
          "warn",
          "The kernel does not answer: it is busy with a cell, or gone. The view stays as it is.",
          again("Ask again"),
        ),
      );
      break;
    default:
      break;
  }
  if (source.isOutdated()) {
    notes.push(note("", `The module has changed since ${at}.`, again("Draw it again")));
  }
  if (failure) notes.push(note("bad", `That did not work: ${failure}.`));
  fill(element, ...notes);
}

function note(kind: "" | "warn" | "bad", words: string, action?: HTMLElement): HTMLElement {
  return h(
    "div",
    { class: `km-note ${kind}` },
    kind !== "" && icon("error"),
    h("span", {}, words),
    action ?? null,
  );
}

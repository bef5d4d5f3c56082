// The form that loads a plugin from a path.
import { button, fill, h } from "../view/dom.ts";
import { spoken } from "./cells.ts";
import { type Ask, Refused } from "./source.ts";

/** A form in a bar; `done` closes it. */
export function loadForm(ask: (command: Ask) => Promise<void>, done: () => void): HTMLElement {
  const name = h("input", { required: true, autocomplete: "off", spellcheck: "false" });
  const path = h("input", { required: true, autocomplete: "off", spellcheck: "false" });
  const problem = h("div", { class: "problem bad", role: "alert", hidden: true });
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await ask({ kind: "load_path", name: name.value.trim(), path: path.value.trim() });
      done();
    } catch (error) {
      problem.hidden = false;
      const advice = error instanceof Refused ? error.advice : "";
      fill(
        problem,
        h("div", {}, spoken(error instanceof Error ? error.message : String(error))),
        error instanceof Refused && error.detail && h("pre", { tabindex: "0" }, error.detail),
        advice !== "" && h("div", {}, spoken(advice)),
      );
    }
  };
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    done();
  };
  const listeners = { onsubmit: (event: Event) => void submit(event), onkeydown: leave };
  return h(
    "form",
    { class: "km-form", "aria-label": "Load from path", ...listeners },
    h("label", {}, "Name", name),
    h("label", {}, "Path of the shared library", path),
    problem,
    h(
      "div",
      { class: "buttons" },
      button("km-btn primary", { type: "submit" }, "Load"),
      button("km-btn", { onclick: done }, "Cancel"),
    ),
  );
}

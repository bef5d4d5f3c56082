// The form that registers a library's symbol. Keeps what was typed while tables come and go.
import type { PanelView } from "../protocol.ts";
import { button, fill, h, set } from "../view/dom.ts";
import { spoken } from "./cells.ts";
import { type Ask, Refused } from "./source.ts";

export class RegisterForm {
  readonly element: HTMLFormElement;
  readonly #target = h("input", { required: true, autocomplete: "off", spellcheck: "false" });
  readonly #library = h("input", { required: true, autocomplete: "off", spellcheck: "false" });
  readonly #symbol = h("input", { autocomplete: "off", spellcheck: "false" });
  readonly #trial = h("input", { type: "checkbox", checked: true });
  readonly #plugins = h("div", { class: "checks", role: "group", "aria-label": "Plugins" });
  readonly #problem: HTMLElement;
  readonly #chosen = new Set<string>();
  readonly #ask: (command: Ask) => Promise<void>;

  constructor(ask: (command: Ask) => Promise<void>) {
    this.#ask = ask;
    const id = `km-form-${Math.random().toString(36).slice(2)}`;
    this.#problem = h("div", { class: "problem bad", id, role: "alert", hidden: true });
    const submit = (event: Event) => {
      event.preventDefault();
      void this.#submit();
    };
    this.element = h(
      "form",
      { class: "km-form", onsubmit: submit, "aria-label": "Register a handler" },
      label("Target", this.#target),
      label("Library", this.#library),
      label("Symbol", this.#symbol, "the target's name where left out"),
      h(
        "div",
        { class: "checks" },
        this.#plugins,
        h("label", { class: "check" }, this.#trial, " try in a child process first"),
      ),
      this.#problem,
      h("div", {}, button("km-btn primary", { type: "submit" }, "Register")),
    );
  }

  /** Offers the plugins that are loaded. */
  draw(view: PanelView): void {
    const names = view.plugins
      .filter((row) => row.state === "in use" || row.state === "loaded")
      .map((row) => row.name);
    const boxes = names.map((name) => {
      const box = h("input", { type: "checkbox", checked: this.#chosen.has(name) });
      const choose = () => {
        if (box.checked) this.#chosen.add(name);
        else this.#chosen.delete(name);
      };
      set(box, { onchange: choose });
      return h("label", { class: "check" }, box, ` ${name}`);
    });
    fill(this.#plugins, h("span", { class: "fg2" }, "none chosen: everywhere"), ...boxes);
  }

  /** Begins with a target; the focus goes to what is to be said of it. */
  begin(target: string): void {
    this.#target.value = target;
    this.#library.focus();
  }

  async #submit(): Promise<void> {
    try {
      await this.#ask({
        kind: "register",
        target: this.#target.value.trim(),
        library: this.#library.value.trim(),
        symbol: this.#symbol.value.trim(),
        plugins: [...this.#chosen],
        is_tried: this.#trial.checked,
      });
      this.#say("", "", "");
    } catch (error) {
      if (error instanceof Refused) this.#say(error.message, error.advice, error.detail);
      else this.#say(error instanceof Error ? error.message : String(error), "", "");
    }
  }

  #say(message: string, advice: string, detail: string): void {
    this.#problem.hidden = message === "";
    for (const input of [this.#target, this.#library, this.#symbol]) {
      set(input, { "aria-describedby": message !== "" && this.#problem.id });
    }
    fill(
      this.#problem,
      h("div", {}, spoken(message)),
      detail !== "" && h("pre", { tabindex: "0" }, detail),
      advice !== "" && h("div", {}, spoken(advice)),
    );
  }
}

function label(words: string, input: HTMLInputElement, hint = ""): HTMLElement {
  if (hint) set(input, { placeholder: hint });
  return h("label", {}, words, input);
}

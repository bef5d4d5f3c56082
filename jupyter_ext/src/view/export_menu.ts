// The menu of the view bar: files to take along, a fresh start, the table of keys.
import type { Answers, Command } from "../protocol.ts";
import { button, fill, h, set } from "./dom.ts";
import { icon } from "./icons.ts";
import type { ModuleSource } from "./source.ts";

type Form = Extract<Command, { kind: "export" }>["form"];

const FORMS: [Form, string][] = [
  ["svg", "Save as SVG"],
  ["png", "Save as PNG"],
  ["dot", "Save as DOT"],
  ["html", "Save as HTML page"],
];

export interface MenuEvents {
  /** Id of the function whose ops are shown; empty where it is functions that are. */
  function(): string;
  announce(words: string): void;
  failed(message: string): void;
  reset(): void;
  keys(): void;
}

export class ExportMenu {
  readonly element: HTMLElement;
  readonly #source: ModuleSource;
  readonly #events: MenuEvents;
  readonly #list = h("div", { class: "km-menu", role: "menu", "aria-label": "Menu", hidden: true });
  readonly #opener: HTMLButtonElement;
  readonly #outside = (event: Event) => {
    if (!event.composedPath().includes(this.element)) this.close();
  };

  constructor(source: ModuleSource, events: MenuEvents) {
    this.#source = source;
    this.#events = events;
    this.#opener = button(
      "km-btn icon",
      {
        "aria-label": "Menu",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        title: "Save, reset, keys",
        onclick: () => (this.#list.hidden ? this.#open() : this.close()),
      },
      icon("menu"),
    );
    this.element = h(
      "div",
      { class: "km-menubox", onkeydown: (event: KeyboardEvent) => this.#key(event) },
      this.#opener,
      this.#list,
    );
  }

  dispose(): void {
    document.removeEventListener("pointerdown", this.#outside, true);
  }

  /** True if it was open. */
  close(): boolean {
    if (this.#list.hidden) return false;
    const hadFocus = this.#list.contains(document.activeElement);
    this.#list.hidden = true;
    this.#opener.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.#outside, true);
    if (hadFocus) this.#opener.focus();
    return true;
  }

  #open(): void {
    const isServed = ["live", "silent"].includes(this.#source.connection());
    const files = FORMS.map(([form, label]) => {
      const item = this.#item(label, () => void this.#save(form));
      // A disabled button has no focus, and so could not say why.
      if (!isServed) set(item, { "aria-disabled": "true", title: "It needs the kernel" });
      return item;
    });
    fill(
      this.#list,
      ...files,
      h("hr", {}),
      this.#item("Reset the view", () => this.#events.reset()),
      this.#item("Keys and signs", () => this.#events.keys(), "?"),
    );
    this.#list.hidden = false;
    this.#opener.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.#outside, true);
    files[0]?.focus();
  }

  #item(label: string, act: () => void, key = ""): HTMLButtonElement {
    const run = () => {
      if (item.getAttribute("aria-disabled") === "true") return;
      this.close();
      act();
    };
    const item = button(
      "km-menuitem",
      { role: "menuitem", tabindex: "-1", onclick: run },
      h("span", {}, label),
      key !== "" && h("kbd", { "aria-hidden": "true" }, key),
    );
    return item;
  }

  #key(event: KeyboardEvent): void {
    if (this.#list.hidden) return;
    const items = [...this.#list.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: -1,
    }[event.key];
    if (to !== undefined) items.at(to % items.length)?.focus();
    else if (event.key === "Escape") this.close();
    else {
      // Enter and Space press the button; the Tab key leaves.
      if (event.key === "Tab") this.close();
      else event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  async #save(form: Form): Promise<void> {
    try {
      const file = await this.#source.ask("export", { form, function: this.#events.function() });
      download(file);
      this.#events.announce(`${file.name} saved`);
    } catch (error) {
      this.#events.failed(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Hands a file to the browser, as a click on a link to it would. */
function download({ name, mime_type, base64 }: Answers["export"]): void {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type: mime_type }));
  const link = h("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

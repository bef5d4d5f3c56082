// The control panel: plugins, custom calls and comparisons, as the kernel has them.
import type { PanelView } from "../protocol.ts";
import { button, fill, h, set } from "../view/dom.ts";
import frame from "../view/frame.css";
import { icon } from "../view/icons.ts";
import { listenForKeys } from "../view/keys.ts";
import { addSheet } from "../view/style.ts";
import { callsTable, coverageKey, coverageTable } from "./calls_tab.ts";
import { spoken } from "./cells.ts";
import { CompareTab } from "./compare_tab.ts";
import { loadForm } from "./load_form.ts";
import styles from "./panel.css";
import { pluginsTable } from "./plugins_tab.ts";
import { RegisterForm } from "./register_form.ts";
import { type Ask, type PanelSource, Refused } from "./source.ts";
import { type PanelTab, panelTabs } from "./tabs.ts";

const NARROW = 640;

/** Puts a panel into `root`; returns what takes it away. */
export function mount(root: HTMLElement, source: PanelSource): () => void {
  const panel = new ControlPanel(source);
  root.append(panel.element);
  return () => panel.dispose();
}

class ControlPanel {
  readonly element = h("div", {
    class: "km km-control",
    role: "group",
    "aria-label": "Control panel",
  });
  readonly #source: PanelSource;
  readonly #tools = h("span", { class: "km-tools" });
  readonly #notes = h("div");
  readonly #body = h("div", { role: "tabpanel", tabindex: "-1" });
  readonly #status = h("div", { class: "km-status" });
  readonly #live = h("div", { class: "km-live", role: "status" });
  readonly #open = new Set<string>();
  readonly #form = new RegisterForm((command) => this.#asked(command));
  readonly #compare = new CompareTab((command) => void this.#ask(command));
  readonly #tabs: ReturnType<typeof panelTabs>;
  readonly #observer = new ResizeObserver(() => this.#resized());
  readonly #undo: (() => void)[];
  #tab: PanelTab = "plugins";
  #failure: Error | null = null;
  #isLoading = false;

  constructor(source: PanelSource) {
    this.#source = source;
    this.#body.id = `km-panel-${Math.random().toString(36).slice(2)}`;
    this.#tabs = panelTabs(this.#body.id, (tab) => this.#go(tab));
    addSheet("control-panel", frame + styles);
    fill(
      this.element,
      h(
        "div",
        { class: "km-bar top" },
        this.#tabs.element,
        h("span", { class: "grow" }),
        this.#tools,
      ),
      this.#notes,
      this.#body,
      this.#status,
      this.#live,
    );
    const toTabs = () =>
      this.#tabs.element.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    const handlers = {
      view: () => false,
      back: () => {},
      forward: () => {},
      plain: { Escape: toTabs },
    };
    this.#undo = [source.onChange(() => this.#draw()), listenForKeys(this.element, handlers)];
    this.#observer.observe(this.element);
    this.#draw();
  }

  dispose(): void {
    for (const undo of this.#undo) undo();
    this.#observer.disconnect();
    this.element.remove();
  }

  #go(tab: PanelTab): void {
    this.#tab = tab;
    this.#failure = null;
    this.#draw();
  }

  #draw(): void {
    const view = this.#source.current();
    this.#tabs.draw(this.#tab);
    set(this.element, { "data-connection": this.#source.connection() });
    fill(this.#tools, ...this.#toolsOf());
    fill(this.#notes, ...this.#notesOf(view));
    fill(this.#body, ...this.#bodyOf(view));
    const words = this.#tab === "plugins" ? view.notes : [];
    fill(
      this.#status,
      ...words.map((word) => h("span", {}, word)),
      h("span", { class: "grow" }),
      h("span", {}, `as of ${view.drawn_at}`),
    );
  }

  #toolsOf(): HTMLElement[] {
    if (this.#tab !== "plugins") return [];
    return [
      button("km-btn", { onclick: () => void this.#ask({ kind: "discover" }) }, "Discover again"),
      button(
        "km-btn",
        {
          "aria-expanded": String(this.#isLoading),
          onclick: () => this.#setLoading(!this.#isLoading),
        },
        "Load from path…",
      ),
    ];
  }

  #bodyOf(view: PanelView): HTMLElement[] {
    const ask = (command: Ask) => void this.#ask(command);
    const toggle = (name: string) => this.#toggle(name);
    const announce = (words: string) => this.#announce(words);
    switch (this.#tab) {
      case "plugins":
        return [
          ...(this.#isLoading ? [this.#loadForm] : []),
          pluginsTable(view, this.#open, { ask, toggle, announce }),
        ];
      case "calls":
        this.#form.draw(view);
        return [
          callsTable(view, this.#open, {
            ask,
            toggle,
            replace: (target) => this.#form.begin(target),
          }),
          heading("Coverage", "what the session calls, on each plugin", coverageKey()),
          coverageTable(view),
          heading("Register a handler", ""),
          this.#form.element,
        ];
      case "compare":
        this.#compare.draw(view);
        return [this.#compare.element];
    }
  }

  #notesOf(view: PanelView): HTMLElement[] {
    const notes: HTMLElement[] = [];
    const connection = this.#source.connection();
    if (connection === "gone") {
      notes.push(note("warn", `The kernel is gone. These are the tables of ${view.drawn_at}.`));
    } else if (connection === "silent") {
      const again = () => void this.#ask({ kind: "refresh" });
      notes.push(
        note(
          "warn",
          "The kernel does not answer: it is busy with a cell, or gone.",
          button("km-link", { onclick: again }, "Ask again"),
        ),
      );
    }
    if (this.#tab === "calls" && view.missing) notes.push(note("bad", view.missing));
    if (this.#failure) notes.push(failureNote(this.#failure));
    if (view.failure) {
      const { message, advice, detail } = view.failure;
      notes.push(failureNote(new Refused(message, advice, detail)));
    }
    return notes;
  }

  /** Asks; what is refused stands above the tables. */
  async #ask(command: Ask): Promise<void> {
    try {
      await this.#asked(command);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#draw();
    }
  }

  /** Asks; throws what is refused. */
  async #asked(command: Ask): Promise<void> {
    this.#failure = null;
    this.#announce(await this.#source.ask(command));
    this.#draw();
  }

  #toggle(name: string): void {
    if (!this.#open.delete(name)) this.#open.add(name);
    this.#draw();
  }

  readonly #loadForm = loadForm(
    (command) => this.#asked(command),
    () => this.#setLoading(false),
  );

  #setLoading(isLoading: boolean): void {
    this.#isLoading = isLoading;
    this.#draw();
    if (isLoading) this.#loadForm.querySelector("input")?.focus();
    else this.#tools.querySelector<HTMLElement>("[aria-expanded]")?.focus();
  }

  #announce(words: string): void {
    this.#live.textContent = words;
  }

  #resized(): void {
    this.element.dataset.width = this.element.clientWidth <= NARROW ? "narrow" : "middle";
  }
}

function heading(words: string, more: string, key: HTMLElement | null = null): HTMLElement {
  return h(
    "div",
    { class: "km-bar thin" },
    h("h3", {}, words),
    h("span", { class: "fg2" }, more),
    h("span", { class: "grow" }),
    key,
  );
}

function note(kind: "warn" | "bad", words: string, action: HTMLElement | null = null): HTMLElement {
  return h("div", { class: `km-note ${kind}` }, icon("error"), spoken(words), action);
}

function failureNote(error: Error): HTMLElement {
  const { advice, detail } = error instanceof Refused ? error : { advice: "", detail: "" };
  return h(
    "div",
    { class: "km-note bad", role: "alert" },
    icon("error"),
    h("b", {}, spoken(error.message)),
    detail !== "" && h("pre", { tabindex: "0" }, detail),
    advice !== "" && spoken(advice),
  );
}

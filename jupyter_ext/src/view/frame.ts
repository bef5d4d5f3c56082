// The inspector: bars, views, panel and status line round one source and one store.
import { Actions } from "./actions.ts";
import { drawPath, history, tabList } from "./bars.ts";
import { fill, h, set } from "./dom.ts";
import { ExportMenu } from "./export_menu.ts";
import { type KeyHandlers, listenForKeys } from "./keys.ts";
import { keyTable, legend } from "./legend.ts";
import { drawNotes } from "./notes.ts";
import { OpsPart } from "./ops_part.ts";
import { SearchBox } from "./search_box.ts";
import type { ModuleSource } from "./source.ts";
import { drawStatus } from "./status_line.ts";
import { Store } from "./store.ts";
import { addStyle } from "./style.ts";
import { Views } from "./views.ts";

/** Builds the inspector inside `host`; returns what takes it away again. */
export function mount(host: HTMLElement, source: ModuleSource): () => void {
  const frame = new Frame(source);
  host.append(frame.element);
  return () => frame.dispose();
}

class Frame {
  readonly element = h("div", { class: "km", role: "group", "data-sources": __SOURCES__ });
  readonly #source: ModuleSource;
  readonly #store = new Store();
  readonly #live = h("span", { class: "km-live", role: "status" });
  readonly #notes = h("div", {});
  readonly #path = h("div", { class: "km-crumb" });
  readonly #tools = h("div", { class: "km-tools" });
  readonly #legend = h("div", { hidden: true });
  readonly #body = h("div", { class: "km-main", role: "tabpanel" });
  readonly #status = h("div", { class: "km-status" });
  readonly #actions: Actions;
  readonly #views: Views;
  readonly #search: SearchBox;
  readonly #menu: ExportMenu;
  readonly #tabs: { element: HTMLElement; draw(): void };
  readonly #history = history(this.#store);
  readonly #observer = new ResizeObserver(() => this.#resized());
  readonly #unsubscribe: () => void;
  readonly #unlisten: () => void;
  #width = 0;
  #hasKeys = false;

  constructor(source: ModuleSource) {
    this.#source = source;
    const announce = (words: string) => {
      this.#live.textContent = words;
    };
    this.#actions = new Actions(source, this.#store, announce);
    this.#views = new Views(source, this.#store, {
      announce,
      unfold: (group) => void this.#actions.draw("open", { group }),
      fold: () => void this.#actions.draw("close", {}),
      changed: () => this.#draw(false),
      scrolled: () => this.#drawStatus(),
      redrawn: () => this.#search.follow(),
    });
    this.#search = new SearchBox(source, this.#store, () => this.#views.scope(), announce);
    this.#menu = new ExportMenu(source, {
      announce,
      function: () => (this.#store.state.tab === "ops" ? this.#store.state.selected : ""),
      failed: (message) => this.#actions.fail(message),
      reset: () => this.#reset(),
      keys: () => this.#toggleKeys(),
    });
    this.#store.begin(source.firstTab());
    this.#body.id = `km-body-${Math.random().toString(36).slice(2)}`;
    this.#tabs = tabList(this.#store, this.#body.id);
    addStyle();
    this.#build();
    this.#store.subscribe((state, before) => {
      this.#draw(state.selected !== before.selected);
      if (state.tab !== before.tab || state.selected !== before.selected) this.#search.follow();
    });
    this.#unsubscribe = source.onChange(() => this.#draw(false));
    this.#unlisten = listenForKeys(this.element, this.#keys());
    this.#observer.observe(this.element);
    this.#draw(false);
  }

  dispose(): void {
    this.#unsubscribe();
    this.#unlisten();
    this.#observer.disconnect();
    this.#views.dispose();
    this.#search.dispose();
    this.#menu.dispose();
    this.element.remove();
  }

  #build(): void {
    fill(this.#legend, legend(), keyTable());
    this.#views.fill(this.#body);
    fill(
      this.element,
      h(
        "div",
        { class: "km-bar top" },
        this.#tabs.element,
        h("span", { class: "grow" }),
        this.#search.element,
        this.#menu.element,
      ),
      h(
        "div",
        { class: "km-bar thin" },
        this.#history.element,
        this.#path,
        h("span", { class: "grow" }),
        this.#tools,
      ),
      this.#notes,
      this.#legend,
      this.#body,
      this.#status,
      this.#live,
    );
  }

  #draw(isOtherSelection: boolean): void {
    const view = this.#source.current();
    const { tab, selected } = this.#store.state;
    const entry = OpsPart.entry(view);
    if (tab === "ops" && selected === "" && entry !== "") {
      // Nothing is selected yet: the entry is what there is to look into.
      this.#store.update({ selected: entry });
      return;
    }
    set(this.element, {
      "aria-label": `Inspector of ${view.title}`,
      "data-connection": this.#source.connection(),
    });
    this.element.classList.toggle("empty", view.nodes.length === 0);
    this.#views.draw(this.#body, isOtherSelection);
    this.#tabs.draw();
    this.#history.draw();
    drawPath(this.#path, view, this.#store, this.#views.path());
    fill(this.#tools, ...this.#views.tools());
    drawNotes(this.#notes, this.#source, this.#actions.failure, {
      redraw: () => void this.#actions.draw("redraw", {}),
    });
    this.#drawStatus();
  }

  #drawStatus(): void {
    drawStatus(this.#status, this.#source, this.#views.status(), this.#views.laidOut(), {
      close: this.#views.folding(),
      csv: this.#views.csv(),
      problem: (name) => this.#actions.goToNamed(name),
    });
  }

  /** As it was when it opened: nothing selected, found or dimmed, and drawn to fit. */
  #reset(): void {
    this.#store.reset();
    this.#views.reset();
  }

  #walk(step: 1 | -1): void {
    if (!this.#views.walk(step)) this.#search.walk(step);
  }

  #toggleKeys(): void {
    this.#hasKeys = !this.#hasKeys;
    this.#legend.hidden = !this.#hasKeys;
  }

  #resized(): void {
    const width = this.element.clientWidth;
    if (width === this.#width) return;
    this.#width = width;
    this.element.dataset.width = this.#views.resized(width);
    this.#draw(false);
  }

  #keys(): KeyHandlers {
    return {
      view: (event) => this.#views.key(event),
      back: () => this.#store.back(),
      forward: () => this.#store.forward(),
      plain: {
        "/": () => this.#search.focus(),
        n: () => this.#walk(1),
        p: () => this.#walk(-1),
        t: () => this.#store.go({ tab: "text", text: -1, line: 0 }),
        c: () => this.#actions.copyName(this.#views.opName()),
        "?": () => this.#toggleKeys(),
        Escape: () => this.#escape(),
      },
    };
  }

  /** The card goes first, then the panel; then the focus goes back to the tabs. */
  #escape(): void {
    if (this.#menu.close() || this.#views.escape()) return;
    this.#tabs.element.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }
}

// The inspector: bars, views, panel and status line round one source and one store.
import type { ModuleView, NodeView } from "../protocol.ts";
import { Actions } from "./actions.ts";
import { drawPath, formSwitch, history, tabList, textChoice, unitFilters } from "./bars.ts";
import { button, fill, h, set } from "./dom.ts";
import { emptyNote } from "./empty.ts";
import { GraphCanvas } from "./graph_canvas.ts";
import { type KeyHandlers, listenForKeys } from "./keys.ts";
import { keyTable, legend } from "./legend.ts";
import { marksOf, selectedPlace } from "./marks.ts";
import { drawNotes } from "./notes.ts";
import { OutlineView } from "./outline_view.ts";
import { Panel } from "./panel.ts";
import { SearchBox } from "./search_box.ts";
import type { ModuleSource } from "./source.ts";
import { drawStatus } from "./status_line.ts";
import { Store } from "./store.ts";
import { addStyle } from "./style.ts";
import { SymbolsView } from "./symbols_view.ts";
import { TextPane } from "./text_pane.ts";

const NARROW = 640;
const WIDE = 1280;
const LEAST_BODY = 320;
const MOST_BODY = 480;

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
  readonly #canvas: GraphCanvas;
  readonly #outline: OutlineView;
  readonly #text: TextPane;
  readonly #symbols: SymbolsView;
  readonly #panel: Panel;
  readonly #search: SearchBox;
  readonly #tabs: { element: HTMLElement; draw(): void };
  readonly #history = history(this.#store);
  readonly #observer = new ResizeObserver(() => this.#resized());
  readonly #unsubscribe: () => void;
  readonly #unlisten: () => void;
  readonly #announce = (words: string) => {
    this.#live.textContent = words;
  };
  #drawn: ModuleView | null = null;
  #width = 0;
  #hasKeys = false;

  constructor(source: ModuleSource) {
    this.#source = source;
    const events = {
      select: (node: NodeView) => this.#store.go({ selected: node.id }),
      open: (node: NodeView) =>
        this.#store.go({ tab: "text", selected: node.id, text: -1, line: 0 }),
      unfold: (node: NodeView) => void this.#actions.draw("open", { group: node.id }),
    };
    const announce = this.#announce;
    this.#actions = new Actions(source, this.#store, announce);
    const goToText = (text: number, line: number) => this.#store.go({ tab: "text", text, line });
    this.#canvas = new GraphCanvas(events);
    this.#outline = new OutlineView(events);
    this.#text = new TextPane(source, this.#store);
    this.#symbols = new SymbolsView(source, this.#store, { goToText, announce });
    this.#panel = new Panel(source, {
      close: () => this.#closePanel(),
      goToText,
      select: (node) => this.#store.go({ selected: node }),
      announce,
    });
    this.#search = new SearchBox(source, this.#store, announce);
    this.#body.id = `km-body-${Math.random().toString(36).slice(2)}`;
    this.#tabs = tabList(this.#store, this.#body.id);
    addStyle();
    this.#build();
    this.#store.subscribe((state, before) => this.#draw(state.selected !== before.selected));
    this.#unsubscribe = source.onChange(() => this.#draw(false));
    this.#text.element.addEventListener("km-scrolled", () => this.#drawStatus());
    this.#unlisten = listenForKeys(this.element, this.#keys());
    this.#observer.observe(this.element);
    this.#draw(false);
  }

  dispose(): void {
    this.#unsubscribe();
    this.#unlisten();
    this.#observer.disconnect();
    this.#canvas.dispose();
    this.#text.dispose();
    this.#search.dispose();
    this.element.remove();
  }

  #build(): void {
    const keys = button(
      "km-btn icon",
      {
        "aria-label": "Keys and signs",
        title: "Keys and signs (?)",
        onclick: () => this.#toggleKeys(),
      },
      "?",
    );
    fill(this.#legend, legend(), keyTable());
    fill(
      this.#body,
      this.#canvas.element,
      this.#outline.element,
      this.#text.element,
      this.#symbols.element,
      emptyNote(this.#announce),
      this.#panel.element,
    );
    fill(
      this.element,
      h(
        "div",
        { class: "km-bar top" },
        this.#tabs.element,
        h("span", { class: "grow" }),
        this.#search.element,
        keys,
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
    const { state } = this.#store;
    const connection = this.#source.connection();
    set(this.element, {
      "aria-label": `Inspector of ${view.title}`,
      "data-connection": connection,
    });
    if (view !== this.#drawn) {
      this.#drawn = view;
      this.#canvas.draw(view);
      this.#outline.draw(view);
      const height = Math.max(LEAST_BODY, Math.min(MOST_BODY, view.height + 80));
      this.#body.style.setProperty("--km-body", `${height}px`);
    }
    const isOutline = this.#isOutline();
    this.#canvas.element.hidden = state.tab !== "functions" || isOutline;
    this.#outline.element.hidden = state.tab !== "functions" || !isOutline;
    this.#text.element.hidden = state.tab !== "text";
    this.#symbols.element.hidden = state.tab !== "symbols";
    this.element.classList.toggle("empty", view.nodes.length === 0);
    const marks = marksOf(view, state);
    this.#canvas.mark(marks);
    this.#outline.mark(marks);
    this.#panel.show(this.#hasPanel() ? state.selected : "", view);
    const place = selectedPlace(view, state);
    if (isOtherSelection && place >= 0) {
      // After the panel has taken its room.
      requestAnimationFrame(() => this.#form().reveal(place));
    }
    if (state.tab === "text") void this.#text.show().then(() => this.#drawStatus());
    if (state.tab === "symbols") void this.#symbols.show().then(() => this.#drawStatus());
    this.#tabs.draw();
    this.#history.draw();
    drawPath(this.#path, view, this.#store);
    fill(this.#tools, ...this.#toolsOf(view, isOutline));
    drawNotes(this.#notes, this.#source, this.#actions.failure, {
      redraw: () => void this.#actions.draw("redraw", {}),
    });
    this.#drawStatus();
  }

  #drawStatus(): void {
    const { tab } = this.#store.state;
    const own =
      tab === "text" ? this.#text.status() : tab === "symbols" ? this.#symbols.status() : "";
    drawStatus(this.#status, this.#source, own, {
      close: () => void this.#actions.draw("close", {}),
      csv: tab === "symbols" ? () => this.#symbols.copyCsv() : null,
      problem: (name) => this.#actions.goToNamed(name),
    });
  }

  #toolsOf(view: ModuleView, isOutline: boolean): HTMLElement[] {
    switch (this.#store.state.tab) {
      case "functions":
        return [...unitFilters(view, this.#store), formSwitch(this.#store, isOutline)];
      case "text":
        return [textChoice(view, this.#store)];
      case "symbols":
        return [this.#symbols.directionSwitch()];
    }
  }

  #hasPanel(): boolean {
    const { tab, selected, isPanelOpen } = this.#store.state;
    return selected !== "" && isPanelOpen && tab !== "text";
  }

  #form(): OutlineView | GraphCanvas {
    return this.#isOutline() ? this.#outline : this.#canvas;
  }

  #isOutline(): boolean {
    const { form } = this.#store.state;
    return form === "" ? this.#width > 0 && this.#width <= NARROW : form === "outline";
  }

  #closePanel(): void {
    this.#store.go({ selected: "" });
    if (this.#store.state.tab === "functions") this.#form().focus();
  }

  #toggleKeys(): void {
    this.#hasKeys = !this.#hasKeys;
    this.#legend.hidden = !this.#hasKeys;
  }

  #resized(): void {
    const width = this.element.clientWidth;
    if (width === this.#width) return;
    this.#width = width;
    this.element.dataset.width = width <= NARROW ? "narrow" : width >= WIDE ? "wide" : "middle";
    this.#draw(false);
  }

  #keys(): KeyHandlers {
    return {
      view: (event) => {
        if (this.#store.state.tab === "text") return this.#text.key(event);
        return this.#form().key(event);
      },
      back: () => this.#store.back(),
      forward: () => this.#store.forward(),
      plain: {
        "/": () => this.#search.focus(),
        n: () => this.#search.walk(1),
        p: () => this.#search.walk(-1),
        t: () => this.#store.go({ tab: "text", text: -1, line: 0 }),
        c: () => this.#actions.copyName(),
        "?": () => this.#toggleKeys(),
        Escape: () => this.#escape(),
      },
    };
  }

  /** The card goes first, then the panel; then the focus goes back to the tabs. */
  #escape(): void {
    if (this.#canvas.hideCard()) return;
    if (this.#hasPanel()) this.#closePanel();
    else this.#tabs.element.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }
}

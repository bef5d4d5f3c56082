// The views and panels inside the frame: which of them is seen, and what each of them says.
import type { ModuleView, NodeView } from "../protocol.ts";
import { formSwitch, textChoice, unitFilters } from "./bars.ts";
import { DiffView } from "./diff_view.ts";
import { type Child, fill } from "./dom.ts";
import { emptyNote } from "./empty.ts";
import { GraphCanvas } from "./graph_canvas.ts";
import { marksOf, selectedPlace } from "./marks.ts";
import { OpsPart } from "./ops_part.ts";
import { OutlineView } from "./outline_view.ts";
import { Panel } from "./panel.ts";
import type { Scope } from "./search_box.ts";
import type { ModuleSource } from "./source.ts";
import type { LaidOut } from "./status_line.ts";
import type { Store } from "./store.ts";
import { SymbolsView } from "./symbols_view.ts";
import { TextPane } from "./text_pane.ts";

const NARROW = 640;
const WIDE = 1280;
const LEAST_BODY = 320;
const MOST_BODY = 480;
const OPS_BODY = 580;

export interface ViewEvents {
  announce(words: string): void;
  /** Draws the members of a group of functions, or folds them all again. */
  unfold(group: string): void;
  fold(): void;
  /** Another drawing of ops is there: all that is said of it changes. */
  changed(): void;
  /** The status line says something else. */
  scrolled(): void;
  /** Hits are to be marked in another drawing. */
  redrawn(): void;
}

export class Views {
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #events: ViewEvents;
  readonly #canvas: GraphCanvas;
  readonly #outline: OutlineView;
  readonly #text: TextPane;
  readonly #symbols: SymbolsView;
  readonly #panel: Panel;
  readonly #ops: OpsPart;
  readonly #diff: DiffView;
  #drawn: ModuleView | null = null;
  #width = 0;

  constructor(source: ModuleSource, store: Store, events: ViewEvents) {
    this.#source = source;
    this.#store = store;
    this.#events = events;
    const { announce } = events;
    const own = {
      select: (node: NodeView) => store.go({ selected: node.id }),
      open: (node: NodeView) => this.#open(node),
      openBeside: (node: NodeView) => this.#ops.beside.open(node.id),
      unfold: (node: NodeView) => events.unfold(node.id),
    };
    const goToText = (text: number, line: number) => store.go({ tab: "text", text, line });
    this.#canvas = new GraphCanvas(own);
    this.#outline = new OutlineView(own);
    this.#text = new TextPane(source, store);
    this.#symbols = new SymbolsView(source, store, { goToText, announce });
    this.#panel = new Panel(source, {
      close: () => this.#closePanel(),
      goToText,
      select: (node) => store.go({ selected: node }),
      announce,
    });
    this.#ops = new OpsPart(source, store, events);
    this.#diff = new DiffView(source, { announce, changed: () => events.scrolled() });
    this.#text.element.addEventListener("km-scrolled", () => events.scrolled());
  }

  dispose(): void {
    this.#canvas.dispose();
    this.#ops.dispose();
    this.#text.dispose();
    this.#diff.dispose();
  }

  /** Puts all of them into the body of the frame. */
  fill(body: HTMLElement): void {
    fill(
      body,
      this.#canvas.element,
      this.#outline.element,
      this.#text.element,
      this.#symbols.element,
      this.#ops.pane.element,
      this.#diff.element,
      emptyNote(this.#events.announce),
      this.#ops.beside.element,
      this.#panel.element,
      this.#ops.panel.element,
    );
  }

  /** The width that the inspector has; the name of its class. */
  resized(width: number): string {
    this.#width = width;
    return width <= NARROW ? "narrow" : width >= WIDE ? "wide" : "middle";
  }

  draw(body: HTMLElement, isOtherSelection: boolean): void {
    const view = this.#source.current();
    const { state } = this.#store;
    const { tab } = state;
    if (view !== this.#drawn) {
      this.#drawn = view;
      this.#canvas.draw(view);
      this.#outline.draw(view);
    }
    const least = Math.max(LEAST_BODY, Math.min(MOST_BODY, view.height + 80));
    const height = tab === "ops" || state.beside ? OPS_BODY : least;
    body.style.setProperty("--km-body", `${height}px`);
    body.classList.toggle("beside", state.beside !== "");
    const isOutline = this.#isOutline();
    this.#canvas.element.hidden = tab !== "functions" || isOutline;
    this.#outline.element.hidden = tab !== "functions" || !isOutline;
    this.#text.element.hidden = tab !== "text";
    this.#symbols.element.hidden = tab !== "symbols";
    this.#diff.element.hidden = tab !== "diff";
    const marks = marksOf(view, state);
    this.#canvas.mark(marks);
    this.#outline.mark(marks);
    this.#panel.show(this.#hasPanel() ? state.selected : "", view);
    this.#ops.draw(view, tab === "ops", isOutline);
    const place = selectedPlace(view, state);
    if (isOtherSelection && place >= 0) {
      // After the panel has taken its room.
      requestAnimationFrame(() => this.#form().reveal(place));
    }
    if (tab === "text") void this.#text.show().then(() => this.#events.scrolled());
    if (tab === "diff") void this.#diff.show(this.#width >= WIDE);
    if (tab === "symbols") void this.#symbols.show().then(() => this.#events.scrolled());
  }

  /** What stands at the right of the path. */
  tools(): HTMLElement[] {
    const view = this.#source.current();
    switch (this.#store.state.tab) {
      case "functions":
        return [...unitFilters(view, this.#store), formSwitch(this.#store, this.#isOutline())];
      case "ops":
        return [...this.#ops.tools(), formSwitch(this.#store, this.#isOutline())];
      case "text":
        return [textChoice(view, this.#store)];
      case "symbols":
        return [this.#symbols.directionSwitch()];
      case "diff":
        return [];
    }
  }

  /** The regions gone into, for the path. */
  path(): Child[] {
    return this.#store.state.tab === "ops" ? this.#ops.path() : [];
  }

  /** What the view says of itself; nothing where that is what the module says. */
  status(): string {
    switch (this.#store.state.tab) {
      case "functions":
        return "";
      case "ops":
        return this.#ops.status();
      case "text":
        return this.#text.status();
      case "symbols":
        return this.#symbols.status();
      case "diff":
        return this.#diff.status();
    }
  }

  laidOut(): LaidOut | null {
    const { tab } = this.#store.state;
    return tab === "functions" ? this.#source.current() : tab === "ops" ? this.#ops.layout() : null;
  }

  /** Folds what was opened by hand; null where nothing was. */
  folding(): (() => void) | null {
    const { tab } = this.#store.state;
    if (tab === "functions") {
      return this.#source.current().opened.length > 0 ? () => this.#events.fold() : null;
    }
    return tab === "ops" && this.#ops.pane.isChanged ? () => this.#ops.pane.reset() : null;
  }

  /** As they were when the view opened, as far as they keep it to themselves. */
  reset(): void {
    this.#canvas.reset();
    this.#ops.pane.reset();
    if (this.#source.current().opened.length > 0) this.#events.fold();
  }

  /** Goes to the next change, or the one before; true where it is changes that are seen. */
  walk(step: 1 | -1): boolean {
    if (this.#store.state.tab !== "diff") return false;
    this.#diff.walk(step);
    return true;
  }

  csv(): (() => void) | null {
    return this.#store.state.tab === "symbols" ? () => this.#symbols.copyCsv() : null;
  }

  /** The ops view searches its function, the others the module. */
  scope(): Scope {
    const { tab, selected, searchesAll } = this.#store.state;
    const within = tab === "ops" && !searchesAll ? selected : "";
    return { within, drawn: this.#ops.drawn() };
  }

  /** The name of the op at hand; null where it is functions that have the focus. */
  opName(): string | null {
    return this.#store.state.tab === "ops" ? this.#ops.name() : null;
  }

  /** True if the key was for the view that has the focus. */
  key(event: KeyboardEvent): boolean {
    const { tab } = this.#store.state;
    if (tab === "ops" || this.#ops.isBeside(event)) return this.#ops.key(event);
    return tab === "text" ? this.#text.key(event) : this.#form().key(event);
  }

  /** Closes a card, or else a panel; true if there was one. */
  escape(): boolean {
    if (this.#canvas.hideCard() || this.#ops.hideCard()) return true;
    if (!this.#ops.panel.element.hidden) {
      this.#store.go({ op: "" });
      this.#ops.pane.focus();
      return true;
    }
    if (!this.#hasPanel()) return false;
    this.#closePanel();
    return true;
  }

  #hasPanel(): boolean {
    const { tab, selected, op, isPanelOpen, beside } = this.#store.state;
    if (selected === "" || !isPanelOpen || tab === "text" || tab === "diff" || beside !== "")
      return false;
    // The ops need the room more than the text of their function does.
    return tab !== "ops" || (op === "" && this.#width >= WIDE);
  }

  /** The ops of a function; of what has none, the text. */
  #open(node: NodeView): void {
    const tab = node.kind === "function" ? "ops" : "text";
    this.#store.go({ tab, selected: node.id, text: -1, line: 0 });
  }

  #closePanel(): void {
    const { tab } = this.#store.state;
    // The ops view shows the selected function: there the panel alone goes.
    if (tab === "ops") this.#store.update({ isPanelOpen: false });
    else this.#store.go({ selected: "" });
    if (tab === "functions") this.#form().focus();
  }

  #form(): OutlineView | GraphCanvas {
    return this.#isOutline() ? this.#outline : this.#canvas;
  }

  #isOutline(): boolean {
    const { form } = this.#store.state;
    return form === "" ? this.#width > 0 && this.#width <= NARROW : form === "outline";
  }
}

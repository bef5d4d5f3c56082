// The ops of one function: asks for drawings, keeps what is open, shows graph or outline.
import type { OpItem, OpsDrawing, OpsRequest } from "../protocol.ts";
import { button, fill, h } from "./dom.ts";
import { type Folding, toggled } from "./op_words.ts";
import { type OpEvents, type OpMarks, OpsCanvas } from "./ops_canvas.ts";
import { OpsOutline } from "./ops_outline.ts";
import type { ModuleSource } from "./source.ts";

/** What of which function is shown. */
export interface OpsPlace {
  function: string;
  root: string;
  focus: string;
  hops: number;
  foldsTrivial: boolean;
}

export interface PaneEvents {
  select(op: string): void;
  enter(root: string): void;
  openFunction(id: string): void;
  openBeside(id: string): void;
  showText(): void;
  announce(words: string): void;
  /** There is another drawing, or none. */
  drawn(): void;
}

const LATE_MS = 300;
const NO_FOLDING: Folding = { opened: [], closed: [] };

export class OpsPane {
  // It takes the focus while the drawing of another function is on its way: keys go on working.
  readonly element = h("div", { class: "km-ops", tabindex: "-1" });
  drawing: OpsDrawing | null = null;
  readonly #source: ModuleSource;
  readonly #events: PaneEvents;
  readonly #canvas: OpsCanvas;
  readonly #outline: OpsOutline;
  readonly #note = h("div", { class: "km-empty", hidden: true });
  readonly #foldings = new Map<string, Folding>();
  #place: OpsPlace | null = null;
  #key = "";
  #isOutline = false;
  #marks: OpMarks = { selected: "", hits: new Map() };
  #waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(source: ModuleSource, events: PaneEvents) {
    this.#source = source;
    this.#events = events;
    const own: OpEvents = {
      select: (item) => events.select(item.op),
      toggle: (item) => this.toggle(item),
      enter: (item) => events.enter(item.op),
      openCallee: (item) => events.openFunction(item.callee),
      openBeside: (item) => {
        if (item.callee) events.openBeside(item.callee);
        else events.announce("only a call can be opened beside");
      },
    };
    this.#canvas = new OpsCanvas(own);
    this.#outline = new OpsOutline(own);
    fill(this.element, this.#canvas.element, this.#outline.element, this.#note);
  }

  dispose(): void {
    clearTimeout(this.#waiting);
    this.#canvas.dispose();
  }

  /** Shows a place; asks the kernel only for what is not drawn already. */
  show(place: OpsPlace, isOutline: boolean): void {
    this.#place = place;
    this.#isOutline = isOutline;
    const request = this.#request(place);
    const key = `${this.#source.current().digest} ${JSON.stringify(request)}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#ask(request, key);
    }
    this.#arrange();
  }

  mark(marks: OpMarks): void {
    this.#marks = marks;
    this.#canvas.mark(marks);
    this.#outline.mark(marks);
  }

  reveal(id: string): void {
    this.#form().reveal(id);
  }

  focus(): void {
    this.#form().focus();
  }

  hideCard(): boolean {
    return this.#canvas.hideCard();
  }

  key(event: KeyboardEvent): boolean {
    return this.#form().key(event);
  }

  /** The op that has the focus. */
  get item(): OpItem | undefined {
    return this.#form().item;
  }

  /** Opens what is folded, folds what is open. */
  toggle(item: OpItem): void {
    const place = this.#place;
    if (!place) return;
    const before = this.#folding(place);
    const after = toggled(before, item);
    if (after === before) {
      this.#events.announce("there is nothing to fold or open here");
      return;
    }
    this.#foldings.set(place.function, after);
    this.show(place, this.#isOutline);
  }

  /** True if something was opened or folded by hand. */
  get isChanged(): boolean {
    const { opened, closed } = this.#place ? this.#folding(this.#place) : NO_FOLDING;
    return opened.length + closed.length > 0;
  }

  /** As it is drawn at first. */
  reset(): void {
    if (!this.#place) return;
    this.#foldings.delete(this.#place.function);
    this.show(this.#place, this.#isOutline);
  }

  #ask(request: OpsRequest, key: string): void {
    clearTimeout(this.#waiting);
    const isOther = this.drawing?.request.function !== request.function;
    if (isOther && this.element.contains(document.activeElement)) {
      this.element.focus({ preventScroll: true });
    }
    if (isOther) this.drawing = null;
    this.#waiting = setTimeout(() => {
      this.#events.announce("Laying out…");
      if (!this.drawing) this.#say("Laying out the ops…");
    }, LATE_MS);
    this.#source
      .ask("ops", { request })
      .then((drawing) => {
        if (key === this.#key) this.#draw(drawing);
      })
      .catch((error: Error) => {
        if (key === this.#key) this.#failed(error.message, request);
      })
      .finally(() => {
        if (key === this.#key) clearTimeout(this.#waiting);
      });
  }

  #draw(drawing: OpsDrawing): void {
    this.drawing = drawing;
    const { opened, closed } = drawing.request;
    // What had to be folded again for want of room is folded here as well.
    this.#foldings.set(drawing.request.function, { opened, closed });
    if (this.#place) {
      const digest = this.#source.current().digest;
      this.#key = `${digest} ${JSON.stringify(this.#request(this.#place))}`;
    }
    this.#canvas.draw(drawing);
    this.#outline.draw(drawing);
    this.#say("");
    if (document.activeElement === this.element) this.focus();
    this.mark(this.#marks);
    this.#events.drawn();
  }

  #failed(message: string, request: OpsRequest): void {
    if (this.drawing) {
      // What is there stays; the next step begins from it.
      const { opened, closed } = this.drawing.request;
      this.#foldings.set(request.function, { opened, closed });
      this.#events.announce(`that did not work: ${message}`);
      return;
    }
    this.#say(
      `The ops are not there: ${message}`,
      button("km-btn", { onclick: () => this.#again() }, "Try again"),
      button("km-btn", { onclick: () => this.#events.showText() }, "Show the text"),
    );
    this.#events.drawn();
  }

  #again(): void {
    this.#key = "";
    if (this.#place) this.show(this.#place, this.#isOutline);
  }

  #say(words: string, ...actions: HTMLElement[]): void {
    fill(
      this.#note,
      words !== "" && h("p", {}, words),
      actions.length > 0 && h("div", { class: "km-tools" }, ...actions),
    );
    this.#arrange();
  }

  #arrange(): void {
    const isDrawn = this.drawing !== null;
    this.#note.hidden = isDrawn;
    this.#canvas.element.hidden = !isDrawn || this.#isOutline;
    this.#outline.element.hidden = !isDrawn || !this.#isOutline;
  }

  #form(): OpsCanvas | OpsOutline {
    return this.#isOutline ? this.#outline : this.#canvas;
  }

  #folding(place: OpsPlace): Folding {
    return this.#foldings.get(place.function) ?? NO_FOLDING;
  }

  #request(place: OpsPlace): OpsRequest {
    const { opened, closed } = this.#folding(place);
    return {
      function: place.function,
      root: place.root,
      focus: place.focus,
      hops: place.hops,
      opened: [...opened],
      closed: [...closed],
      folds_trivial: place.foldsTrivial,
    };
  }
}

// What the inspector does about ops: the pane, one beside it, the panel, and what they share.
import type { ModuleView, OpAnswer } from "../protocol.ts";
import { button, type Child, h } from "./dom.ts";
import { OpPanel } from "./op_panel.ts";
import { OpsBeside } from "./ops_beside.ts";
import { OpsPane } from "./ops_pane.ts";
import type { Fields, ModuleSource } from "./source.ts";
import type { Store } from "./store.ts";

const MOST_HOPS = 4;
const MOST_UNFOLDED = 16;
const LATE_MS = 300;

export interface PartEvents {
  announce(words: string): void;
  /** Status line, tools and path say something else. */
  changed(): void;
  /** Hits are to be found in another drawing. */
  redrawn(): void;
}

export class OpsPart {
  readonly pane: OpsPane;
  readonly panel: OpPanel;
  readonly beside: OpsBeside;
  readonly #source: ModuleSource;
  readonly #store: Store;
  readonly #events: PartEvents;
  #answer: OpAnswer | null = null;
  #note = "";
  #asked = "";
  #unfolding = { op: "", left: 0 };

  constructor(source: ModuleSource, store: Store, events: PartEvents) {
    this.#source = source;
    this.#store = store;
    this.#events = events;
    const openFunction = (id: string) => store.go({ tab: "ops", selected: id, line: 0 });
    const openBeside = (id: string) => this.beside.open(id);
    const showText = () => store.go({ tab: "text", line: 0 });
    const { announce } = events;
    this.pane = new OpsPane(source, {
      select: (op) => store.go({ op }),
      enter: (root) => store.go({ root, focus: "" }),
      openFunction,
      openBeside,
      showText,
      announce,
      drawn: () => this.#drawn(),
    });
    this.beside = new OpsBeside(source, store, announce);
    this.panel = new OpPanel({
      close: () => store.go({ op: "" }),
      goToText: (text, line) => store.go({ tab: "text", text, line }),
      select: (op) => store.go({ op }),
      openFunction,
      announce,
    });
  }

  dispose(): void {
    this.pane.dispose();
    this.beside.pane.dispose();
  }

  /** Shows what the store says; `isShown` is false while another view is. */
  draw(view: ModuleView, isShown: boolean, isOutline: boolean): void {
    const { state } = this.#store;
    const { selected, op, root, focus, hops, foldsTrivial } = state;
    this.pane.element.hidden = !isShown;
    if (isShown && selected) {
      this.pane.show({ function: selected, root, focus, hops, foldsTrivial }, isOutline);
    }
    this.#askFor(selected, op, view);
    const hasPanel = isShown && op !== "" && state.isPanelOpen;
    this.panel.element.hidden = !hasPanel;
    if (hasPanel) this.panel.show(this.#answer, this.#note, view);
    this.beside.draw();
    this.#mark();
  }

  /** The function that is opened when none is selected. */
  static entry(view: ModuleView): string {
    const functions = view.nodes.filter((node) => node.kind === "function");
    return (functions.find((node) => node.is_entry) ?? functions[0])?.id ?? "";
  }

  /** True if the key was for a pane of ops. */
  key(event: KeyboardEvent): boolean {
    return (this.isBeside(event) ? this.beside.pane : this.pane).key(event);
  }

  isBeside(event: KeyboardEvent): boolean {
    return this.beside.element.contains(event.target as Node);
  }

  /** True if a card was there. */
  hideCard(): boolean {
    return this.pane.hideCard() || this.beside.pane.hideCard();
  }

  tools(): HTMLElement[] {
    const { foldsTrivial, focus, hops, op } = this.#store.state;
    const toggle = (label: string, title: string, isOn: boolean, act: () => void, isOff = false) =>
      button(
        "km-btn",
        { "aria-pressed": String(isOn), title, onclick: act, disabled: isOff },
        label,
      );
    const found = [
      toggle(
        "Fold trivial",
        "Draw reshape, broadcast, transpose and convert as part of the edge",
        foldsTrivial,
        () => this.#store.update({ foldsTrivial: !foldsTrivial }),
      ),
      toggle(
        "Focus",
        focus || op ? "Show the neighbours of the selected op alone" : "Select an op first",
        focus !== "",
        () => this.#store.go({ focus: focus ? "" : op }),
        !focus && !op,
      ),
    ];
    return focus ? [...found, this.#hopSwitch(hops)] : found;
  }

  /** The ops that were entered, for the path bar. */
  path(): Child[] {
    const steps = this.pane.drawing?.path ?? [];
    if (this.#store.state.root === "") return [];
    return steps.flatMap(({ op, label }, index) => [
      h("span", { class: "fg2" }, "›"),
      index === steps.length - 1
        ? h("b", {}, label)
        : button("", { onclick: () => this.#store.go({ root: op }) }, label),
    ]);
  }

  status(): string {
    const drawing = this.pane.drawing;
    if (!drawing) return "no ops are drawn";
    const answer = this.#answer;
    const line = answer?.places[0]?.line.toLocaleString("en");
    const where = line ? [`${answer?.label} in line ${line}`] : [];
    return [...where, ...drawing.counts, ...drawing.folded].join(" · ");
  }

  layout(): { engine: string; layout_time_ms: number } | null {
    return this.pane.drawing;
  }

  /** The drawing in which hits are to be marked. */
  drawn(): Fields<"find">["drawn"] {
    return this.#store.state.tab === "ops" ? (this.pane.drawing?.request ?? null) : null;
  }

  /** What `c` copies in the ops view; null where no op is at hand. */
  name(): string | null {
    return this.#answer?.name ?? this.pane.item?.name ?? null;
  }

  #drawn(): void {
    // What is known of the op names the item that shows it in the drawing before.
    this.#asked = "";
    const { selected, op } = this.#store.state;
    this.#askFor(selected, op, this.#source.current());
    this.#events.redrawn();
    this.#events.changed();
  }

  #mark(): void {
    const { op, hits } = this.#store.state;
    const counts = new Map<string, number>();
    for (const { item } of hits) if (item) counts.set(item, (counts.get(item) ?? 0) + 1);
    this.pane.mark({ selected: this.#item(op), hits: counts });
  }

  /** The item that shows an op: its own, or what it is folded into. */
  #item(op: string): string {
    const items = this.pane.drawing?.items ?? [];
    if (op === "" || items.some((item) => item.id === op)) return op;
    return this.#answer?.item ?? "";
  }

  /** Asks what is known of the selected op, once for each drawing. */
  #askFor(selected: string, op: string, view: ModuleView): void {
    const drawn = this.drawn();
    const asked = op ? `${view.digest} ${selected} ${op} ${JSON.stringify(drawn)}` : "";
    if (asked === this.#asked) return;
    const isOther = !this.#asked.startsWith(`${view.digest} ${selected} ${op} `);
    this.#asked = asked;
    if (op === "") {
      this.#answer = null;
      return;
    }
    if (isOther && this.#unfolding.op !== op) this.#unfolding = { op, left: MOST_UNFOLDED };
    const waiting = setTimeout(
      () => this.#told(asked, this.#answer, "Asking the kernel…"),
      LATE_MS,
    );
    this.#source
      .ask("op", { function: selected, op, drawn })
      .then((answer) => {
        this.#told(asked, answer, "");
        this.#bringToSight(op, answer);
      })
      .catch((error: Error) => this.#told(asked, null, `The op is not there: ${error.message}.`))
      .finally(() => clearTimeout(waiting));
  }

  #told(asked: string, answer: OpAnswer | null, note: string): void {
    if (asked !== this.#asked) return;
    this.#answer = answer;
    this.#note = note;
    this.#store.update({});
  }

  /** Unfolds what hides an op that was gone to, goes to its line where a text is shown. */
  #bringToSight(op: string, answer: OpAnswer): void {
    const { state } = this.#store;
    if (state.op !== op) return;
    if (state.tab === "text" && state.line === 0) {
      const place = answer.places.find(({ text }) => text === state.text);
      if (place) this.#store.update({ line: place.line });
    }
    const drawing = this.pane.drawing;
    if (state.tab !== "ops" || !drawing) return;
    if (answer.item === "" && (state.root !== "" || state.focus !== "")) {
      this.#store.update({ root: "", focus: "" });
      return;
    }
    const hiding = drawing.items.find((item) => item.id === answer.item && item.id !== op);
    if (hiding && hiding.folded_ops > 0 && this.#unfolding.left > 0) {
      this.#unfolding.left -= 1;
      this.pane.toggle(hiding);
      return;
    }
    // Once: whoever looks elsewhere meanwhile is left alone.
    if (this.#unfolding.left === 0) return;
    this.#unfolding.left = 0;
    requestAnimationFrame(() => this.pane.reveal(answer.item));
  }

  #hopSwitch(hops: number): HTMLElement {
    const buttons = Array.from({ length: MOST_HOPS }, (_, index) =>
      button(
        "",
        {
          "aria-pressed": String(hops === index + 1),
          "aria-label": `${index + 1} ${index === 0 ? "hop" : "hops"}`,
          onclick: () => this.#store.update({ hops: index + 1 }),
        },
        String(index + 1),
      ),
    );
    return h("div", { class: "km-seg", role: "group", "aria-label": "Hops" }, ...buttons);
  }
}

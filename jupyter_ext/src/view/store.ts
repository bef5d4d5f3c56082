// What one view keeps to itself: selection, place, filter; and the way back.
import type { Hit } from "../protocol.ts";

export type Tab = "functions" | "ops" | "text" | "symbols" | "diff";

export interface Place {
  tab: Tab;
  /** Id of a function; empty for none. */
  selected: string;
  /** The text shown in the text view: -1 is the merged one. */
  text: number;
  /** A line of it, from 1; 0 for none. */
  line: number;
  /** Id of an op of the function; empty for none. */
  op: string;
  /** Id of the op that was entered; empty for the whole function. */
  root: string;
  /** Id of the op whose neighbours alone are shown; empty for all. */
  focus: string;
}

export interface State extends Place {
  isPanelOpen: boolean;
  /** Id of the function whose ops are shown beside the view; empty for none. */
  beside: string;
  /** Whether ops that only reshape, broadcast or convert are drawn as part of an edge. */
  foldsTrivial: boolean;
  /** How far around the focus ops are shown. */
  hops: number;
  /** Whether a search in the ops view looks into all functions. */
  searchesAll: boolean;
  /** `""` follows the width. */
  form: "graph" | "outline" | "";
  query: string;
  hits: readonly Hit[];
  /** How many there are, listed or not. */
  hitTotal: number;
  hit: number;
  /** Places of the units that are dimmed. */
  dimmed: readonly number[];
  hasLegend: boolean;
}

type Listener = (state: State, before: State) => void;

const START: State = {
  tab: "functions",
  selected: "",
  text: -1,
  line: 0,
  op: "",
  root: "",
  focus: "",
  isPanelOpen: false,
  beside: "",
  foldsTrivial: false,
  hops: 2,
  searchesAll: false,
  form: "",
  query: "",
  hits: [],
  hitTotal: 0,
  hit: -1,
  dimmed: [],
  hasLegend: false,
};
const MOST_PLACES = 100;
const NO_OPS = { op: "", root: "", focus: "" };

export class Store {
  #state: State = START;
  #listeners: Listener[] = [];
  #back: Place[] = [];
  #forward: Place[] = [];

  get state(): State {
    return this.#state;
  }

  get canGoBack(): boolean {
    return this.#back.length > 0;
  }

  get canGoForward(): boolean {
    return this.#forward.length > 0;
  }

  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Where a view opens; no place to go back from. */
  begin(tab: string): void {
    if (tab === "text" || tab === "symbols") this.#state = { ...this.#state, tab };
  }

  /** Shows what is shown at first; `back` leads here again. */
  reset(): void {
    const { tab } = this.#state;
    this.go({ ...placeOf(START), tab });
    this.update({ ...START, tab });
  }

  /** Changes what is seen, not where one is. */
  update(change: Partial<State>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    for (const listener of this.#listeners) listener(this.#state, before);
  }

  /** Goes somewhere; `back` leads here again. */
  go(to: Partial<Place>): void {
    const from = placeOf(this.#state);
    // Another function has other ops.
    const isOther = to.selected !== undefined && to.selected !== from.selected;
    const next = { ...from, ...(isOther ? NO_OPS : {}), ...to };
    if (isSame(from, next)) {
      this.update({});
      return;
    }
    this.#back = [...this.#back, from].slice(-MOST_PLACES);
    this.#forward = [];
    this.update({ ...next, isPanelOpen: next.selected ? true : this.#state.isPanelOpen });
  }

  back(): void {
    const to = this.#back.pop();
    if (!to) return;
    this.#forward.push(placeOf(this.#state));
    this.update(to);
  }

  forward(): void {
    const to = this.#forward.pop();
    if (!to) return;
    this.#back.push(placeOf(this.#state));
    this.update(to);
  }
}

function placeOf({ tab, selected, text, line, op, root, focus }: State): Place {
  return { tab, selected, text, line, op, root, focus };
}

function isSame(one: Place, other: Place): boolean {
  return (Object.keys(one) as (keyof Place)[]).every((key) => one[key] === other[key]);
}

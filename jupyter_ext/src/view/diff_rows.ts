// Two texts as rows to draw, one beside or below the other; and words that differ. Knows no DOM.
import type { DiffRun } from "../protocol.ts";

/** `apart`: two lines in one row that have nothing to do with each other. */
export type RowKind = "same" | "removed" | "added" | "changed" | "apart";

export interface Row {
  kind: RowKind;
  /** Places of the lines, from 0; -1 where there is none on that side. */
  left: number;
  right: number;
  /** Which change it is part of, from 0; -1 for none. */
  change: number;
  /** The line that it took the place of, or that took its place; -1 for none. */
  partner: number;
}

interface Part {
  run: DiffRun;
  first: number;
  count: number;
  change: number;
  /** The rows of a change; empty for lines that are the same. */
  rows: Row[];
}

export interface Piece {
  text: string;
  isMarked: boolean;
}

export class DiffRows {
  readonly length: number;
  readonly #parts: Part[] = [];
  readonly #changes: Part[] = [];

  /** Side by side a line stands beside the one that took its place; else below it. */
  constructor(runs: readonly DiffRun[], isSplit: boolean) {
    let first = 0;
    for (const run of runs) {
      const change = run.kind === "same" ? -1 : this.#changes.length;
      const rows = change < 0 ? [] : isSplit ? beside(run, change) : below(run, change);
      const count = change < 0 ? run.left_count : rows.length;
      const part = { run, first, count, change, rows };
      this.#parts.push(part);
      if (change >= 0) this.#changes.push(part);
      first += count;
    }
    this.length = first;
  }

  get changeCount(): number {
    return this.#changes.length;
  }

  /** The rows of a change, from 0. */
  span(change: number): { first: number; count: number } {
    const { first, count } = this.#changes[change] ?? { first: 0, count: 0 };
    return { first, count };
  }

  at(row: number): Row {
    const part = this.#part(row);
    const at = row - (part?.first ?? 0);
    const changed = part?.rows[at];
    if (changed) return changed;
    if (!part) return { kind: "same", left: -1, right: -1, change: -1, partner: -1 };
    const { left, right } = part.run;
    return { kind: "same", left: left + at, right: right + at, change: -1, partner: -1 };
  }

  #part(row: number): Part | undefined {
    let low = 0;
    let high = this.#parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#parts[middle]?.first ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return this.#parts[low];
  }
}

/** Pairs in one row; between them lines of either side that have no other, as they come. */
function beside(run: DiffRun, change: number): Row[] {
  const rows: Row[] = [];
  const { left_count, right_count } = run;
  let [one, other] = [0, 0];
  for (const [left, right] of [...pairsOf(run), [left_count, right_count] as const]) {
    rows.push(...between(run, [one, left], [other, right], change));
    if (left < left_count && right < right_count) {
      const pair = { left: run.left + left, right: run.right + right };
      rows.push({ kind: "changed", ...pair, change, partner: -1 });
    }
    [one, other] = [left + 1, right + 1];
  }
  return rows;
}

type Span = readonly [number, number];

/** Rows of lines that have no partner: from and up to these places of the run. */
function between(run: DiffRun, [one, left]: Span, [other, right]: Span, change: number): Row[] {
  const count = Math.max(left - one, right - other);
  return Array.from({ length: Math.max(0, count) }, (_, at) => {
    const here = one + at < left ? run.left + one + at : -1;
    const there = other + at < right ? run.right + other + at : -1;
    const kind = here < 0 ? "added" : there < 0 ? "removed" : "apart";
    return { kind, left: here, right: there, change, partner: -1 };
  });
}

/** What was removed, then what was added. */
function below(run: DiffRun, change: number): Row[] {
  const pairs = pairsOf(run);
  const partners = new Map(pairs);
  const partnersBack = new Map(pairs.map(([left, right]) => [right, left]));
  const place = (first: number, at: number | undefined) => (at === undefined ? -1 : first + at);
  const removed = Array.from({ length: run.left_count }, (_, at) => {
    const partner = place(run.right, partners.get(at));
    return { kind: "removed" as const, left: run.left + at, right: -1, change, partner };
  });
  const added = Array.from({ length: run.right_count }, (_, at) => {
    const partner = place(run.left, partnersBack.get(at));
    return { kind: "added" as const, left: -1, right: run.right + at, change, partner };
  });
  return [...removed, ...added];
}

function pairsOf({ pairs }: DiffRun): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) found.push([pairs[at] ?? 0, pairs[at + 1] ?? 0]);
  return found;
}

// Where both names of an op differ, its dialect is the same word on both sides.
const WORD = /\w+|\s+|[^\w\s]/g;
const MOST_WORDS = 300;
/** Of lines that have less in common, all would be marked. */
const LEAST_SHARE = 0.35;

/** Both lines in pieces, those marked that the other has not; null where they have little in common. */
export function changedWords(left: string, right: string): [Piece[], Piece[]] | null {
  const one = left.match(WORD) ?? [];
  const other = right.match(WORD) ?? [];
  if (one.length > MOST_WORDS || other.length > MOST_WORDS) return null;
  const [kept, keptOther] = common(one, other);
  const shared = one.reduce((sum, word, at) => sum + (kept.has(at) ? word.trim().length : 0), 0);
  const most = Math.max(left.replace(/\s/g, "").length, right.replace(/\s/g, "").length);
  if (shared < LEAST_SHARE * most) return null;
  return [pieces(one, kept), pieces(other, keptOther)];
}

/** Places of the words of the longest common subsequence, on either side. */
function common(one: readonly string[], other: readonly string[]): [Set<number>, Set<number>] {
  const width = other.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  const length = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        one[row] === other[column]
          ? length(row + 1, column + 1) + 1
          : Math.max(length(row + 1, column), length(row, column + 1));
    }
  }
  const kept = new Set<number>();
  const keptOther = new Set<number>();
  for (let row = 0, column = 0; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) {
      kept.add(row++);
      keptOther.add(column++);
    } else if (length(row + 1, column) >= length(row, column + 1)) row++;
    else column++;
  }
  return [kept, keptOther];
}

function pieces(words: readonly string[], kept: ReadonlySet<number>): Piece[] {
  const found: Piece[] = [];
  words.forEach((text, at) => {
    const isMarked = !kept.has(at);
    const last = found.at(-1);
    if (last && last.isMarked === isMarked) last.text += text;
    else found.push({ text, isMarked });
  });
  return found;
}

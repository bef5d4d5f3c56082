// Two texts as rows to draw, one beside or below the other; and words that differ. Knows no DOM.
import type { DiffRun } from "../protocol.ts";

export type RowKind = "same" | "removed" | "added" | "changed";

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
}

export interface Piece {
  text: string;
  isMarked: boolean;
}

export class DiffRows {
  readonly length: number;
  readonly #parts: Part[] = [];
  readonly #changes: Part[] = [];
  readonly #isSplit: boolean;

  /** Side by side a line stands beside the one that took its place; else below it. */
  constructor(runs: readonly DiffRun[], isSplit: boolean) {
    this.#isSplit = isSplit;
    let first = 0;
    for (const run of runs) {
      const { left_count, right_count } = run;
      const isSame = run.kind === "same";
      const isShort = isSame || isSplit;
      const count = isShort ? Math.max(left_count, right_count) : left_count + right_count;
      const part = { run, first, count, change: isSame ? -1 : this.#changes.length };
      this.#parts.push(part);
      if (!isSame) this.#changes.push(part);
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
    if (!part) return { kind: "same", left: -1, right: -1, change: -1, partner: -1 };
    const { run, change } = part;
    const at = row - part.first;
    if (run.kind === "same") {
      return { kind: "same", left: run.left + at, right: run.right + at, change, partner: -1 };
    }
    return this.#isSplit ? beside(run, at, change) : below(run, at, change);
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

function beside(run: DiffRun, at: number, change: number): Row {
  const left = at < run.left_count ? run.left + at : -1;
  const right = at < run.right_count ? run.right + at : -1;
  const kind = left < 0 ? "added" : right < 0 ? "removed" : "changed";
  return { kind, left, right, change, partner: -1 };
}

function below(run: DiffRun, at: number, change: number): Row {
  if (at < run.left_count) {
    const partner = at < run.right_count ? run.right + at : -1;
    return { kind: "removed", left: run.left + at, right: -1, change, partner };
  }
  const place = at - run.left_count;
  const partner = place < run.left_count ? run.left + place : -1;
  return { kind: "added", left: -1, right: run.right + place, change, partner };
}

// Where both names of an op differ, its dialect is the same word on both sides.
const WORD = /\w+|\s+|[^\w\s]/g;
const MOST_WORDS = 300;
/** Lines that have less in common are two lines, not one that changed. */
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

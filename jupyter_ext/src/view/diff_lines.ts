// The lines of two texts that are compared, asked for by pages as they come into sight.
import type { DiffAnswer, VersionLines } from "../protocol.ts";
import type { ModuleSource } from "./source.ts";

const PAGE = 200;

export type Side = "left" | "right";

interface Pair {
  unit: number;
  left: string;
  right: string;
}

export class DiffLines {
  readonly pair: Pair;
  readonly diff: DiffAnswer;
  readonly #source: ModuleSource;
  readonly #arrived: () => void;
  readonly #pages = { left: new Map(), right: new Map() } as Record<
    Side,
    Map<number, VersionLines | "asked">
  >;
  /** Of the longest line that was seen, in characters. */
  longest = 0;

  constructor(source: ModuleSource, pair: Pair, diff: DiffAnswer, arrived: () => void) {
    this.#source = source;
    this.pair = pair;
    this.diff = diff;
    this.#arrived = arrived;
  }

  /** A line and its number where it stands; null while it is on its way. */
  line(side: Side, place: number): { text: string; number: number } | null {
    const page = Math.floor(place / PAGE);
    const lines = this.#pages[side].get(page);
    if (lines === undefined) void this.#ask(side, page);
    if (lines === undefined || lines === "asked") return null;
    const at = place - lines.first;
    return { text: lines.lines[at] ?? "", number: lines.numbers[at] ?? 0 };
  }

  async #ask(side: Side, page: number): Promise<void> {
    this.#pages[side].set(page, "asked");
    const { unit } = this.pair;
    const fields = { unit, version: this.pair[side], first: page * PAGE, count: PAGE };
    try {
      const lines = await this.#source.ask("version_lines", fields);
      this.#pages[side].set(page, lines);
      for (const line of lines.lines) this.longest = Math.max(this.longest, line.length);
      this.#arrived();
    } catch {
      // The bar above says that the kernel is silent; scrolling asks again.
      this.#pages[side].delete(page);
    }
  }
}

// Two texts of one unit: side by side where there is room, else one below the other.
import type { UnitVersions, Version } from "../protocol.ts";
import { drawChoice } from "./diff_choice.ts";
import { DiffLines } from "./diff_lines.ts";
import { changedWords, DiffRows, type Piece, type Row } from "./diff_rows.ts";
import { button, fill, h, set } from "./dom.ts";
import { irSpans } from "./ir_line.ts";
import type { ModuleSource } from "./source.ts";

const LINE_HEIGHT = 18;
const AROUND = 12;
const MOST_COLUMNS = 400;
const SIGNS = { same: " ", removed: "−", added: "+" };

export class DiffView {
  readonly #lines = h("div", { class: "km-lines", role: "list" });
  readonly #spacer = h("div", { class: "km-spacer" }, this.#lines);
  readonly #scroller = h(
    "div",
    { class: "km-text km-diff", tabindex: "0", role: "region", onscroll: () => this.#draw() },
    this.#spacer,
  );
  readonly #body = h("div", { class: "km-diffbody" });
  readonly #choice = h("div", { class: "km-bar km-filters" });
  readonly element = h("div", { class: "km-textpane km-diffpane" }, this.#choice, this.#body);
  readonly #source: ModuleSource;
  readonly #announce: (words: string) => void;
  readonly #changed: () => void;
  readonly #observer = new ResizeObserver(() => this.#draw());
  #digest = "";
  #units: readonly UnitVersions[] = [];
  #unit = -1;
  #left = "";
  #right = "";
  #text: DiffLines | null = null;
  #rows = new DiffRows([], false);
  #isSplit = false;
  #change = -1;

  constructor(source: ModuleSource, events: { announce(words: string): void; changed(): void }) {
    this.#source = source;
    this.#announce = events.announce;
    this.#changed = events.changed;
    this.#observer.observe(this.#scroller);
  }

  dispose(): void {
    this.#observer.disconnect();
  }

  /** Shows the texts, side by side if `isWide`. */
  async show(isWide: boolean): Promise<void> {
    if (isWide !== this.#isSplit) {
      this.#isSplit = isWide;
      this.#arrange();
    }
    const { digest } = this.#source.current();
    if (digest === this.#digest) {
      this.#draw();
      return;
    }
    this.#digest = digest;
    await this.#ask();
  }

  /** How many changes there are, for the status line. */
  status(): string {
    if (!this.#text) return "";
    const { changes, left_count, right_count } = this.#text.diff;
    const count = (number: number) => number.toLocaleString("en");
    if (changes === 0) return `no line differs · ${count(left_count)} lines`;
    const word = changes === 1 ? "change" : "changes";
    return `${count(changes)} ${word} · ${count(left_count)} and ${count(right_count)} lines`;
  }

  /** Goes to the next change, or to the one before. */
  walk(step: 1 | -1): void {
    const { changeCount } = this.#rows;
    if (changeCount === 0) {
      this.#announce("no line differs");
      return;
    }
    const from = this.#change < 0 && step < 0 ? 0 : this.#change;
    this.#change = (from + step + changeCount) % changeCount;
    const { first, count } = this.#rows.span(this.#change);
    const { clientHeight } = this.#scroller;
    const room = Math.max(2 * LINE_HEIGHT, (clientHeight - count * LINE_HEIGHT) / 2);
    this.#scroller.scrollTop = Math.max(0, first * LINE_HEIGHT - room);
    this.#announce(`change ${this.#change + 1} of ${changeCount}`);
    this.#drawChoice();
    this.#draw();
  }

  async #ask(): Promise<void> {
    fill(this.#body, h("p", { class: "km-empty" }, "Asking the kernel what can be compared…"));
    try {
      const { units } = await this.#source.ask("versions", {});
      this.#units = units;
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (!this.#units.some(({ unit }) => unit === this.#unit)) {
      this.#unit = this.#units[0]?.unit ?? -1;
      this.#left = "";
    }
    await this.#compare();
  }

  async #compare(): Promise<void> {
    this.#text = null;
    this.#change = -1;
    const versions = this.#versions();
    const has = (key: string) => versions.some((version) => version.key === key);
    if (!has(this.#left) || !has(this.#right)) {
      [this.#left, this.#right] = usualPair(versions);
    }
    this.#drawChoice();
    this.#choice.hidden = versions.length === 0;
    const pair = { unit: this.#unit, left: this.#left, right: this.#right };
    if (versions.length === 0) {
      fill(this.#body, h("p", { class: "km-empty" }, "There is no unit whose texts could differ."));
      return;
    }
    try {
      const diff = await this.#source.ask("diff", pair);
      if (pair.left !== this.#left || pair.right !== this.#right || pair.unit !== this.#unit)
        return;
      this.#text = new DiffLines(this.#source, pair, diff, () => this.#draw());
    } catch (error) {
      this.#failed(error);
      return;
    }
    fill(this.#body, this.#scroller);
    this.#scroller.scrollTop = 0;
    this.#arrange();
    this.#drawChoice();
    this.#changed();
  }

  #versions(): readonly Version[] {
    return this.#units.find(({ unit }) => unit === this.#unit)?.versions ?? [];
  }

  #arrange(): void {
    this.#rows = new DiffRows(this.#text?.diff.runs ?? [], this.#isSplit);
    this.#spacer.style.height = `${this.#rows.length * LINE_HEIGHT}px`;
    this.#scroller.classList.toggle("split", this.#isSplit);
    this.#draw();
  }

  #drawChoice(): void {
    const { units } = this.#source.current();
    const choose = (change: () => void) => {
      change();
      void this.#compare();
    };
    drawChoice(
      this.#choice,
      {
        units: this.#units.map(({ unit }) => [
          String(unit),
          `${units[unit]?.letter ?? ""} ${units[unit]?.name ?? ""}`,
        ]),
        versions: this.#versions().map(({ key, label }) => [key, label]),
        unit: String(this.#unit),
        left: this.#left,
        right: this.#right,
        change: this.#change,
        changeCount: this.#rows.changeCount,
      },
      {
        unit: (to) => choose(() => (this.#unit = Number(to))),
        left: (to) => choose(() => (this.#left = to)),
        right: (to) => choose(() => (this.#right = to)),
        walk: (step) => this.walk(step),
      },
    );
  }

  #draw(): void {
    const text = this.#text;
    if (!text || this.#scroller.clientHeight === 0) return;
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.max(0, Math.floor(scrollTop / LINE_HEIGHT) - AROUND);
    const last = Math.ceil((scrollTop + clientHeight) / LINE_HEIGHT) + AROUND;
    const rows: HTMLElement[] = [];
    for (let at = first; at < Math.min(last, this.#rows.length); at++) {
      rows.push(this.#row(text, this.#rows.at(at)));
    }
    fill(this.#lines, ...rows);
    this.#lines.style.transform = `translateY(${first * LINE_HEIGHT}px)`;
    const columns = Math.min(MOST_COLUMNS, text.longest);
    this.#scroller.style.setProperty("--km-columns", `${columns + 9}ch`);
    set(this.#scroller, { "aria-label": `Differences: ${this.status()}` });
  }

  #row(text: DiffLines, row: Row): HTMLElement {
    const isCurrent = row.change >= 0 && row.change === this.#change;
    const classes = `l ${row.kind}${isCurrent ? " cur" : ""}`;
    const [left, right] = this.#words(text, row);
    if (!this.#isSplit) {
      const side = row.kind === "added" ? right : left;
      return h("div", { class: classes, role: "listitem" }, ...side);
    }
    return h(
      "div",
      { class: classes, role: "listitem" },
      h("span", { class: "side del" }, ...left),
      h("span", { class: "side add" }, ...right),
    );
  }

  /** What stands on either side of a row: numbers, sign, text. */
  #words(text: DiffLines, row: Row): [Node[], Node[]] {
    const left = row.left >= 0 ? text.line("left", row.left) : null;
    const right = row.right >= 0 ? text.line("right", row.right) : null;
    const partner = this.#partner(text, row);
    const one = left?.text ?? (row.kind === "added" ? partner : undefined);
    const other = right?.text ?? (row.kind === "removed" ? partner : undefined);
    const isSame = row.kind === "same";
    const isPair = !isSame && row.kind !== "apart";
    const pieces =
      isPair && one !== undefined && other !== undefined ? changedWords(one, other) : null;
    return [
      row.left >= 0 ? line(left, isSame ? "same" : "removed", pieces?.[0]) : [],
      row.right >= 0 ? line(right, isSame ? "same" : "added", pieces?.[1]) : [],
    ];
  }

  #partner(text: DiffLines, row: Row): string | undefined {
    if (row.partner < 0) return undefined;
    return text.line(row.kind === "removed" ? "right" : "left", row.partner)?.text;
  }

  #failed(error: unknown): void {
    const again = () => {
      this.#digest = "";
      void this.show(this.#isSplit);
    };
    const message = error instanceof Error ? error.message : String(error);
    this.#choice.hidden = this.#units.length === 0;
    fill(
      this.#body,
      h(
        "div",
        { class: "km-empty" },
        h("p", {}, `The texts cannot be compared: ${message}.`),
        button("km-btn", { onclick: again }, "Try again"),
      ),
    );
  }
}

/** What changed last: the version before against this one; else what linking made of the unit. */
function usualPair(versions: readonly Version[]): [string, string] {
  const keys = versions.map(({ key }) => key);
  const last = keys.at(-1) ?? "";
  if (keys.includes("merged")) return ["printed", "merged"];
  return [keys[0] ?? "", last];
}

/** Number, sign and text of a line; dots while it is on its way. */
function line(
  found: { text: string; number: number } | null,
  sign: keyof typeof SIGNS,
  pieces: readonly Piece[] | undefined,
): Node[] {
  const text = pieces ? marked(pieces) : irSpans(found?.text ?? "…");
  return [
    h("i", { "aria-hidden": "true" }, found ? String(found.number) : ""),
    h("b", { "aria-hidden": String(sign === "same") }, SIGNS[sign]),
    h("span", {}, ...text),
  ];
}

function marked(pieces: readonly Piece[]): (Node | string)[] {
  return pieces.flatMap(({ text, isMarked }) => {
    const spans = irSpans(text);
    return isMarked ? [h("mark", {}, ...spans)] : spans;
  });
}

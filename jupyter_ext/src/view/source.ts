// Where a view gets its module from: a live kernel, or what a notebook kept.
import type {
  Answers,
  Command,
  FunctionText,
  ModuleView,
  OpsDrawing,
  OpsRequest,
  SavedDiff,
  SavedText,
  SymbolRow,
  VersionLines,
} from "../protocol.ts";

export type Fields<K extends Command["kind"]> = Omit<Extract<Command, { kind: K }>, "kind" | "id">;

/**
 * `saved`: what a notebook kept, without a kernel; `file`: a page of its own; `silent`: the kernel
 * does not answer; `gone`: it will not answer any more.
 */
export type Connection = "live" | "silent" | "gone" | "saved" | "file";

export interface ModuleSource {
  current(): ModuleView;
  /** What else the status line says. */
  note(): string;
  /** What is shown first; empty for the functions. */
  firstTab(): string;
  connection(): Connection;
  /** Whether the module has changed since it was drawn. */
  isOutdated(): boolean;
  ask<K extends Command["kind"]>(kind: K, fields: Fields<K>): Promise<Answers[K]>;
  /** Calls back when view or connection are others; returns what ends that. */
  onChange(listener: () => void): () => void;
}

/** Answers from what a notebook kept, as far as that goes. */
export class SavedSource implements ModuleSource {
  readonly #view: ModuleView;
  readonly #connection: "saved" | "file";

  constructor(view: ModuleView, connection: "saved" | "file" = "saved") {
    this.#view = view;
    this.#connection = connection;
  }

  current(): ModuleView {
    return this.#view;
  }

  note(): string {
    return this.#view.saved?.note ?? "";
  }

  firstTab(): string {
    return this.#view.saved?.first_tab ?? "";
  }

  connection(): Connection {
    return this.#connection;
  }

  isOutdated(): boolean {
    return false;
  }

  onChange(): () => void {
    return () => {};
  }

  async ask<K extends Command["kind"]>(kind: K, fields: Fields<K>): Promise<Answers[K]> {
    const answer = this.#answers[kind](fields as never);
    if (answer === null)
      throw new Error(
        this.#connection === "file"
          ? "this is not on the page: it needs the notebook's kernel"
          : "this was not saved with the notebook: run the cell again",
      );
    return answer as Answers[K];
  }

  readonly #answers: { [K in Command["kind"]]: (fields: Fields<K>) => Answers[K] | null } = {
    symbols: () => {
      const rows = this.#view.saved?.symbols;
      return rows ? { rows } : null;
    },
    text: ({ text }) => this.#text(text)?.facts ?? null,
    lines: ({ text, first, count }) => {
      const lines = this.#text(text)?.lines;
      return lines ? { first, lines: lines.slice(first - 1, first - 1 + count) } : null;
    },
    function: ({ node }) => this.#function(node),
    find: ({ query }) => {
      const hits = namesWith(query, this.#view);
      return { hits, total: hits.length, nearest: [] };
    },
    ops: ({ request }) => this.#drawing(request),
    op: () => null,
    op_at: () => null,
    open: () => null,
    close: () => null,
    redraw: () => null,
    export: () => null,
    versions: () => this.#versions(),
    diff: ({ unit, left, right }) => this.#saved(unit, left, right)?.diff ?? null,
    version_lines: (asked) => this.#versionLines(asked),
  };

  /** A function as it is drawn when it opens; of another drawing there is none. */
  #drawing({ function: id, root, focus, opened, closed }: OpsRequest): OpsDrawing | null {
    const drawing = this.#view.saved?.drawings?.find(({ request }) => request.function === id);
    if (!drawing || root || focus) return null;
    const { request } = drawing;
    const isFirst = opened.length + closed.length === 0;
    const isSame = `${opened} ${closed}` === `${request.opened} ${request.closed}`;
    return isFirst || isSame ? drawing : null;
  }

  #saved(unit: number, left: string, right: string): SavedDiff | undefined {
    const diffs = this.#view.saved?.diffs ?? [];
    return diffs.find((d) => d.unit === unit && d.left.key === left && d.right.key === right);
  }

  #versions(): Answers["versions"] | null {
    const diffs = this.#view.saved?.diffs;
    if (!diffs) return null;
    return { units: diffs.map(({ unit, left, right }) => ({ unit, versions: [left, right] })) };
  }

  #versionLines({ unit, version, first, count }: Fields<"version_lines">): VersionLines | null {
    const diff = this.#view.saved?.diffs?.find((saved) => saved.unit === unit);
    if (!diff) return null;
    const { lines, numbers } = version === diff.left.key ? diff.left_lines : diff.right_lines;
    return {
      first,
      lines: lines.slice(first, first + count),
      numbers: numbers.slice(first, first + count),
    };
  }

  #text(number: number): SavedText | undefined {
    return this.#view.saved?.texts.find(({ facts }) => facts.text === number);
  }

  #functionText({ facts, lines }: SavedText, node: string): FunctionText[] {
    const range = facts.ranges.find((range) => range.node === node);
    if (!range) return [];
    const { first, last } = range;
    return [{ text: facts.text, first, lines: lines.slice(first - 1, last), left_out: 0 }];
  }

  #function(node: string): Answers["function"] | null {
    const texts = this.#view.saved?.texts ?? [];
    const place = this.#view.nodes.findIndex((other) => other.id === node);
    if (place < 0) return null;
    const ids = (places: number[]) => places.flatMap((index) => this.#view.nodes[index]?.id ?? []);
    const edges = this.#view.edges;
    return {
      texts: texts.flatMap((text) => this.#functionText(text, node)),
      type: "",
      callers: ids(edges.filter((edge) => edge.callee === place).map((edge) => edge.caller)),
      callees: ids(edges.filter((edge) => edge.caller === place).map((edge) => edge.callee)),
    };
  }
}

function namesWith(query: string, view: ModuleView): Answers["find"]["hits"] {
  const wanted = query.trim().toLowerCase().replace(/^@/, "");
  if (!wanted) return [];
  const drawn = view.nodes.filter(
    (node) => node.kind !== "group" && `${node.name} ${node.merged}`.toLowerCase().includes(wanted),
  );
  const none = { op: "", where: "", group: "", item: "" };
  const hits = drawn.map(({ id, name, merged }) => ({ ...none, node: id, name, merged }));
  const shown = new Set(drawn.map((node) => node.id));
  const folded = (view.saved?.symbols ?? []).filter((row: SymbolRow) => {
    const isNew = row.node !== "" && !shown.has(row.node);
    if (!isNew || !`${row.old} ${row.new}`.toLowerCase().includes(wanted)) return false;
    shown.add(row.node);
    return !view.nodes.some((node) => node.id === row.node);
  });
  return [
    ...hits,
    ...folded.map((row) => ({
      ...none,
      node: row.node,
      name: row.old,
      merged: row.new === row.old ? "" : row.new,
      group: view.nodes.find((node) => node.kind === "group")?.id ?? "",
    })),
  ];
}

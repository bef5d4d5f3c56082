// Where a view gets its module from: a live kernel, or what a notebook kept.
import type { Answers, Command, ModuleView, SymbolRow } from "../protocol.ts";

export type Fields<K extends Command["kind"]> = Omit<Extract<Command, { kind: K }>, "kind" | "id">;

/** `saved`: no kernel; `silent`: it does not answer; `gone`: it will not answer any more. */
export type Connection = "live" | "silent" | "gone" | "saved";

export interface ModuleSource {
  current(): ModuleView;
  /** What else the status line says. */
  note(): string;
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

  constructor(view: ModuleView) {
    this.#view = view;
  }

  current(): ModuleView {
    return this.#view;
  }

  note(): string {
    return this.#view.saved?.note ?? "";
  }

  connection(): Connection {
    return "saved";
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
      throw new Error("this was not saved with the notebook: run the cell again");
    return answer as Answers[K];
  }

  readonly #answers: { [K in Command["kind"]]: (fields: Fields<K>) => Answers[K] | null } = {
    symbols: () => {
      const rows = this.#view.saved?.symbols;
      return rows ? { rows } : null;
    },
    text: ({ text }) => (text === -1 ? (this.#view.saved?.merged ?? null) : null),
    lines: ({ text, first, count }) => {
      const lines = this.#view.saved?.lines;
      return text === -1 && lines
        ? { first, lines: lines.slice(first - 1, first - 1 + count) }
        : null;
    },
    function: ({ node }) => this.#function(node),
    find: ({ query }) => {
      const hits = namesWith(query, this.#view);
      return { hits, total: hits.length, nearest: [] };
    },
    ops: () => null,
    op: () => null,
    op_at: () => null,
    open: () => null,
    close: () => null,
    redraw: () => null,
  };

  #function(node: string): Answers["function"] | null {
    const { merged, lines } = this.#view.saved ?? {};
    const range = merged?.ranges.find((range) => range.node === node);
    const place = this.#view.nodes.findIndex((other) => other.id === node);
    if (place < 0) return null;
    const ids = (places: number[]) => places.flatMap((index) => this.#view.nodes[index]?.id ?? []);
    const edges = this.#view.edges;
    const text = range && lines?.slice(range.first - 1, range.last);
    return {
      texts: range && text ? [{ text: -1, first: range.first, lines: text, left_out: 0 }] : [],
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

// The functions as an outline: entries first, below each function what it calls. Knows no DOM.
import type { EdgeView, ModuleView, NodeView } from "../protocol.ts";

export interface OutlineRow {
  /** Place of the node in the view. */
  place: number;
  node: NodeView;
  /** The call that leads here; null for a root. */
  edge: EdgeView | null;
  level: number;
  /** Whether it is written in full above, or is still open: then nothing stands below it. */
  seen: "" | "above" | "cycle";
  hasChildren: boolean;
}

interface Step {
  place: number;
  edge: EdgeView | null;
  level: number;
}

const MOST_ROWS = 2000;

/** The rows, depth first; a function that several call is written in full once. */
export function outlineRows(
  view: ModuleView,
  closed: ReadonlySet<string> = new Set(),
): OutlineRow[] {
  const calls: EdgeView[][] = view.nodes.map(() => []);
  const called = new Set<number>();
  for (const edge of view.edges) {
    calls[edge.caller]?.push(edge);
    if (edge.caller !== edge.callee) called.add(edge.callee);
  }
  const rows: OutlineRow[] = [];
  const written = new Set<number>();
  for (const root of roots(view, called)) {
    if (written.has(root)) continue;
    walk({ place: root, edge: null, level: 0 }, { view, calls, written, rows });
  }
  return withoutClosed(rows, closed);
}

interface Walk {
  view: ModuleView;
  calls: EdgeView[][];
  written: Set<number>;
  rows: OutlineRow[];
}

/** With a stack of its own: call chains may be deep. */
function walk(root: Step, { view, calls, written, rows }: Walk): void {
  const path: number[] = [];
  const stack: Step[] = [root];
  for (let step = stack.pop(); step; step = stack.pop()) {
    const node = view.nodes[step.place];
    if (!node || rows.length >= MOST_ROWS) return;
    path.length = step.level;
    const seen = seenBefore(step.place, path, written);
    const own = calls[step.place] ?? [];
    rows.push({ ...step, node, seen, hasChildren: seen === "" && own.length > 0 });
    written.add(step.place);
    if (seen !== "") continue;
    path.push(step.place);
    const level = step.level + 1;
    for (const edge of own.toReversed()) stack.push({ place: edge.callee, edge, level });
  }
}

/** Leaves out what stands below a closed function. */
function withoutClosed(rows: OutlineRow[], closed: ReadonlySet<string>): OutlineRow[] {
  let hiddenFrom = Number.POSITIVE_INFINITY;
  return rows.filter((row) => {
    if (row.level > hiddenFrom) return false;
    const isClosed = row.hasChildren && closed.has(row.node.id);
    hiddenFrom = isClosed ? row.level : Number.POSITIVE_INFINITY;
    return true;
  });
}

function seenBefore(place: number, path: number[], written: Set<number>): OutlineRow["seen"] {
  if (path.includes(place)) return "cycle";
  return written.has(place) ? "above" : "";
}

function roots(view: ModuleView, called: ReadonlySet<number>): number[] {
  const places = view.nodes.map((_, place) => place);
  const entries = places.filter((place) => view.nodes[place]?.is_entry);
  const uncalled = places.filter((place) => !called.has(place));
  // The rest are roots only where nothing above leads to them: cycles that nobody enters.
  return [...new Set([...entries, ...uncalled, ...places])];
}

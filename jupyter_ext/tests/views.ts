// Views to test with: small modules as the kernel would send them.
import type { EdgeView, ModuleView, NodeView, OpItem, OpsDrawing } from "../src/protocol.ts";

export function node(id: string, changes: Partial<NodeView> = {}): NodeView {
  return {
    id,
    kind: "function",
    status: "kept",
    name: `@${id}`,
    merged: "",
    facts: ["kept", "3 ops"],
    units: [0],
    is_entry: false,
    op_count: 3,
    line: 1,
    members: 0,
    x: 0,
    y: 0,
    width: 150,
    ...changes,
  };
}

export function edge(caller: number, callee: number, changes: Partial<EdgeView> = {}): EdgeView {
  return {
    caller,
    callee,
    kind: "call",
    count: 1,
    points: [150, 22, 170, 22, 170, 22, 186, 22],
    tip: [194, 22],
    ...changes,
  };
}

export function module(nodes: NodeView[], edges: EdgeView[] = []): ModuleView {
  return {
    version: 1,
    title: "session",
    text_word: "Merged",
    digest: "0123456789abcdef",
    units: [
      { name: "block", letter: "A", has_text: true },
      { name: "norm", letter: "B", has_text: true },
    ],
    nodes,
    edges,
    width: 400,
    height: 200,
    counts: ["1 function"],
    missing: [],
    folded: "",
    opened: [],
    engine: "dot",
    layout_time_ms: 12,
    drawn_at: "14:02:31",
  };
}

export function item(id: string, changes: Partial<OpItem> = {}): OpItem {
  return {
    id,
    op: id,
    kind: "op",
    does: "elementwise",
    name: "stablehlo.add",
    label: "add",
    note: "",
    types: ["8xf32"],
    line: 1,
    block: 0,
    is_open: false,
    folded_ops: 0,
    callee: "",
    x: 0,
    y: 0,
    width: 80,
    height: 26,
    ...changes,
  };
}

export function drawing(items: OpItem[], holders: number[] = [-1]): OpsDrawing {
  const size = { x: 0, y: 0, width: 0, height: 0 };
  return {
    request: {
      function: "main",
      root: "",
      focus: "",
      hops: 2,
      opened: [],
      closed: [],
      folds_trivial: false,
    },
    name: "@main",
    merged: "",
    path: [],
    items,
    blocks: holders.map((holder, place) => ({
      id: String(place),
      name: "",
      title: "1 op",
      item: holder,
      is_framed: holder >= 0,
      ...size,
    })),
    links: [],
    types: [],
    width: 400,
    height: 200,
    counts: ["1 op"],
    folded: [],
    engine: "dot",
    layout_time_ms: 3,
  };
}

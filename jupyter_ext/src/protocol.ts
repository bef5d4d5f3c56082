// What kernel and front end say to each other.
// Written by jupyter_ext/write_protocol.py from kernel_magics/widgets/protocol*.py: do not edit.

export type NodeKind = "function" | "declaration" | "custom_call" | "group";

export type NodeStatus = "kept" | "renamed" | "reused" | "missing";

export type EdgeKind = "call" | "bound" | "composite" | "reference" | "custom_call";

export type Why = "kept" | "renamed" | "reused" | "bound" | "missing";

/** One unit of the module. */
export interface UnitView {
  name: string;
  letter: string;
  has_text: boolean;
}

/** One node of the functions view; lengths in px from the top left corner. */
export interface NodeView {
  id: string;
  kind: NodeKind;
  status: NodeStatus;
  /** As the author wrote it, with `@` where it is a symbol; control characters are spelled. */
  name: string;
  /** The name in the linked module where it differs, with `@`; else empty. */
  merged: string;
  /** What the second row says; the status comes first. */
  facts: string[];
  /** Places in `units` of those that define it. */
  units: number[];
  is_entry: boolean;
  op_count: number;
  /** Line of the definition in its first unit's text, from 1. */
  line: number | null;
  /** How many functions and custom calls a group stands for; 0 for all else. */
  members: number;
  x: number;
  y: number;
  width: number;
}

/** One edge: a curve of cubic Bézier segments that ends at the base of its arrow. */
export interface EdgeView {
  /** Place in `nodes`. */
  caller: number;
  callee: number;
  kind: EdgeKind;
  count: number;
  /** x, y of start, control, control, end, control, …. */
  points: number[];
  tip: number[];
}

/** The functions of a module as they are drawn, and what the status line says. */
export interface ModuleView {
  version: 1;
  title: string;
  /** What the text with the number -1 is called: `Merged`, or `Printed` for a lone program. */
  text_word: string;
  /** Equal for views of equal modules. */
  digest: string;
  units: UnitView[];
  nodes: NodeView[];
  edges: EdgeView[];
  width: number;
  height: number;
  /** `14 functions`, `3 units`, ….; the words of the status line. */
  counts: string[];
  /** Names that nothing serves. */
  missing: string[];
  /** What is not drawn, in words; empty when everything is. */
  folded: string;
  opened: string[];
  engine: string;
  layout_time_ms: number;
  drawn_at: string;
  /** Only in a saved notebook: what can be shown without a kernel. */
  saved?: SavedTexts;
}

/** What became of one symbol of one unit. */
export interface SymbolRow {
  /** Place in `units`; -1 for a program that is no unit of a session. */
  unit: number;
  old: string;
  new: string;
  why: Why;
  kind: string;
  explanation: string;
  uses: number;
  line: number | null;
  /** Id of its node in the graph; empty where it is no function. */
  node: string;
}

/** Symbols and merged text, kept in the notebook as far as there is room. */
export interface SavedTexts {
  note: string;
  symbols?: SymbolRow[];
  merged?: TextView;
  lines?: string[];
}

/** Where one function stands in a text: first and last line, from 1. */
export interface TextRange {
  node: string;
  first: number;
  last: number;
}

/** What is to be known about a text before its lines are asked for. */
export interface TextView {
  /** Place in `units`, or -1 for the merged text. */
  text: number;
  line_count: number;
  ranges: TextRange[];
}

/** One function as a text has it. */
export interface FunctionText {
  text: number;
  first: number;
  lines: string[];
  left_out: number;
}

/** A function's texts, the merged one first, and its signature. */
export interface FunctionAnswer {
  texts: FunctionText[];
  /** `(4x64xf32, i32) → 64xf32`; empty where it is not known. */
  type: string;
  callers: string[];
  callees: string[];
}

/** The whole rename map. */
export interface SymbolsAnswer {
  rows: SymbolRow[];
}

/** Lines of a text, those that were asked for as far as there are so many. */
export interface LinesAnswer {
  first: number;
  lines: string[];
}

/** One function that a query found. */
export interface Hit {
  node: string;
  name: string;
  merged: string;
  /** Id of the group it is folded into; empty where it is drawn itself. */
  group: string;
}

/** What a query found, in the order of the module. */
export interface HitsAnswer {
  hits: Hit[];
  total: number;
}

/** The trait `view` holds what was asked for. */
export interface DrawnAnswer {
  digest: string;
}

/** Give the texts of one function. */
export interface FunctionCommand {
  kind: "function";
  id: string;
  node: string;
}

/** Give the rename map. */
export interface SymbolsCommand {
  kind: "symbols";
  id: string;
}

/** Give what is to be known about a text. */
export interface TextCommand {
  kind: "text";
  id: string;
  text: number;
}

/** Give lines of a text. */
export interface LinesCommand {
  kind: "lines";
  id: string;
  text: number;
  first: number;
  count: number;
}

/** Find functions by their names. */
export interface FindCommand {
  kind: "find";
  id: string;
  query: string;
}

/** Draw the first members of a group. */
export interface OpenCommand {
  kind: "open";
  id: string;
  group: string;
}

/** Fold what was opened. */
export interface CloseCommand {
  kind: "close";
  id: string;
}

/** Draw the module as it is at this moment. */
export interface RedrawCommand {
  kind: "redraw";
  id: string;
}

export type Command = FunctionCommand | SymbolsCommand | TextCommand | LinesCommand | FindCommand | OpenCommand | CloseCommand | RedrawCommand;

/** Which command is answered by what. */
export interface Answers {
  function: FunctionAnswer;
  symbols: SymbolsAnswer;
  text: TextView;
  lines: LinesAnswer;
  find: HitsAnswer;
  open: DrawnAnswer;
  close: DrawnAnswer;
  redraw: DrawnAnswer;
}

export type Answer = FunctionAnswer | SymbolsAnswer | TextView | LinesAnswer | HitsAnswer | DrawnAnswer;

/** A command was done. */
export interface AnsweredReply {
  kind: "answered";
  id: string;
  answer: Answer;
  /** Whether the module has changed since the view was drawn. */
  is_outdated: boolean;
}

/** A command was not done. */
export interface FailedReply {
  kind: "failed";
  id: string;
  message: string;
}

export type Reply = AnsweredReply | FailedReply;

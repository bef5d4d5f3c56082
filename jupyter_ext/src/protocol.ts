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

/** A text, whole. */
export interface SavedText {
  facts: TextView;
  lines: string[];
}

/** Symbols and texts, kept in the notebook as far as there is room. */
export interface SavedTexts {
  note: string;
  /** What is shown first; empty for the functions. */
  first_tab: string;
  symbols?: SymbolRow[];
  texts: SavedText[];
  /** Only on a page of its own, as are drawings of ops. */
  diffs?: SavedDiff[];
  drawings?: OpsDrawing[];
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

export type RunKind = "same" | "changed";

/** One text of a unit. */
export interface Version {
  /** `written`, `printed`, `merged`, or the number of an earlier version from 1. */
  key: string;
  label: string;
}

/** All texts of a unit that can be compared. */
export interface UnitVersions {
  /** Place in `units`. */
  unit: number;
  /** The oldest first, the merged one last. */
  versions: Version[];
}

/** What can be compared. */
export interface VersionsAnswer {
  units: UnitVersions[];
}

/** Lines that follow each other: the same on both sides, or not. */
export interface DiffRun {
  kind: RunKind;
  /** First line on the left, from 0; `left_count` may be none. */
  left: number;
  left_count: number;
  right: number;
  right_count: number;
  /** Lines that took each other's place, left, right, left, …, counted from the run's first. */
  pairs: number[];
}

/** Two texts as runs of lines; those of neither side are left out. */
export interface DiffAnswer {
  runs: DiffRun[];
  left_count: number;
  right_count: number;
  changes: number;
}

/** Lines of one text, and the numbers that they have where it stands. */
export interface VersionLines {
  /** From 0. */
  first: number;
  lines: string[];
  numbers: number[];
}

/** A comparison on a page of its own, with all its lines. */
export interface SavedDiff {
  unit: number;
  left: Version;
  right: Version;
  diff: DiffAnswer;
  left_lines: VersionLines;
  right_lines: VersionLines;
}

/** Say what can be compared. */
export interface VersionsCommand {
  kind: "versions";
  id: string;
}

/** Compare two texts of a unit. */
export interface DiffCommand {
  kind: "diff";
  id: string;
  unit: number;
  left: string;
  right: string;
}

/** Give lines of one text of a unit. */
export interface VersionLinesCommand {
  kind: "version_lines";
  id: string;
  unit: number;
  version: string;
  /** From 0. */
  first: number;
  count: number;
}

export type ItemKind = "op" | "argument" | "captured" | "return" | "group";

/** What of a function is to be drawn. */
export interface OpsRequest {
  /** Id of its node. */
  function: string;
  /** Id of the op whose regions are entered; empty for the function. */
  root: string;
  /** Id of the op whose neighbours alone are drawn; empty for all. */
  focus: string;
  hops: number;
  /** Ids of groups and ops that shall be open. */
  opened: string[];
  /** Ids of ops whose regions shall be folded. */
  closed: string[];
  folds_trivial: boolean;
}

/** One thing that is drawn; lengths in px from the top left corner. */
export interface OpItem {
  /** That of its op; `FIRST..LAST` for a group, `BLOCK^OP:RESULT` for a captured value. */
  id: string;
  /** Id of the op or argument that it shows; for a group the first one. */
  op: string;
  kind: ItemKind;
  /** What kind of work it does: `elementwise`, `reduce`, …. */
  does: string;
  /** With the dialect: `stablehlo.add`; empty for an argument. */
  name: string;
  label: string;
  note: string;
  /** Of its results. */
  types: string[];
  /** In the text of its unit, from 1; 0 where it is not known. */
  line: number;
  /** Place in `blocks` of the block that it stands in. */
  block: number;
  /** Whether its regions are drawn inside it. */
  is_open: boolean;
  /** Ops in it that are not drawn. */
  folded_ops: number;
  /** Id of the function that it calls, where that can be opened. */
  callee: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One block: the function's, or one of a region that is open. */
export interface OpBlock {
  id: string;
  name: string;
  /** How much it holds, in words. */
  title: string;
  /** Place in `items` of the op that it belongs to; -1 for the outermost. */
  item: number;
  is_framed: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One item uses what another gives: cubic Bézier segments, then the arrow's point. */
export interface OpLink {
  /** Place in `items`. */
  source: number;
  target: number;
  type: string;
  /** Names of ops folded into it. */
  via: string[];
  points: number[];
  tip: number[];
}

/** The type of a value, written beside its edge. */
export interface OpType {
  text: string;
  /** Its left end. */
  x: number;
  /** Its base line. */
  y: number;
}

/** One op that was entered. */
export interface PathStep {
  op: string;
  label: string;
}

/** The ops of one function as they are drawn. */
export interface OpsDrawing {
  /** What was asked for; without what had to be folded again for want of room. */
  request: OpsRequest;
  /** As the author wrote it, with `@`. */
  name: string;
  /** The name in the linked module where it differs, with `@`; else empty. */
  merged: string;
  /** The ops that were entered, outermost first. */
  path: PathStep[];
  /** Outer before inner, in the order of the text. */
  items: OpItem[];
  /** Outer before inner. */
  blocks: OpBlock[];
  links: OpLink[];
  types: OpType[];
  width: number;
  height: number;
  /** How much there is and how much of it is drawn. */
  counts: string[];
  /** What is not drawn, one phrase a rule. */
  folded: string[];
  engine: string;
  layout_time_ms: number;
}

/** A value, or an op that uses one. */
export interface OpValue {
  name: string;
  type: string;
  /** Id of the op or argument to go to; empty for none. */
  op: string;
}

/** One attribute of an op, large values elided. */
export interface OpAttribute {
  name: string;
  value: string;
}

/** Where an op stands in a text. */
export interface TextPlace {
  /** Place in `units`, or -1 for the merged text. */
  text: number;
  line: number;
  /** In characters, from 1. */
  column: number;
}

/** All that is known of one op. */
export interface OpAnswer {
  name: string;
  label: string;
  /** The function and the op's id: `@main/4/1.0.2`. */
  path: string;
  /** As MLIR prints it, its regions left out. */
  text: string;
  scope: string;
  operands: OpValue[];
  results: OpValue[];
  users: OpValue[];
  users_left_out: number;
  attributes: OpAttribute[];
  /** In the merged text, in its unit's; those that are known. */
  places: TextPlace[];
  /** What stands around it in these texts. */
  texts: FunctionText[];
  /** Id of the function that it calls; empty for none that can be opened. */
  callee: string;
  /** Id of the item that shows it or hides it in the drawing that was told of; empty for none. */
  item: string;
}

/** What stands on a line. */
export interface OpAtAnswer {
  /** Empty where no function stands there. */
  function: string;
  /** Empty for the function's own first line. */
  op: string;
}

export type ExportForm = "svg" | "png" | "dot" | "html";

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

/** One function or op that a query found. */
export interface Hit {
  /** Id of the function, or of that in which the op stands. */
  node: string;
  /** Id of the op; empty where the function itself was found. */
  op: string;
  name: string;
  merged: string;
  /** Function and line of an op; empty for a function. */
  where: string;
  /** Id of the group of functions that its function is folded into; empty for none. */
  group: string;
  /** Id of the item that shows the op or hides it in the drawing that was told of. */
  item: string;
}

/** Another query, and how much it finds. */
export interface Suggestion {
  query: string;
  total: number;
}

/** What a query found, in the order of the module. */
export interface HitsAnswer {
  hits: Hit[];
  total: number;
  /** Where nothing was found: queries near to this one that find something. */
  nearest: Suggestion[];
}

/** The trait `view` holds what was asked for. */
export interface DrawnAnswer {
  digest: string;
}

/** A file. */
export interface ExportAnswer {
  name: string;
  mime_type: string;
  base64: string;
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

/** Find functions or ops, in the syntax of `graph.find`. */
export interface FindCommand {
  kind: "find";
  id: string;
  query: string;
  /** Id of the function whose ops are searched; empty for the module. */
  within: string;
  /** The drawing in which hits are to be marked. */
  drawn: OpsRequest | null;
}

/** Draw the ops of one function. */
export interface OpsCommand {
  kind: "ops";
  id: string;
  request: OpsRequest;
}

/** Give all that is known of one op. */
export interface OpCommand {
  kind: "op";
  id: string;
  function: string;
  op: string;
  /** The drawing in which it is to be shown. */
  drawn: OpsRequest | null;
}

/** Say which op stands on a line of a text. */
export interface OpAtCommand {
  kind: "op_at";
  id: string;
  text: number;
  line: number;
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

/** Give the view as a file. */
export interface ExportCommand {
  kind: "export";
  id: string;
  form: ExportForm;
  /** Id of the function whose ops are wanted; empty for the functions. A page has both. */
  function: string;
}

export type Command = FunctionCommand | SymbolsCommand | TextCommand | LinesCommand | FindCommand | OpsCommand | OpCommand | OpAtCommand | OpenCommand | CloseCommand | RedrawCommand | ExportCommand | VersionsCommand | DiffCommand | VersionLinesCommand;

/** Which command is answered by what. */
export interface Answers {
  function: FunctionAnswer;
  symbols: SymbolsAnswer;
  text: TextView;
  lines: LinesAnswer;
  find: HitsAnswer;
  ops: OpsDrawing;
  op: OpAnswer;
  op_at: OpAtAnswer;
  open: DrawnAnswer;
  close: DrawnAnswer;
  redraw: DrawnAnswer;
  export: ExportAnswer;
  versions: VersionsAnswer;
  diff: DiffAnswer;
  version_lines: VersionLines;
}

export type Answer = FunctionAnswer | SymbolsAnswer | TextView | LinesAnswer | HitsAnswer | OpsDrawing | OpAnswer | OpAtAnswer | DrawnAnswer | ExportAnswer | VersionsAnswer | DiffAnswer | VersionLines;

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

export type PluginState = "in use" | "loaded" | "probing" | "probed" | "found" | "no device" | "broken" | "forgotten";

export type PluginAction = "use" | "load" | "probe" | "forget";

export type Serving = "served" | "fallback" | "missing" | "not loaded";

export type Weight = "" | "ok" | "warn" | "bad";

/** One plugin; what is not known is empty. */
export interface PluginRow {
  name: string;
  state: PluginState;
  /** Distribution and version, or a path. */
  source: string;
  pjrt: string;
  ffi: string;
  /** `4 × Host`. */
  devices: string;
  memory: string;
  /** Why it cannot be used, in a few words. */
  problem: string;
  /** The whole error. */
  detail: string;
  advice: string;
  /** What it is doing at this moment. */
  waiting: string;
  /** What can be asked for; the first is the one most wanted. */
  actions: PluginAction[];
}

/** One target that somebody registered. */
export interface CallRow {
  target: string;
  served_by: string;
  /** Where a handler serves it. */
  plugins: string;
  contract: string;
  calls: number;
  /** Of a call, such as `3.1 µs`; empty before the first one. */
  mean: string;
  /** The last error in a few words; empty for none. */
  problem: string;
  detail: string;
}

/** One target that the session calls, on each plugin. */
export interface CoverageRow {
  target: string;
  /** One for each of `covered`. */
  cells: Serving[];
  called_in: string;
}

/** How one plugin did; texts as they are shown. */
export interface CompareRow {
  plugin: string;
  compile: string;
  run: string;
  /** Of the slowest run, from 0 to 1: the length of the bar. */
  share: number;
  is_fastest: boolean;
  memory: string;
  difference: string;
  ulp: string;
  result: string;
  weight: Weight;
  /** Why it did not run; all else is empty then. */
  problem: string;
}

/** One comparison. */
export interface CompareView {
  title: string;
  conditions: string;
  rows: CompareRow[];
  summary: string;
  /** All of it as a table of characters. */
  text: string;
}

/** Why something was not done. */
export interface PanelFailure {
  message: string;
  /** More on it, in lines. */
  detail: string;
  advice: string;
}

/** All that the panel shows. */
export interface PanelView {
  version: 1;
  plugins: PluginRow[];
  /** Words of the status line of the plugins. */
  notes: string[];
  calls: CallRow[];
  /** Names of the plugins in the table of what is covered. */
  covered: string[];
  coverage: CoverageRow[];
  /** A sentence on targets that nothing serves where they may run; empty where there are none. */
  missing: string;
  /** What can be compared. */
  functions: string[];
  /** The latest one; empty before it. */
  comparisons: CompareView[];
  /** What is compared at this moment; empty for nothing. */
  comparing: string;
  /** Of what had begun and did not work. */
  failure: PanelFailure | null;
  drawn_at: string;
}

/** Do something with one plugin. */
export interface PluginCommand {
  kind: "plugin";
  id: string;
  action: PluginAction;
  name: string;
}

/** Load a shared library as a plugin. */
export interface LoadPathCommand {
  kind: "load_path";
  id: string;
  name: string;
  path: string;
}

/** Look for plugins again. */
export interface DiscoverCommand {
  kind: "discover";
  id: string;
}

/** Register a symbol of a library. */
export interface RegisterCommand {
  kind: "register";
  id: string;
  target: string;
  library: string;
  symbol: string;
  /** Where it serves; none for everywhere. */
  plugins: string[];
  /** Whether it runs in a child process first. */
  is_tried: boolean;
}

/** Take the handler of a target away. */
export interface UnregisterCommand {
  kind: "unregister";
  id: string;
  target: string;
}

/** Run a function of the session on some plugins. */
export interface CompareCommand {
  kind: "compare";
  id: string;
  function: string;
  plugins: string[];
}

/** Read everything again. */
export interface RefreshCommand {
  kind: "refresh";
  id: string;
}

export type PanelCommand = PluginCommand | LoadPathCommand | DiscoverCommand | RegisterCommand | UnregisterCommand | CompareCommand | RefreshCommand;

/** It is done, or has begun. */
export interface DoneReply {
  kind: "done";
  id: string;
  /** For those who do not see the panel. */
  words: string;
}

/** It was not done, and nothing has changed. */
export interface RefusedReply {
  kind: "refused";
  id: string;
  message: string;
  advice: string;
  /** More on it, in lines. */
  detail: string;
}

export type PanelReply = DoneReply | RefusedReply;

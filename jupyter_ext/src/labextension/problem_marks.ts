// Marks problems in an editor: a wave under the text, a sign in the gutter, words on hover.
import {
  type EditorState,
  type Extension,
  RangeSet,
  StateEffect,
  StateField,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutter,
  hoverTooltip,
  type Tooltip,
} from "@codemirror/view";
import { h } from "../view/dom.ts";
import type { Problem } from "./problems.ts";

export const setProblems = StateEffect.define<readonly Problem[]>();

const WAVE = Decoration.mark({ class: "km-problem" });

const problems = StateField.define<readonly Problem[]>({
  create: () => [],
  update(held, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) return placed(effect.value, transaction.state);
    }
    if (!transaction.docChanged || held.length === 0) return held;
    const before = transaction.startState.doc;
    return held
      .filter(({ from }) => {
        const line = before.lineAt(from);
        return transaction.changes.touchesRange(line.from, line.to) === false;
      })
      .map((problem) => ({
        ...problem,
        from: transaction.changes.mapPos(problem.from, 1),
        to: transaction.changes.mapPos(problem.to, -1),
      }));
  },
  provide: (field) => [
    EditorView.decorations.from(field, waves),
    EditorView.editorAttributes.from(
      field,
      (held): Record<string, string> => (held.length > 0 ? { class: "km-has-problems" } : {}),
    ),
  ],
});

class Sign extends GutterMarker {
  readonly #message: string;

  constructor(message: string) {
    super();
    this.#message = message;
  }

  override eq(other: GutterMarker): boolean {
    return other instanceof Sign && other.#message === this.#message;
  }

  override toDOM(): Node {
    const label = `Error: ${this.#message}`;
    return h("span", { class: "km-problem-sign", role: "img", "aria-label": label, title: label });
  }
}

/** What an editor needs to show problems that it is sent as `setProblems`. */
export function problemMarks(): Extension {
  return [
    problems,
    gutter({ class: "km-problem-gutter", markers: ({ state }) => signs(state) }),
    hoverTooltip((view, position) => tooltip(view.state, position), { hoverTime: 200 }),
    look,
  ];
}

/** Problems on the text as it is: within its bounds, and wide enough to be seen. */
function placed(given: readonly Problem[], { doc }: EditorState): Problem[] {
  return given
    .map(({ from, to, message }) => {
      const start = Math.min(from, doc.length);
      const line = doc.lineAt(start);
      const end = Math.min(Math.max(to, start + 1), line.to);
      return { from: Math.max(line.from, Math.min(start, end - 1)), to: end, message };
    })
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

function waves(held: readonly Problem[]): DecorationSet {
  const wide = held.filter(({ from, to }) => to > from);
  return Decoration.set(wide.map(({ from, to }) => WAVE.range(from, to)));
}

function signs(state: EditorState): RangeSet<GutterMarker> {
  const messages = new Map<number, string[]>();
  for (const { from, message } of state.field(problems)) {
    const line = state.doc.lineAt(from).from;
    messages.set(line, [...(messages.get(line) ?? []), message]);
  }
  return RangeSet.of([...messages].map(([line, said]) => new Sign(said.join("\n")).range(line)));
}

function tooltip(state: EditorState, position: number): Tooltip | null {
  const here = state
    .field(problems)
    .filter(({ from, to }) => from <= position && position <= Math.max(to, from));
  const [first] = here;
  if (!first) return null;
  const said = here.map(({ message }) => h("div", {}, message));
  return {
    pos: first.from,
    end: first.to,
    above: true,
    create: () => ({ dom: h("div", { class: "km-tip km-tip-problem" }, ...said) }),
  };
}

const look = EditorView.baseTheme({
  ".km-problem": {
    textDecoration: "underline wavy var(--jp-error-color1, #d32f2f) 1px",
    textDecorationSkipInk: "none",
    textUnderlineOffset: "3px",
  },
  // Cells without problems look like all others.
  ".km-problem-gutter": { width: "0", overflow: "hidden" },
  "&.km-has-problems .km-problem-gutter": { width: "16px" },
  "& .cm-gutters:not(:has(.cm-lineNumbers, .cm-foldGutter))": {
    background: "transparent",
    border: "none",
  },
  ".km-problem-gutter .cm-gutterElement": {
    display: "flex",
    alignItems: "center",
    justifyContent: "center",
  },
  // A disc with a bar: its shape says what its colour says.
  ".km-problem-sign": {
    width: "10px",
    height: "10px",
    borderRadius: "5px",
    background:
      "linear-gradient(var(--jp-layout-color0, #fff), var(--jp-layout-color0, #fff)) center / 6px 2px" +
      " no-repeat var(--jp-error-color1, #d32f2f)",
  },
});

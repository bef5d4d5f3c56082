// Sets a magic's line off from a text whose language does not know it.
import { type EditorState, type Extension, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

const MAGIC = Decoration.mark({ class: "km-magic-line" });

const field = StateField.define<DecorationSet>({
  create: marked,
  update: (held, { docChanged, state }) => (docChanged ? marked(state) : held),
  provide: (self) => EditorView.decorations.from(self),
});

function marked({ doc }: EditorState): DecorationSet {
  const line = doc.line(1);
  return line.length > 0 ? Decoration.set(MAGIC.range(line.from, line.to)) : Decoration.none;
}

export function magicLine(): Extension {
  return [field, look];
}

const look = EditorView.baseTheme({
  ".km-magic-line, .km-magic-line *": {
    color:
      "color-mix(in srgb, var(--jp-mirror-editor-meta-color) 72%, var(--jp-ui-font-color0))" +
      " !important",
    fontWeight: "normal !important",
    fontStyle: "normal !important",
  },
});

// Gives a cell the language of its magic, and takes it away again when the magic goes.
import { Compartment, type Extension, Prec, type Text } from "@codemirror/state";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

/** What cells of a magic look like; C++ comes from JupyterLab, which loads it when it is wanted. */
export interface CellLanguage {
  readonly magic: RegExp;
  readonly load: () => Extension | Promise<Extension>;
}

/** Lines that may be blank before a magic. */
const MOST_BLANK_LINES = 20;

/** Keeps the language of an editor true to the first line of its text. */
export function cellLanguage(languages: readonly CellLanguage[]): Extension {
  const slot = new Compartment();

  class Keeper {
    #current: CellLanguage | undefined;
    #isGone = false;
    readonly #view: EditorView;

    constructor(view: EditorView) {
      this.#view = view;
      this.#check();
    }

    update({ docChanged }: ViewUpdate): void {
      if (docChanged) this.#check();
    }

    destroy(): void {
      this.#isGone = true;
    }

    #check(): void {
      const line = firstLine(this.#view.state.doc);
      const wanted = languages.find(({ magic }) => magic.test(line));
      if (wanted === this.#current) return;
      this.#current = wanted;
      void this.#change(wanted);
    }

    async #change(wanted: CellLanguage | undefined): Promise<void> {
      // Also without a wait an editor must not be changed while it is being updated.
      const loaded = (await wanted?.load()) ?? [];
      if (this.#isGone || wanted !== this.#current) return;
      this.#view.dispatch({ effects: slot.reconfigure(Prec.highest(loaded)) });
    }
  }

  return [slot.of([]), ViewPlugin.fromClass(Keeper)];
}

/** The first line that is not blank, or an empty text. */
function firstLine(text: Text): string {
  const last = Math.min(text.lines, MOST_BLANK_LINES);
  for (let number = 1; number <= last; number++) {
    const line = text.line(number).text;
    if (line.trim() !== "") return line.trimStart();
  }
  return "";
}

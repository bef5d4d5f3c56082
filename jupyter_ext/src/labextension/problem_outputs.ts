// Keeps the marks of a cell's editor true to the outputs of the cell.
import type { Extension } from "@codemirror/state";
import { type EditorView, ViewPlugin } from "@codemirror/view";
import type { EditorModel } from "@jupyterlab/codemirror";
import { setProblems } from "./problem_marks.ts";
import { problemsIn } from "./problems.ts";

/** Follows the outputs of the cell that an editor belongs to. */
export function followOutputs({ outputs }: EditorModel): Extension {
  if (!outputs) return [];

  class Follower {
    readonly #view: EditorView;
    #isGone = false;
    #isWaiting = false;

    constructor(view: EditorView) {
      this.#view = view;
      outputs?.changed.connect(this.#wait);
      this.#wait();
    }

    destroy(): void {
      this.#isGone = true;
      outputs?.changed.disconnect(this.#wait);
    }

    /** An editor must not be changed while it is being made; and many outputs are one change. */
    readonly #wait = () => {
      if (this.#isWaiting) return;
      this.#isWaiting = true;
      queueMicrotask(() => {
        this.#isWaiting = false;
        if (!this.#isGone) this.#mark();
      });
    };

    #mark(): void {
      const held = outputs && !outputs.isDisposed ? outputs.toJSON() : [];
      const found = problemsIn(held, this.#view.state.doc.toString());
      this.#view.dispatch({ effects: setProblems.of(found) });
    }
  }

  return ViewPlugin.fromClass(Follower);
}

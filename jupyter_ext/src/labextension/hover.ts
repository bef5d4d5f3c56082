// Shows what the kernel knows of the word under the pointer: an op, a value's type, a signature.
import type { Extension } from "@codemirror/state";
import { EditorView, hoverTooltip } from "@codemirror/view";
import type { INotebookTracker, SessionContext } from "@jupyterlab/notebook";
import { h } from "../view/dom.ts";

/** What our kernel side puts into the metadata of its answers; other answers are about Python. */
const OURS = "kernel_magics";
const PATIENCE_MS = 2000;
const HOVER_MS = 400;

interface InspectReply {
  readonly content: {
    readonly data?: Record<string, unknown>;
    readonly metadata?: Record<string, unknown>;
  };
}

interface Kernel {
  readonly status: string;
  requestInspect(about: {
    code: string;
    cursor_pos: number;
    detail_level: 0 | 1;
  }): Promise<InspectReply>;
}

interface Session extends SessionContext {
  readonly session: { readonly kernel: Kernel | null } | null;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Asks the kernel of the notebook that holds a cell. */
export function hover(tracker: INotebookTracker, model: unknown): Extension {
  return [
    hoverTooltip(
      async (view, position) => {
        const text = view.state.doc.toString();
        const answer = await ask(kernelOf(tracker, model), text, position);
        if (!answer || view.state.doc.toString() !== text) return null;
        return {
          pos: answer.start,
          end: answer.end,
          above: true,
          create: () => ({ dom: card(answer.words) }),
        };
      },
      { hoverTime: HOVER_MS },
    ),
    look,
  ];
}

function kernelOf(tracker: INotebookTracker, model: unknown): Kernel | null {
  const panel = tracker.find(({ content }) => content.widgets.some((cell) => cell.model === model));
  const context = panel?.sessionContext as Session | undefined;
  const kernel = context?.session?.kernel ?? null;
  // One that is at work answers when it is done, and nobody waits for that.
  return kernel?.status === "idle" ? kernel : null;
}

async function ask(
  kernel: Kernel | null,
  code: string,
  position: number,
): Promise<(Range & { words: string }) | null> {
  if (!kernel) return null;
  // The kernel counts characters, an editor UTF-16 units.
  const cursor = [...code.slice(0, position)].length;
  const asked = kernel.requestInspect({ code, cursor_pos: cursor, detail_level: 0 });
  const reply = await Promise.race([asked, late()]).catch(() => null);
  const words = reply?.content.data?.["text/plain"];
  const range = reply?.content.metadata?.[OURS];
  if (typeof words !== "string" || !isRange(range)) return null;
  const units = (count: number) => [...code].slice(0, count).join("").length;
  return { words, start: units(range.start), end: units(range.end) };
}

function late(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), PATIENCE_MS));
}

function isRange(value: unknown): value is Range {
  const range = value as Range | null | undefined;
  return typeof range?.start === "number" && typeof range.end === "number";
}

/** The first line is code, the rest is prose. */
function card(words: string): HTMLElement {
  const [code = "", ...prose] = words.split("\n");
  return h(
    "div",
    { class: "km-tip" },
    h("code", {}, code),
    ...prose.filter((line) => line !== "").map((line) => h("div", {}, line)),
  );
}

const look = EditorView.baseTheme({
  ".cm-tooltip:has(.km-tip)": {
    background: "var(--jp-layout-color1, #fff)",
    border: "1px solid var(--jp-border-color1, #bdbdbd)",
    borderRadius: "4px",
  },
  ".km-tip": {
    padding: "6px 8px",
    maxWidth: "480px",
    color: "var(--jp-ui-font-color0, #000)",
    fontFamily: "var(--jp-ui-font-family, sans-serif)",
    fontSize: "12px",
    lineHeight: "18px",
    overflowWrap: "anywhere",
  },
  ".km-tip code": {
    color: "inherit",
    background: "none",
    fontFamily: "var(--jp-code-font-family, monospace)",
    fontSize: "12px",
    fontWeight: "600",
    whiteSpace: "pre-wrap",
  },
  ".km-tip-problem": { borderLeft: "3px solid var(--jp-error-color1, #d32f2f)" },
});

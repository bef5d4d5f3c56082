// The status bar's item: the plugin that new work runs on in the current notebook, and a switch.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker, type NotebookPanel, type SessionContext } from "@jupyterlab/notebook";
import { IStatusBar } from "@jupyterlab/statusbar";
import { Widget } from "@lumino/widgets";
import { fill, h } from "../view/dom.ts";
import { type Kernel, PluginLink } from "./plugin_link.ts";

const RANK = 900;

/** A notebook's session, with what JupyterLab's own type says of it besides. */
interface Session extends SessionContext {
  readonly session: { readonly kernel: Kernel | null } | null;
}

interface Tracker {
  readonly currentWidget: NotebookPanel | null;
  readonly currentChanged: { connect(slot: () => void): boolean };
}

/** Hidden where the kernel of the notebook in front has no Kernel Magics. */
class PluginItem extends Widget {
  readonly #tracker: Tracker;
  readonly #notify: (words: string) => void;
  readonly #links = new WeakMap<Kernel, PluginLink>();
  readonly #select = h("select", { "aria-label": "Plugin that new work runs on" });
  #problem = "";

  constructor(tracker: Tracker, notify: (words: string) => void) {
    super({ node: h("label", { class: "km-plugin-item", hidden: true }) });
    this.#tracker = tracker;
    this.#notify = notify;
    this.#select.addEventListener("change", () => this.#link()?.use(this.#select.value));
    fill(this.node, h("span", {}, "Plugin "), this.#select);
    tracker.currentChanged.connect(() => this.draw());
  }

  /** Listens to what the kernel of a notebook says, and to its successors. */
  follow(context: SessionContext): void {
    const session = context as Session;
    const link = () => {
      const kernel = session.session?.kernel;
      if (kernel && !this.#links.has(kernel)) {
        this.#links.set(kernel, new PluginLink(kernel, () => this.draw()));
      }
      this.draw();
    };
    session.kernelChanged.connect(link);
    link();
  }

  draw(): void {
    const state = this.#link()?.state ?? null;
    // Nothing is in use before JAX has started.
    this.node.hidden = !state?.active;
    if (!state) return;
    const options = state.loaded.map((name) =>
      h("option", { value: name, selected: name === state.active }, name),
    );
    fill(this.#select, ...options);
    this.#select.value = state.active;
    this.node.title = `New work runs on ${state.active}`;
    if (state.problem && state.problem !== this.#problem) this.#notify(state.problem);
    this.#problem = state.problem;
  }

  #link(): PluginLink | undefined {
    const context = this.#tracker.currentWidget?.sessionContext as Session | undefined;
    const kernel = context?.session?.kernel;
    return kernel ? this.#links.get(kernel) : undefined;
  }
}

type App = JupyterFrontEnd & {
  commands: { execute(id: string, options: unknown): Promise<unknown> };
};

export const statusBar: JupyterFrontEndPlugin<void> = {
  id: "kernel-magics:status-bar",
  description: "Shows the plugin that new work runs on, and switches it.",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IStatusBar],
  activate: (app, tracker: INotebookTracker & Tracker, bar: IStatusBar | null) => {
    if (!bar) return;
    const notify = (message: string) =>
      void (app as App).commands.execute("apputils:notify", {
        message,
        type: "error",
        options: { autoClose: false },
      });
    const item = new PluginItem(tracker, notify);
    bar.registerStatusItem("kernel-magics:plugin", { item, align: "left", rank: RANK });
    const follow = (panel: NotebookPanel) => item.follow(panel.sessionContext);
    tracker.widgetAdded.connect((_, panel) => follow(panel));
    tracker.forEach(follow);
  },
};

// Shows the view that a notebook kept, and gives way to the live widget where there is one.
import type { SessionContext } from "@jupyterlab/notebook";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Panel, Widget } from "@lumino/widgets";
import type { ModuleView } from "../protocol.ts";
import { h } from "../view/dom.ts";
import { mount } from "../view/frame.ts";
import { SavedSource } from "../view/source.ts";
import { KnownModules } from "./known_modules.ts";

export const SAVED_VIEW = "application/vnd.kernel-magics.view+json";
const LIVE_VIEW = "application/vnd.jupyter.widget-view+json";
const VERSION = 1;
const FIRST_WAIT_MS = 125;
const LAST_WAIT_MS = 16_000;
/** What a live view listens to. */
const GONE = "km-kernel-gone";
/** What a kernel says when it will not answer any more. */
const LAST_WORDS = ["dead", "terminating", "restarting", "autorestarting"];

/** Two renderers in one: the saved view at once, the live one as soon as it has drawn. */
export class SavedViewRenderer extends Panel implements IRenderMime.IRenderer {
  readonly #registry: IRenderMimeRegistry;
  readonly #kernel: SessionContext | null;
  #observer: MutationObserver | null = null;
  #unmount: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = "";
  #digest = "";
  #isLive = false;
  #stopWaiting: (() => void) | null = null;

  constructor(registry: IRenderMimeRegistry, kernel: SessionContext | null) {
    super();
    this.#registry = registry;
    this.#kernel = kernel;
    this.addClass("km-output");
    kernel?.kernelChanged.connect(this.#lose);
    kernel?.statusChanged.connect(this.#listen);
  }

  override dispose(): void {
    this.#kernel?.kernelChanged.disconnect(this.#lose);
    this.#kernel?.statusChanged.disconnect(this.#listen);
    this.#clear();
    super.dispose();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const view = model.data[SAVED_VIEW];
    const shown = `${isView(view) && view.digest} ${JSON.stringify(model.data[LIVE_VIEW])}`;
    // A cell completes its display when the compile is done: what lives stays as the reader has it.
    if (this.#isLive && shown === this.#shown) return;
    this.#clear();
    this.#shown = shown;
    const host = h("div", {});
    const saved = new Widget({ node: host });
    this.addWidget(saved);
    if (isView(view)) {
      this.#unmount = mount(host, new SavedSource(view));
      this.#digest = view.digest;
      this.#waitFor(view.digest, saved);
    } else
      host.textContent =
        "This view was saved by another version of Kernel Magics: run the cell again.";
    if (model.data[LIVE_VIEW] !== undefined) this.#seek(model, saved, null, FIRST_WAIT_MS);
  }

  /**
   * Asks for the live view, and again while there is none: when a page is loaded, outputs are
   * drawn before the widget manager has put its own factory in the place of an idle one.
   */
  #seek(
    model: IRenderMime.IMimeModel,
    saved: Widget,
    tried: IRenderMime.IRendererFactory | null,
    waitMs: number,
  ): void {
    const factory = this.#registry.getFactory(LIVE_VIEW) ?? null;
    if (factory !== null && factory !== tried) this.#addLive(model, saved);
    if (waitMs > LAST_WAIT_MS) return;
    this.#timer = setTimeout(() => {
      if (this.#unmount) this.#seek(model, saved, factory, 2 * waitMs);
    }, waitMs);
  }

  #addLive(model: IRenderMime.IMimeModel, saved: Widget): void {
    for (const before of this.widgets.slice(1)) before.dispose();
    const live = this.#registry.createRenderer(LIVE_VIEW);
    this.addWidget(live);
    // Where there is no model the manager says so in the node; a view that lives is one of ours.
    const choose = () => {
      const lives = live.node.querySelector(".km") !== null;
      if (lives) {
        this.#unmount?.();
        this.#unmount = null;
        this.#isLive = true;
      }
      saved.setHidden(lives);
      live.node.style.display = lives ? "" : "none";
    };
    this.#observer?.disconnect();
    this.#observer = new MutationObserver(choose);
    this.#observer.observe(live.node, { childList: true, subtree: true });
    choose();
    void live.renderModel(model).then(choose);
  }

  /** Where the kernel comes to hold the module, a widget of it takes this place. */
  #waitFor(digest: string, saved: Widget): void {
    this.#stopWaiting?.();
    if (!this.#kernel) return;
    this.#stopWaiting = KnownModules.of(this.#kernel).wait(digest, (model_id) => {
      if (this.#isLive) return;
      clearTimeout(this.#timer);
      const data = { [LIVE_VIEW]: { version_major: 2, version_minor: 0, model_id } };
      this.#addLive({ data, metadata: {}, trusted: true, setData: () => {} }, saved);
    });
  }

  readonly #listen = (_: unknown, status: string) => {
    if (LAST_WORDS.includes(status)) this.#lose();
  };

  readonly #lose = () => {
    const view = this.node.querySelector(".km");
    view?.dispatchEvent(new CustomEvent(GONE, { bubbles: true }));
    const [saved] = this.widgets;
    if (!this.#isLive || !saved) return;
    this.#isLive = false;
    this.#waitFor(this.#digest, saved);
  };

  #clear(): void {
    clearTimeout(this.#timer);
    this.#stopWaiting?.();
    this.#isLive = false;
    this.#observer?.disconnect();
    this.#observer = null;
    this.#unmount?.();
    this.#unmount = null;
    for (const widget of [...this.widgets]) widget.dispose();
  }
}

function isView(value: unknown): value is ModuleView {
  return typeof value === "object" && value !== null && (value as ModuleView).version === VERSION;
}

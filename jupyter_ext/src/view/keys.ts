// Keys act while the focus is inside the inspector, and then the notebook does not take them.

/** Lumino runs no shortcut for an element with this attribute; it asks the one with the focus. */
const SUPPRESS = "data-lm-suppress-shortcuts";

export interface KeyHandlers {
  /** Keys of the view that has the focus; true if the key was its own. */
  view(event: KeyboardEvent): boolean;
  back(): void;
  forward(): void;
  plain: Record<string, () => void>;
}

/** Listens for keys inside `root`; returns what ends it. */
export function listenForKeys(root: HTMLElement, handlers: KeyHandlers): () => void {
  // JupyterLab listens on the document in the capture phase: only the window is earlier. Its
  // shortcuts with Ctrl, such as saving, go on working in here.
  const guard = (event: KeyboardEvent) => {
    const target = event.target as Element;
    if (root.contains(target)) target.toggleAttribute(SUPPRESS, !event.ctrlKey && !event.metaKey);
  };
  const act = (event: KeyboardEvent) => {
    if (!handled(event, handlers)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("keydown", guard, true);
  root.addEventListener("keydown", act);
  return () => {
    window.removeEventListener("keydown", guard, true);
    root.removeEventListener("keydown", act);
  };
}

function handled(event: KeyboardEvent, handlers: KeyHandlers): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  if (event.altKey) return wayBack(event.key, handlers);
  const target = event.target as Element;
  if (target.matches("input, select, textarea")) return false;
  const isInView = target.matches("[data-place], .km-tree .row, .km-textpane *");
  if (isInView && handlers.view(event)) return true;
  const act = handlers.plain[event.key];
  act?.();
  return act !== undefined;
}

function wayBack(key: string, handlers: KeyHandlers): boolean {
  if (key === "ArrowLeft") handlers.back();
  else if (key === "ArrowRight") handlers.forward();
  else return false;
  return true;
}

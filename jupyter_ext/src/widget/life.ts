// The life of a widget's view: drawn, left alone by its kernel, taken away.

const DISCONNECTED = "jupyter-widgets-disconnected";
/** Sent to the view by the JupyterLab extension: the widget manager tells restarts only. */
const GONE = "km-kernel-gone";

export interface LiveThing {
  lose(): void;
  dispose(): void;
}

/** Calls `lose` when the kernel is gone; returns what ends the view. */
export function live(el: HTMLElement, source: LiveThing, unmount: () => void): () => void {
  const lose = () => source.lose();
  el.addEventListener(GONE, lose);
  // Jupyter's widget manager marks views whose kernel was restarted, and says it in no other way.
  const marks = new MutationObserver(() => {
    if (el.classList.contains(DISCONNECTED)) lose();
  });
  marks.observe(el, { attributes: true, attributeFilter: ["class"] });
  return () => {
    el.removeEventListener(GONE, lose);
    marks.disconnect();
    unmount();
    source.dispose();
  };
}

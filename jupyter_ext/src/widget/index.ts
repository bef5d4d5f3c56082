// The anywidget entry point: an inspector over a live kernel.
import { mount } from "../view/frame.ts";
import type { WidgetModel } from "./channel.ts";
import { LiveSource } from "./commands.ts";

const DISCONNECTED = "jupyter-widgets-disconnected";
/** Sent to the view by the JupyterLab extension: the widget manager tells restarts only. */
const GONE = "km-kernel-gone";

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const source = new LiveSource(model);
  const unmount = mount(el, source);
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

export default { render };

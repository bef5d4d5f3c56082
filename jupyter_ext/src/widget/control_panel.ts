// The anywidget entry point: a control panel over a live kernel.
import { mount } from "../control_panel/frame.ts";
import type { WidgetModel } from "./channel.ts";
import { live } from "./life.ts";
import { LivePanel } from "./panel_commands.ts";

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const source = new LivePanel(model);
  return live(el, source, mount(el, source));
}

export default { render };

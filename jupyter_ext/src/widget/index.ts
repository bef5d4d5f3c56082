// The anywidget entry point: an inspector over a live kernel.
import { mount } from "../view/frame.ts";
import type { WidgetModel } from "./channel.ts";
import { LiveSource } from "./commands.ts";
import { live } from "./life.ts";

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const source = new LiveSource(model);
  return live(el, source, mount(el, source));
}

export default { render };

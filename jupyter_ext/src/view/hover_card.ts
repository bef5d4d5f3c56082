// The card that shows after resting on a node: the full name and what is known of it.
import type { ModuleView, NodeView } from "../protocol.ts";
import { fill, h } from "./dom.ts";
import type { Box, Size, Viewport } from "./geometry.ts";
import { plural, unitLetters } from "./words.ts";

const DELAY_MS = 400;

export class HoverCard {
  readonly element = h("div", { class: "km-card", role: "tooltip", hidden: true });
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows lines after a while, below a box or above it. */
  rest(lines: () => Node[], box: Box, viewport: Viewport, canvas: Size): void {
    this.hide();
    this.#timer = setTimeout(() => {
      fill(this.element, ...lines());
      this.element.hidden = false;
      const left = box.x * viewport.scale + viewport.x;
      const top = box.y * viewport.scale + viewport.y;
      const below = top + box.height * viewport.scale + 8;
      const { offsetWidth: width, offsetHeight: height } = this.element;
      const fits = below + height <= canvas.height - 4;
      const x = Math.max(4, Math.min(left, canvas.width - width - 4));
      this.element.style.transform = `translate(${x}px, ${Math.max(4, fits ? below : top - height - 8)}px)`;
    }, DELAY_MS);
  }

  /** True if a card was there. */
  hide(): boolean {
    clearTimeout(this.#timer);
    const wasShown = !this.element.hidden;
    this.element.hidden = true;
    return wasShown;
  }
}

/** What is known of a function. */
export function nodeLines(node: NodeView, view: ModuleView): Node[] {
  const letters = unitLetters(node, view);
  const units = node.units.map((unit) => view.units[unit]?.name ?? "").join(", ");
  const where = node.line === null ? units : `${units}, line ${node.line}`;
  const facts = [...node.facts];
  if (node.kind === "group") facts.push(`${plural(node.members, "member")}, folded`);
  return [
    h("b", { class: "mono" }, node.name),
    ...(node.merged ? [h("span", { class: "mono" }, `→ ${node.merged}`)] : []),
    h("span", {}, [node.is_entry ? "entry" : "", ...facts].filter(Boolean).join(" · ")),
    ...(letters ? [h("span", { class: "fg2" }, `${letters} · ${where}`)] : []),
  ];
}

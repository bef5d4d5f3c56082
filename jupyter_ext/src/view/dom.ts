// Makes elements. Names and texts of modules only ever become text nodes and attribute values.

export type Child = Node | string | null | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Value>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `onclick` and the like are listeners, `true` is an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Sets attributes; what is false, null or undefined is taken away. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === false || value === null || value === undefined) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/** Puts `children` in place of what an element holds; the focus stays where it was. */
export function fill(element: Element, ...children: Child[]): void {
  const way = wayToFocus(element);
  element.replaceChildren(...children.filter((child) => child !== null && child !== false));
  const again = way?.reduce<Element | undefined>((at, index) => at?.children[index], element);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/** Which child of which child has the focus. */
function wayToFocus(element: Element): number[] | null {
  let at = document.activeElement;
  if (!at || at === element || !element.contains(at)) return null;
  const way: number[] = [];
  for (; at && at !== element; at = at.parentElement) {
    way.unshift(at.parentElement ? [...at.parentElement.children].indexOf(at) : 0);
  }
  return way;
}

function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  set(element, attributes);
  fill(element, ...children);
  return element;
}

/** A `<button>` with a name for screen readers where it shows none. */
export function button(
  className: string,
  attributes: Attributes,
  ...children: Child[]
): HTMLButtonElement {
  return h("button", { type: "button", class: className, ...attributes }, ...children);
}

/** Puts text on the clipboard; where the page may not, through a selection. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Puts the style sheet into the page, once, however many inspectors there are.
import { h } from "./dom.ts";
import frame from "./frame.css";
import graph from "./graph.css";

/** The sources that this bundle was made of. */
const ID = `km-style-${__SOURCES__.slice(0, 12)}`;

export function addStyle(): void {
  if (document.getElementById(ID)) return;
  document.head.append(h("style", { id: ID }, frame + graph));
}

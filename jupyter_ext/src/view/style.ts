// Puts style sheets into the page, once, however many widgets there are.

import diff from "./diff.css";
import { h } from "./dom.ts";
import frame from "./frame.css";
import graph from "./graph.css";
import ops from "./ops.css";

/** The sources that this bundle was made of. */
const SOURCES = __SOURCES__.slice(0, 12);

/** The sheet of the inspector. */
export function addStyle(): void {
  addSheet("inspector", frame + graph + ops + diff);
}

/** A sheet by its name. */
export function addSheet(name: string, text: string): void {
  const id = `km-style-${name}-${SOURCES}`;
  if (!document.getElementById(id)) document.head.append(h("style", { id }, text));
}

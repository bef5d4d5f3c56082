// Which nodes are selected, found or dimmed, from a view's state. Knows no DOM.
import type { ModuleView } from "../protocol.ts";
import type { State } from "./store.ts";

/** How nodes look beside what they are; nodes by their places. */
export interface Marks {
  selected: number;
  hits: ReadonlySet<number>;
  /** Units whose nodes step back. */
  dimmed: readonly number[];
}

/** What is to be marked; a hit that is folded marks its group. */
export function marksOf(view: ModuleView, state: State): Marks {
  const ids = new Set(state.hits.map((hit) => hit.group || hit.node));
  const places = view.nodes.flatMap((node, place) => (ids.has(node.id) ? [place] : []));
  return { selected: selectedPlace(view, state), hits: new Set(places), dimmed: state.dimmed };
}

/** The place of the selected function, or of the group that holds it; -1 for none. */
export function selectedPlace(view: ModuleView, { selected, hits }: State): number {
  if (!selected) return -1;
  const place = view.nodes.findIndex((node) => node.id === selected);
  if (place >= 0) return place;
  const group = hits.find((hit) => hit.node === selected)?.group;
  return group ? view.nodes.findIndex((node) => node.id === group) : -1;
}

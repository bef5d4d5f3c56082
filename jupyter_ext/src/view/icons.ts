// Icons of 12 x 12 px, each status with a shape of its own.
import { s } from "./dom.ts";

const PATHS = {
  kept: "M2 4.5h8M2 7.5h8",
  renamed: "M1 6h9M7 2.8 10.2 6 7 9.2",
  reused: "M1.2 1.2h6.6v6.6H1.2zM4.2 7.8v3h6.6V4.2h-3",
  bound:
    "M5 7 7 5M5.2 3.6l1.5-1.5a2.3 2.3 0 0 1 3.2 3.2L8.4 6.8M6.8 8.4 5.3 9.9a2.3 2.3 0 0 1-3.2-3.2l1.5-1.5",
  missing: "M2.5 2.5l7 7M9.5 2.5l-7 7",
  declared: "M1.5 2.5h3M7.5 2.5h3v2M10.5 7.5v2h-3M4.5 9.5h-3v-2M1.5 5V2.5",
  custom: "M3.4 1.4h5.2L11.2 6 8.6 10.6H3.4L.8 6z",
  error: "M6 1.2 11.3 10.6H.7zM6 4.6v2.8M6 8.4v1.1",
  search: "M8.4 5A3.4 3.4 0 1 1 1.6 5A3.4 3.4 0 1 1 8.4 5zM7.6 7.6 11 11",
  back: "M7.8 2 3.8 6l4 4",
  forward: "M4.2 2l4 4-4 4",
  up: "M2.5 7.5 6 4l3.5 3.5",
  down: "M2.5 4.5 6 8l3.5-3.5",
  plus: "M6 1.5v9M1.5 6h9",
  minus: "M1.5 6h9",
  fit: "M1.5 4V1.5H4M8 1.5h2.5V4M10.5 8v2.5H8M4 10.5H1.5V8",
  close: "M3 3l6 6M9 3l-6 6",
  menu: "M1.2 6h1.6M5.2 6h1.6M9.2 6h1.6",
  copy: "M4 4h6.5v6.5H4zM2 8V1.5h6.5",
  beside: "M1.5 1.5h9v9h-9zM6 1.5v9",
  wrap: "M1.5 3h9M1.5 6h7a1.7 1.7 0 0 1 0 3.4H6M7.4 8 6 9.4l1.4 1.4M1.5 9.4h2",
  served: "M2 6.4 4.8 9.2 10 3.2",
  fallback: "M2 2.5v3.2A2.3 2.3 0 0 0 4.3 8H10M7.4 5.2 10.2 8l-2.8 2.8",
  current: "M10.5 6A4.5 4.5 0 1 1 1.5 6A4.5 4.5 0 1 1 10.5 6zM7 6A1 1 0 1 1 5 6A1 1 0 1 1 7 6z",
  circle: "M10.5 6A4.5 4.5 0 1 1 1.5 6A4.5 4.5 0 1 1 10.5 6z",
  disc: "M10.5 6A4.5 4.5 0 1 1 1.5 6A4.5 4.5 0 1 1 10.5 6zM9 6A3 3 0 1 1 3 6A3 3 0 1 1 9 6zM7.5 6A1.5 1.5 0 1 1 4.5 6A1.5 1.5 0 1 1 7.5 6z",
  half: "M10.5 6A4.5 4.5 0 1 1 1.5 6A4.5 4.5 0 1 1 10.5 6zM6 1.5v9M7.2 2v8M8.4 2.6v6.8M9.6 3.8v4.4",
  arc: "M6 1.5A4.5 4.5 0 1 1 1.5 6",
} as const;

export type IconName = keyof typeof PATHS;

/** What is drawn in 12 x 12 px. */
export function iconPath(name: IconName): string {
  return PATHS[name];
}

/** An icon in a line of text; it says nothing to a screen reader: a word stands beside it. */
export function icon(name: IconName): SVGSVGElement {
  return s(
    "svg",
    { class: "i", viewBox: "0 0 12 12", "aria-hidden": "true", focusable: "false" },
    s("path", { d: PATHS[name] }),
  );
}

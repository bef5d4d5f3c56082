// Reads where an error lies in a cell out of the error's own words; knows no editor.
//
// The places stand in the output that a notebook keeps, so marks are there again when it is opened
// again, without a kernel. A place counts only where the cell still has the text that it shows.

/** An error output as notebooks keep it. */
export interface ErrorOutput {
  readonly output_type: string;
  readonly ename?: unknown;
  readonly traceback?: unknown;
}

export interface Problem {
  /** Offset from the start of the cell, in UTF-16 units; so is the end. */
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

const PLACE = /^ *cell:(\d+):(\d+)(?: {2}(.*))?$/;
const CARETS = /^[ \t]*(\^+)(?: (.*))?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what begins a colour
const COLOUR = /\u001b\[[\d;]*m/g;
const CUT = "…";

/** The problems that a cell's outputs name, in their order. */
export function problemsIn(outputs: readonly ErrorOutput[], cell: string): Problem[] {
  const lines = cell.split("\n");
  return outputs.flatMap((output) => {
    if (output.output_type !== "error" || !Array.isArray(output.traceback)) return [];
    return problemsOf(output.traceback.join("\n").replace(COLOUR, ""), lines);
  });
}

function problemsOf(text: string, cell: readonly string[]): Problem[] {
  const said = text.split("\n");
  const heading = (said[0] ?? "").replace(/^\w+: /, "");
  const found: Problem[] = [];
  for (const [number, line] of said.entries()) {
    const place = PLACE.exec(line);
    if (!place) continue;
    const at = Number(place[1]);
    const shown = said[number + 1] ?? "";
    const carets = CARETS.exec(said[number + 2] ?? "");
    const isStill = carets ? shows(shown, cell[at - 1] ?? "") : cell[at - 1]?.trim() === "";
    if (!isStill) continue;
    const message = carets?.[2] ?? place[3] ?? heading;
    found.push(problemAt(cell, at, Number(place[2]), carets?.[1]?.length ?? 0, message));
  }
  return found;
}

/** Whether an excerpt shows this line, in whole or in part. */
function shows(excerpt: string, line: string): boolean {
  const part = excerpt.trim().replace(/^… /, "").replace(/ …$/, "");
  if (line.includes(part)) return true;
  // Characters that would not show stand as pictures of themselves, one for one.
  return pictured(line).includes(pictured(part));
}

function pictured(line: string): string {
  return line.replace(/[^\x20-\x7e]/gu, CUT);
}

function problemAt(
  cell: readonly string[],
  line: number,
  column: number,
  length: number,
  message: string,
): Problem {
  const start = cell.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  // The kernel counts characters, an editor UTF-16 units.
  const characters = [...(cell[line - 1] ?? "")];
  const units = (count: number) => characters.slice(0, count).join("").length;
  return {
    from: start + units(column - 1),
    to: start + units(column - 1 + length),
    message,
  };
}

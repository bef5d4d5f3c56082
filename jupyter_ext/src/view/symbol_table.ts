// Filters and sorts the rename map. Knows no DOM.
import type { SymbolRow, Why } from "../protocol.ts";

export type Column = "unit" | "old" | "new" | "kind" | "why" | "uses" | "line";

export interface Order {
  column: Column;
  isDescending: boolean;
}

export const REASONS: readonly Why[] = ["renamed", "reused", "bound", "missing", "kept"];

/** The rows that fit a reason and a part of a name, in order; equal ones stay as they were. */
export function shownRows(
  rows: readonly SymbolRow[],
  reason: Why | "",
  query: string,
  order: Order,
): SymbolRow[] {
  const wanted = query.trim().toLowerCase();
  const kept = rows.filter(
    (row) =>
      (!reason || row.why === reason) &&
      (!wanted || `${row.old} ${row.new} ${row.kind}`.toLowerCase().includes(wanted)),
  );
  const sign = order.isDescending ? -1 : 1;
  return kept.toSorted((one, other) => sign * compared(one, other, order.column));
}

/** How many rows there are of each reason. */
export function reasonCounts(rows: readonly SymbolRow[]): Map<Why, number> {
  const counts = new Map<Why, number>();
  for (const row of rows) counts.set(row.why, (counts.get(row.why) ?? 0) + 1);
  return counts;
}

/** The rows as comma-separated values, quoted where they must be. */
export function toCsv(rows: readonly SymbolRow[], unitName: (unit: number) => string): string {
  const head = ["unit", "from", "to", "kind", "why", "explanation", "uses", "line"];
  const lines = rows.map((row) =>
    [
      unitName(row.unit),
      row.old,
      row.new,
      row.kind,
      row.why,
      row.explanation,
      row.uses,
      row.line ?? "",
    ]
      .map((value) => quoted(String(value)))
      .join(","),
  );
  return `${[head.join(","), ...lines].join("\r\n")}\r\n`;
}

function compared(one: SymbolRow, other: SymbolRow, column: Column): number {
  if (column === "why") return REASONS.indexOf(one.why) - REASONS.indexOf(other.why);
  const [left, right] = [one[column] ?? -1, other[column] ?? -1];
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left).localeCompare(String(right), "en", { numeric: true });
}

function quoted(value: string): string {
  // A spreadsheet runs what begins like a formula; names begin with `@`.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

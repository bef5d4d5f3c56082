// Where the panel gets its tables from, and whom it asks.
import type { PanelCommand, PanelView } from "../protocol.ts";
import type { Connection } from "../view/source.ts";

export type Ask = PanelCommand extends infer C
  ? C extends { id: string }
    ? Omit<C, "id">
    : never
  : never;

/** Why the kernel did not do what it was asked for. */
export class Refused extends Error {
  readonly advice: string;
  readonly detail: string;

  constructor(message: string, advice: string, detail: string) {
    super(message);
    this.advice = advice;
    this.detail = detail;
  }
}

export interface PanelSource {
  current(): PanelView;
  connection(): Connection;
  /** What was done, in words; a `Refused` where it was not. */
  ask(command: Ask): Promise<string>;
  /** Calls back when tables or connection are others; returns what ends that. */
  onChange(listener: () => void): () => void;
}

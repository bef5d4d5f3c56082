// What the status bar needs of JupyterLab, declared as little as the rest of it.

declare module "@jupyterlab/statusbar" {
  import type { Widget } from "@lumino/widgets";
  export interface IStatusBar {
    registerStatusItem(
      id: string,
      item: { item: Widget; align: "left" | "middle" | "right"; rank?: number },
    ): unknown;
  }
  export const IStatusBar: unknown;
}

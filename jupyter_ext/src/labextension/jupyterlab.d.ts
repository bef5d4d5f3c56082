// The few names of JupyterLab that are used here. Their packages are shared at run time and weigh
// 300 MB with all they need, for types alone; the browser tests hold these declarations true.

declare module "@jupyterlab/application" {
  export interface JupyterFrontEnd {
    readonly name: string;
  }
  export interface JupyterFrontEndPlugin<T> {
    id: string;
    description?: string;
    autoStart?: boolean;
    requires?: unknown[];
    optional?: unknown[];
    activate(app: JupyterFrontEnd, ...services: never[]): T;
  }
}

declare module "@jupyterlab/rendermime" {
  import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
  export interface IRenderMimeRegistry {
    getFactory(mimeType: string): IRenderMime.IRendererFactory | undefined;
    addFactory(factory: IRenderMime.IRendererFactory, rank?: number): void;
    createRenderer(mimeType: string): IRenderMime.IRenderer;
  }
  export const IRenderMimeRegistry: unknown;
}

declare module "@jupyterlab/notebook" {
  import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
  export interface Signal<T> {
    connect(slot: (sender: unknown, value: T) => void): boolean;
    disconnect(slot: (sender: unknown, value: T) => void): boolean;
  }
  export interface SessionContext {
    readonly kernelChanged: Signal<unknown>;
    readonly statusChanged: Signal<string>;
  }
  export interface NotebookPanel {
    readonly content: { readonly rendermime: IRenderMimeRegistry };
    readonly sessionContext: SessionContext;
  }
  export interface INotebookTracker {
    readonly widgetAdded: {
      connect(slot: (tracker: INotebookTracker, panel: NotebookPanel) => void): boolean;
    };
    forEach(act: (panel: NotebookPanel) => void): void;
  }
  export const INotebookTracker: unknown;
}

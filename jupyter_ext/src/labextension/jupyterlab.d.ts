// The few names of JupyterLab that are used here. Their packages are shared at run time and weigh
// 300 MB with all they need, for types alone; the browser tests hold these declarations true.

declare module "@jupyterlab/application" {
  export interface FileType {
    readonly name: string;
    readonly displayName: string;
    readonly extensions: readonly string[];
    readonly mimeTypes: readonly string[];
    readonly contentType: "file";
    readonly fileFormat: "text";
  }
  export interface JupyterFrontEnd {
    readonly name: string;
    readonly docRegistry: { addFileType(type: FileType): unknown };
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

declare module "@jupyterlab/codemirror" {
  import type { LanguageSupport } from "@codemirror/language";
  import type { Extension, StateEffect } from "@codemirror/state";
  /** The model of an editor; that of a code cell has outputs. */
  export interface EditorModel {
    readonly outputs?: {
      readonly isDisposed: boolean;
      readonly changed: {
        connect(slot: () => void): boolean;
        disconnect(slot: () => void): boolean;
      };
      toJSON(): readonly { readonly output_type: string }[];
    };
  }
  export interface IEditorExtensionRegistry {
    addExtension(factory: {
      readonly name: string;
      factory(options: { readonly model: EditorModel }): {
        instance(value: unknown): Extension;
        reconfigure(value: unknown): StateEffect<unknown> | null;
      };
    }): void;
  }
  export interface IEditorLanguageRegistry {
    addLanguage(language: {
      readonly name: string;
      readonly mime: string;
      readonly extensions: readonly string[];
      readonly support: LanguageSupport;
    }): void;
    getLanguage(nameOrMime: string): Promise<{ readonly support?: LanguageSupport } | null>;
  }
  export const IEditorExtensionRegistry: unknown;
  export const IEditorLanguageRegistry: unknown;
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
    readonly content: {
      readonly rendermime: IRenderMimeRegistry;
      readonly widgets: readonly { readonly model: unknown }[];
    };
    readonly sessionContext: SessionContext;
  }
  export interface INotebookTracker {
    readonly widgetAdded: {
      connect(slot: (tracker: INotebookTracker, panel: NotebookPanel) => void): boolean;
    };
    forEach(act: (panel: NotebookPanel) => void): void;
    find(is: (panel: NotebookPanel) => boolean): NotebookPanel | undefined;
  }
  export const INotebookTracker: unknown;
}

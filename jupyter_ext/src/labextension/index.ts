// The JupyterLab extension: saved views, the editor mode, and the plugin in the status bar.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker, type NotebookPanel, type SessionContext } from "@jupyterlab/notebook";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { cells, files } from "./editor.ts";
import { SAVED_VIEW, SavedViewRenderer } from "./saved_view.ts";
import { statusBar } from "./status_bar.ts";

// Below that of live widgets, which show an error where their kernel is gone.
const RANK = -20;

const savedViews: JupyterFrontEndPlugin<void> = {
  id: "kernel-magics:saved-views",
  description: "Shows the module views that a notebook kept.",
  autoStart: true,
  requires: [IRenderMimeRegistry, INotebookTracker],
  activate: (_: JupyterFrontEnd, shared: IRenderMimeRegistry, tracker: INotebookTracker) => {
    const add = (registry: IRenderMimeRegistry, kernel: SessionContext | null) => {
      const createRenderer = () => new SavedViewRenderer(registry, kernel);
      registry.addFactory({ safe: true, mimeTypes: [SAVED_VIEW], createRenderer }, RANK);
    };
    // Each notebook has a copy of the registry; only the copy knows the widget manager.
    const addTo = ({ content, sessionContext }: NotebookPanel) =>
      add(content.rendermime, sessionContext);
    add(shared, null);
    tracker.widgetAdded.connect((_, panel) => addTo(panel));
    tracker.forEach(addTo);
  },
};

export default [savedViews, files, cells, statusBar];

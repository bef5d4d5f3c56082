// The editor mode: languages, marks and hover of `%%hlo` cells, and MLIR files.
import type { Extension } from "@codemirror/state";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import {
  type EditorModel,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry,
} from "@jupyterlab/codemirror";
import { INotebookTracker } from "@jupyterlab/notebook";
import { cellLanguage } from "./cell_language.ts";
import { hover } from "./hover.ts";
import { magicLine } from "./magic_line.ts";
import { MLIR_FILES, MLIR_MIME, mlir } from "./mlir_language.ts";
import { problemMarks } from "./problem_marks.ts";
import { followOutputs } from "./problem_outputs.ts";

const CPP_MIME = "text/x-c++src";

export const files: JupyterFrontEndPlugin<void> = {
  id: "kernel-magics:mlir-files",
  description: "Opens MLIR and HLO files as text, with highlighting.",
  autoStart: true,
  requires: [IEditorLanguageRegistry],
  activate: ({ docRegistry }: JupyterFrontEnd, languages: IEditorLanguageRegistry) => {
    languages.addLanguage({
      name: "MLIR",
      mime: MLIR_MIME,
      extensions: MLIR_FILES,
      support: mlir(),
    });
    docRegistry.addFileType({
      name: "mlir",
      displayName: "MLIR File",
      extensions: MLIR_FILES.map((ending) => `.${ending}`),
      mimeTypes: [MLIR_MIME],
      contentType: "file",
      fileFormat: "text",
    });
  },
};

export const cells: JupyterFrontEndPlugin<void> = {
  id: "kernel-magics:cells",
  description: "Highlights the cells of Kernel Magics, marks their errors, explains their words.",
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry, INotebookTracker],
  activate: (
    _: JupyterFrontEnd,
    extensions: IEditorExtensionRegistry,
    languages: IEditorLanguageRegistry,
    tracker: INotebookTracker,
  ) => {
    const cpp = async () => (await languages.getLanguage(CPP_MIME))?.support ?? [];
    const make = (model: EditorModel): Extension => {
      const marks = [problemMarks(), followOutputs(model)];
      return cellLanguage([
        { magic: /^%%hlo\b/, load: () => [mlir(), marks, hover(tracker, model)] },
        {
          magic: /^%%custom_call\b/,
          load: async () => [await cpp(), magicLine(), marks, hover(tracker, model)],
        },
      ]);
    };
    extensions.addExtension({
      name: "kernel-magics:cells",
      // Nothing of it can be configured.
      factory: ({ model }) => ({ instance: () => make(model), reconfigure: () => null }),
    });
  },
};

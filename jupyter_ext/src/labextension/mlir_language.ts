// MLIR as a language of CodeMirror, in the colours that JupyterLab gives to others.
import { LanguageSupport, StreamLanguage } from "@codemirror/language";
import { mlirParser } from "./mlir_tokens.ts";

export const MLIR_MIME = "text/x-mlir";
export const MLIR_FILES = ["mlir", "stablehlo", "hlo"];

const language = StreamLanguage.define(mlirParser);

export function mlir(): LanguageSupport {
  return new LanguageSupport(language);
}

// What a module without functions shows: how to get one, with an example to copy.
import { button, copy, h } from "./dom.ts";

const EXAMPLE = `%%hlo scale
func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
`;

export function emptyNote(announce: (words: string) => void): HTMLElement {
  const copyExample = () => {
    void copy(EXAMPLE);
    announce("the example was copied");
  };
  return h(
    "div",
    { class: "km-empty km-none" },
    h("b", {}, "There is no function yet."),
    h(
      "p",
      {},
      "A cell that begins with ",
      h("code", {}, "%%hlo"),
      " links its functions into the session:",
    ),
    h("pre", {}, EXAMPLE),
    button("km-btn", { onclick: copyExample }, "Copy the example"),
  );
}

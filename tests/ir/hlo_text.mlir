// HLO comes in as StableHLO: its computations are functions, and clash like any others.
// CHECK: func.func private @main(
// CHECK:   stablehlo.negate
// CHECK: func.func private @[[MAIN:main_[0-9a-f]+]](
// CHECK:   stablehlo.add
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.negate %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
HloModule twice, entry_computation_layout={(f32[3]{0})->f32[3]{0}}

ENTRY %main (x: f32[3]) -> f32[3] {
  %x = f32[3]{0} parameter(0)
  ROOT %sum = f32[3]{0} add(%x, %x)
}

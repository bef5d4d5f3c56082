// What has no StableHLO form is refused by its name, dialect first, at its line; the rest of the
// program does not matter.
// CHECK:      `@main` cannot be compiled: `arith.addf` is not an op that XLA takes (and 1 more)
// CHECK-NEXT:   text:3:8
// CHECK-NEXT:     %1 = arith.addf %0, %0 : tensor<3xf32>
// CHECK-NEXT:          ^^^^^^^^^^ `arith.addf` is not an op that XLA takes
// CHECK-NEXT:   text:4:8
// CHECK-NEXT:     %2 = math.fma %1, %1, %1 : tensor<3xf32>
// CHECK-NEXT:          ^^^^^^^^ `math.fma` is not an op that XLA takes
// CHECK-NEXT:   Lower the program to StableHLO first.
// CHECK:      func.func public @main(
// CHECK:        stablehlo.multiply
// UNIT: app
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.mulf %x, %x : tensor<3xf32>
  %1 = arith.addf %0, %0 : tensor<3xf32>
  %2 = math.fma %1, %1, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.mulf %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// LOWER: main
// ERROR: PreflightError
// LOWER: other

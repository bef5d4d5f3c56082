// Ops of arith and math are written in StableHLO for a call; the session keeps them as they are.
// CHECK:      func.func public @main(
// CHECK:      func.func private @main_{{[0-9a-f]+}}(%[[X:.+]]: tensor<3xf32>, %[[N:.+]]: tensor<3xi32>)
// CHECK-NEXT:   %[[PRODUCT:.+]] = stablehlo.multiply %[[X]], %[[X]] : tensor<3xf32>
// CHECK-NEXT:   %[[ROOT:.+]] = stablehlo.sqrt %[[PRODUCT]] : tensor<3xf32>
// CHECK-NEXT:   %[[SIGNED:.+]] = stablehlo.divide %[[N]], %[[N]] : tensor<3xi32>
// CHECK-NEXT:   stablehlo.convert %[[SIGNED]] : (tensor<3xi32>) -> tensor<3xf32>
// CHECK:      func.func private @main(
// CHECK-NEXT:   arith.mulf
// CHECK-NEXT:   math.sqrt
func.func @main(%x: tensor<3xf32>, %n: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = arith.mulf %x, %x : tensor<3xf32>
  %1 = math.sqrt %0 : tensor<3xf32>
  %2 = arith.divsi %n, %n : tensor<3xi32>
  %3 = arith.sitofp %2 : tensor<3xi32> to tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
// LOWER: main

// Loops and conditions become StableHLO's; scalars inside are tensors of rank 0.
// CHECK:      func.func private @main_{{[0-9a-f]+}}(
// CHECK-NOT:  {{(arith|scf|tensor)\.[a-z]}}
// CHECK:      stablehlo.while
// CHECK:        stablehlo.compare LT
// CHECK:        stablehlo.dynamic_slice
// CHECK:        "stablehlo.if"
// CHECK:        stablehlo.dynamic_update_slice
// CHECK:      func.func private @main(
// CHECK:        scf.for
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %x) -> (tensor<6xf32>) {
    %v = tensor.extract %t[%i] : tensor<6xf32>
    %c = arith.cmpf olt, %v, %zero : f32
    %w = scf.if %c -> (f32) {
      scf.yield %zero : f32
    } else {
      scf.yield %v : f32
    }
    %s = tensor.insert %w into %t[%i] : tensor<6xf32>
    scf.yield %s : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}
// LOWER: main

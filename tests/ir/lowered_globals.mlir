// Loads from a constant global are elements of a constant; the global does not reach XLA.
// CHECK-NOT:  memref
// CHECK:      func.func private @main_{{[0-9a-f]+}}(
// CHECK:        stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:        stablehlo.dynamic_slice
// CHECK:      memref.global "private" constant @weights
memref.global constant @weights : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @weights : memref<2xf32>
  %0 = memref.load %w[%c1] : memref<2xf32>
  %1 = tensor.from_elements %0 : tensor<f32>
  %2 = stablehlo.multiply %x, %1 : tensor<f32>
  return %2 : tensor<f32>
}
// LOWER: main

// Globals clash and are renamed; ops that are no symbols move along.
// CHECK: memref.global "private" constant @weights : memref<2xf32> = dense<1.000000e+00>
// CHECK: memref.global "private" constant @[[WEIGHTS:weights_[0-9a-f]+]] : memref<2xf32> = dense<2.000000e+00>
// CHECK: memref.get_global @[[WEIGHTS]]
// CHECK: stablehlo.constant dense<3>
memref.global constant @weights : memref<2xf32> = dense<1.0>
// -----
memref.global constant @weights : memref<2xf32> = dense<2.0>
func.func @main() -> memref<2xf32> {
  %0 = memref.get_global @weights : memref<2xf32>
  return %0 : memref<2xf32>
}
stablehlo.constant dense<3> : tensor<i32>

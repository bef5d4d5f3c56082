// A declaration means a public function of another unit or a JAX function on offer, under the
// name that linking gave it; the declaration itself is gone.
// CHECK:      func.func private @leaf(
// CHECK:      func.func private @[[LEAF:leaf_[0-9a-f]+]](
// CHECK-NEXT:   stablehlo.multiply
// CHECK:      func.func private @double(
// CHECK:      func.func private @main(
// CHECK-NEXT:   call @[[LEAF]](
// CHECK-NEXT:   call @double(
// CHECK-NOT:  func.func
// UNIT: old
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// UNIT: new
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// OFFER: double
// UNIT: app
func.func private @leaf(tensor<3xf32>) -> tensor<3xf32>
func.func private @double(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @leaf(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = call @double(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

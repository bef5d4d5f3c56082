// A unit that is defined again takes the place of its old version, and what was bound to that is
// linked again; what was reached by no name any more is gone.
// CHECK-NOT:  stablehlo.add
// CHECK:      func.func private @[[LEAF:leaf[0-9a-f_]*]](
// CHECK-NEXT:   stablehlo.multiply
// CHECK:      func.func private @{{main[0-9a-f_]*}}(
// CHECK-NEXT:   call @[[LEAF]](
// CHECK-NOT:  func.func
// UNIT: lib
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// UNIT: app
func.func private @leaf(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @leaf(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// UNIT: lib
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// A unit goes with all that only it uses; one that others are bound to stays.
// CHECK:      Unit `lib` is in use
// CHECK-NEXT:   bound to it: `app`
// CHECK-NEXT:   Drop those first, or `drop(name, force=True)`: they keep what they use.
// CHECK:      func.func private @leaf(
// CHECK-NOT:  func.func private @main(
// CHECK:      call @leaf(
// CHECK-NOT:  func.func
// UNIT: other
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// UNIT: lib
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// UNIT: app
func.func private @leaf(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @leaf(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// DROP: other
// DROP: lib
// ERROR: SessionError

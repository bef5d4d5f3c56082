// A declaration of another type than the function it could mean is refused.
// CHECK:      `@leaf` is declared with another type than unit `lib` gives it
// CHECK-NEXT:   text:3:1
// CHECK-NEXT:     func.func private @leaf(tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:     ^^^^^^^^^
// CHECK-NEXT:   declared: (tensor<4xf32>) -> (tensor<4xf32>)
// CHECK-NEXT:   defined: (tensor<3xf32>) -> (tensor<3xf32>)
// CHECK-NEXT:   Declare it as it is defined, or give the declaration another name.
// CHECK:      func.func private @leaf(
// CHECK-NOT:  func.func
// UNIT: lib
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// UNIT: app
// ERROR: LinkError

func.func private @leaf(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

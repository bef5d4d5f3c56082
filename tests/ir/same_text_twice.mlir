// White space and comments do not count: one function serves both units.
// CHECK-COUNT-1: func.func private @main
// CHECK-NOT: func.func
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// -----
func.func @main(%other: tensor<3xf32>) -> tensor<3xf32> {   // the same

  return %other : tensor<3xf32>
}

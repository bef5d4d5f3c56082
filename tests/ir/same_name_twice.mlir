// Two units define @main and @helper differently: all survive, under names of their own.
// CHECK-DAG: func.func private @main(
// CHECK-DAG: func.func private @helper(
// CHECK-DAG: func.func private @[[MAIN:main_[0-9a-f]+]](
// CHECK-DAG: func.func private @[[HELPER:helper_[0-9a-f]+]](
// CHECK-NOT: func.func @
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

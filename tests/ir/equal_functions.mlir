// Functions that do the same are one, across units and within one, whatever they are called;
// what differs in a constant, an attribute or a callee stays apart.

// CHECK:      module
// CHECK-NEXT: func.func private @twice(
// CHECK-NEXT:   stablehlo.add
// CHECK:      func.func private @apply(
// CHECK-NEXT:   call @twice(
// CHECK:      func.func private @constant(
// CHECK:        dense<1.000000e+00>
// CHECK:      func.func private @other_callee(
// CHECK-NEXT:   call @square(
// CHECK:      func.func private @square(
// CHECK-NEXT:   stablehlo.multiply
// CHECK:      func.func private @other_constant(
// CHECK:        dense<2.000000e+00>
// CHECK:      func.func private @user(
// CHECK-NEXT:   call @twice(
// CHECK-NEXT:   call @apply(
// CHECK-NEXT:   call @twice(
// CHECK-NOT:  func.func

// UNIT: a
func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @apply(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @twice(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @constant() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
// UNIT: b
func.func @other_callee(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @square(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.multiply %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @other_constant() -> tensor<f32> {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  return %0 : tensor<f32>
}
// UNIT: c
func.func private @doubled(%value: tensor<f32>) -> tensor<f32> {
  // In MLIR's generic form.
  %sum = "stablehlo.add"(%value, %value) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
func.func private @doubled_again(%v: tensor<f32>) -> tensor<f32> {
  %s = stablehlo.add %v, %v : tensor<f32>
  return %s : tensor<f32>
}
func.func private @by_way_of(%v: tensor<f32>) -> tensor<f32> {
  %r = call @doubled_again(%v) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func @user(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @doubled(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @by_way_of(%0) : (tensor<f32>) -> tensor<f32>
  %2 = call @doubled_again(%1) : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

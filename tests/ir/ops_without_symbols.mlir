// What defines no symbol moves along, once for each unit that says it; its references follow.
// CHECK: stablehlo.constant dense<1>
// CHECK: func.func private @f()
// CHECK: stablehlo.constant {test.at = @[[F:f_[0-9a-f]+]]} dense<2>
// CHECK: module attributes {test.at = [@[[F]]]} {
// CHECK: func.func private @[[F]]()
stablehlo.constant dense<1> : tensor<i32>
func.func @f() {
  return
}
// -----
stablehlo.constant {test.at = @f} dense<2> : tensor<i32>
module attributes {test.at = [@f]} {
}
func.func @f() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  return
}

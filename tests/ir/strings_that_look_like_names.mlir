// Strings are no references, whatever they say: targets, configurations and notes stay.
// CHECK: func.func private @[[F:f_[0-9a-f]+]](
// CHECK: stablehlo.custom_call @f(
// CHECK-SAME: backend_config = {mine = @[[F]], text = "@f"}
// CHECK-SAME: called_computations = [@[[F]]]
// CHECK-SAME: has_side_effect = true
// CHECK-SAME: note = "@f f"
// CHECK: stablehlo.custom_call @f(
// CHECK-SAME: backend_config = "{\22f\22: \22@f\22}"
func.func @f() {
  return
}
// -----
func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {text = "@f", mine = @f}, called_computations = [@f], has_side_effect = true, note = "@f f"} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @f(%0) {backend_config = "{\22f\22: \22@f\22}"} : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

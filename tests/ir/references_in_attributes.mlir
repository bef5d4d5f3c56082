// Composites, called computations, and references deep inside arrays and dictionaries follow.
// CHECK: func.func private @impl(
// CHECK: func.func private @main{{.*}}attributes {test.deep = [{at = @[[IMPL:impl_[0-9a-f]+]]}, @outer]}
// CHECK: stablehlo.composite "a.b" {{.*}}decomposition = @[[IMPL]]
// CHECK: stablehlo.custom_call @target{{.*}}called_computations = [@[[IMPL]]]
// CHECK: "stablehlo.case"
// CHECK: func.call @[[IMPL]]
// CHECK: func.func private @[[IMPL]](
func.func private @impl(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// -----
func.func @main(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<3xf32> attributes {test.deep = [{at = @impl}, @outer]} {
  %0 = stablehlo.composite "a.b" %x {decomposition = @impl} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @target(%0) {called_computations = [@impl]} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "stablehlo.case"(%i) ({
    %3 = func.call @impl(%1) : (tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %3 : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
func.func private @impl(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.negate %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @outer() {
  return
}

// A declaration that nearly has the name of a function means nothing, and cannot be called.
// CHECK:      `@main` cannot be compiled: `@leav` is declared without a body
// CHECK-NEXT:   text:1:1
// CHECK-NEXT:     func.func private @leav(tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:     ^^^^^^^^^
// CHECK-NEXT:   Give `@leav` a body, or define it in another cell first.
// CHECK:      func.func private @leav(tensor<3xf32>) -> tensor<3xf32>
// CHECK:      call @leav(
// UNIT: lib
func.func @leaf(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// UNIT: app
func.func private @leav(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @leav(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// LOWER: main
// ERROR: PreflightError

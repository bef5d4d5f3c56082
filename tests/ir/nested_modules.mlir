// A nested module is one symbol: it is renamed, its inside keeps its own names.
// CHECK: module @inner
// CHECK: module @[[INNER:inner_[0-9a-f]+]] {{.*}}sym_visibility = "private"
// CHECK: func.func @helper
// CHECK: func.func @caller
// CHECK: call @helper
// CHECK: func.func private @helper_{{[0-9a-f]+}}() attributes {test.path = @[[INNER]]::@caller}
module @inner {
  func.func @helper() {
    return
  }
}
func.func private @helper() {
  return
}
// -----
module @inner {
  func.func @helper() {
    return
  }
  func.func @caller() {
    call @helper() : () -> ()
    return
  }
}
func.func private @helper() attributes {test.path = @inner::@caller} {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return
}

// Of a nested reference only the first name is looked up in the module: it alone is renamed,
// also where the names inside are those of other symbols.
// CHECK: module @f
// CHECK: func.func private @g()
// CHECK: module @[[F:f_[0-9a-f]+]]
// CHECK:   func.func @f()
// CHECK:   func.func @g()
// CHECK: func.func private @[[G:g_[0-9a-f]+]]() attributes {test.paths = [@[[F]]::@g, @[[F]]::@f::@g, @[[G]]]}
module @f {
}
func.func private @g() {
  return
}
// -----
module @f {
  func.func @f() {
    return
  }
  func.func @g() {
    return
  }
}
func.func private @g() attributes {test.paths = [@f::@g, @f::@f::@g, @g]} {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return
}

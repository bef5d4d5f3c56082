// Modules that say different things of themselves are not linked, and nothing of them is.
// CHECK:      The module attribute `test.a` of `two` does not fit the module it is linked into
// CHECK-NEXT:   `two`: `2 : i64`
// CHECK-NEXT:   the module has `1 : i64`
// CHECK-NEXT:   Give both programs the same value, or remove the attribute from one.
// CHECK:      module attributes {test.a = 1 : i64}
// CHECK-NEXT:   func.func private @f()
// CHECK-NOT:  func.func
// UNIT: one
module attributes {test.a = 1} {
  func.func @f() {
    return
  }
}
// UNIT: two
// ERROR: LinkError
module attributes {test.a = 2, test.b = 3} {
  func.func @g() {
    return
  }
}

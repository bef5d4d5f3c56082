// Attributes of modules are merged: counts grow, references follow, layouts of a unit's own entry
// stay behind.
// CHECK:      module attributes {
// CHECK-SAME: mhlo.num_partitions = 4 : i32
// CHECK-SAME: test.a = 1 : i64
// CHECK-SAME: test.at = @[[F:f_[0-9a-f]+]]
// CHECK-NOT:  layouts
// CHECK:      func.func private @f(
// CHECK:      func.func private @[[F]](
module attributes {mhlo.num_partitions = 1 : i32, test.a = 1} {
  func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}
// -----
module attributes {mhlo.num_partitions = 4 : i32, test.a = 1, test.at = @f, mhlo.xla_entry_computation_parameter_layouts = [dense<0> : tensor<1xindex>]} {
  func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

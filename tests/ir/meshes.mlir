// Meshes clash like functions; shardings follow, on the function op and inside.
// CHECK: sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func private @main({{.*}}<@mesh, [{"x"}]>
// CHECK: sdy.mesh @[[MESH:mesh_[0-9a-f]+]] = <["y"=4]>
// CHECK: func.func private @main_{{[0-9a-f]+}}({{.*}}<@[[MESH]], [{"y"}]>
// CHECK: stablehlo.negate {{.*}}sharding_per_value<[<@[[MESH]], [{"y"}]>]>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// -----
sdy.mesh @mesh = <["y"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

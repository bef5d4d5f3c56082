// A session that was saved and restored has the same module, and goes on where it was; whatever
// the dialect, and also where nothing uses an op.
// CHECK: sdy.mesh @mesh
// CHECK: memref.global "private" constant @weights
// CHECK: func.func private @main({{.*}}<@mesh, [{"x"}]>
// CHECK: func.func private @double(
// CHECK: func.func private @[[MAIN:main_[0-9a-f]+]](
// CHECK:   call @double(
// CHECK:   arith.mulf
// CHECK: func.func private @user(
// CHECK:   call @[[MAIN]](
// UNIT: one
sdy.mesh @mesh = <["x"=2]>
memref.global constant @weights : memref<2xf32> = dense<1.0>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// OFFER: double
// UNIT: two
func.func private @double(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @double(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = arith.mulf %0, %0 : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// RESTORE
// UNIT: three
func.func private @main(tensor<3xf32>) -> tensor<3xf32>
func.func @user(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// RESTORE

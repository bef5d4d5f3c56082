// Modules of GPU kernels are one symbol each: references to what is inside follow the module.
// CHECK: gpu.module {{.*}}@kernels{{ }}
// CHECK:   gpu.func @scale
// CHECK: gpu.module {{.*}}@[[KERNELS:kernels_[0-9a-f]+]]
// CHECK:   gpu.func @scale
// CHECK: func.func private @main{{.*}}attributes {test.kernel = @[[KERNELS]]::@scale}
gpu.module @kernels {
  gpu.func @scale() kernel {
    gpu.return
  }
}
// -----
gpu.module @kernels {
  gpu.func @scale(%x: f32) kernel {
    gpu.return
  }
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> attributes {test.kernel = @kernels::@scale} {
  return %x : tensor<3xf32>
}

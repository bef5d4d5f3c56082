module @parts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
    %2 = stablehlo.multiply %1, %0 : tensor<4xcomplex<f32>>
    %3 = stablehlo.exponential %2 : tensor<4xcomplex<f32>>
    %4 = stablehlo.real %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %5 = stablehlo.imag %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %6 = stablehlo.real %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %7 = stablehlo.imag %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %8 = stablehlo.negate %7 : tensor<4xf32>
    %9 = stablehlo.complex %6, %8 : tensor<4xcomplex<f32>>
    %10 = stablehlo.multiply %3, %9 : tensor<4xcomplex<f32>>
    %11 = stablehlo.abs %10 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %4, %5, %11 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

module @products attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<6x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xbf16> {jax.result_info = "result[1]"}, tensor<4x3xf32> {jax.result_info = "result[2]"}, tensor<4x3xf16> {jax.result_info = "result[3]"}, tensor<4x3xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<6x3xf32>) -> tensor<6x3xbf16>
    %2 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xf16>
    %3 = stablehlo.convert %arg1 : (tensor<6x3xf32>) -> tensor<6x3xf16>
    %4 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %5 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xbf16>, tensor<6x3xbf16>) -> tensor<4x3xbf16>
    %6 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xbf16>, tensor<6x3xbf16>) -> tensor<4x3xf32>
    %7 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf16>, tensor<6x3xf16>) -> tensor<4x3xf16>
    %8 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf16>, tensor<6x3xf16>) -> tensor<4x3xf32>
    return %4, %5, %6, %7, %8 : tensor<4x3xf32>, tensor<4x3xbf16>, tensor<4x3xf32>, tensor<4x3xf16>, tensor<4x3xf32>
  }
}

module @specials attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<3xi32> {jax.result_info = "result[3]"}, tensor<6xf32> {jax.result_info = "result[4]"}, tensor<6xf32> {jax.result_info = "result[5]"}) {
    %0 = chlo.erf_inv %arg0 : tensor<6xf32> -> tensor<6xf32>
    %1 = chlo.square %arg0 : tensor<6xf32> -> tensor<6xf32>
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<6xf32> -> (tensor<3xf32>, tensor<3xi32>)
    %2 = stablehlo.tanh %arg0 : tensor<6xf32>
    %3 = chlo.asin %arg0 : tensor<6xf32> -> tensor<6xf32>
    return %0, %1, %values, %indices, %2, %3 : tensor<6xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xi32>, tensor<6xf32>, tensor<6xf32>
  }
}

// A table lookup and a projection: ids are checked, the projection's weight is
// packed into panels.
attn.dim @rows range(0, 64)
attn.weight @table value<dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>> : tensor<3x2xf32>
attn.weight @weight value<dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0], [0.5, 0.5]]> : tensor<5x2xf32>> : tensor<5x2xf32>
attn.weight @bias value<dense<[10.0, 20.0, 30.0, 40.0, 50.0]> : tensor<5xf32>> : tensor<5xf32>
func.func @lookup(%ids: tensor<?xi64> {attn.name = "ids", attn.dims = ["rows"]})
    -> (tensor<?x5xf32> {attn.name = "projected", attn.dims = ["rows", ""]}) {
  %table = attn.weight_ref @table : tensor<3x2xf32>
  %weight = attn.weight_ref @weight : tensor<5x2xf32>
  %bias = attn.weight_ref @bias : tensor<5xf32>
  %rows = attn.embedding %ids, %table : tensor<?xi64>, tensor<3x2xf32> -> tensor<?x2xf32>
  %projected = attn.linear %rows, %weight bias(%bias) : tensor<?x2xf32>, tensor<5x2xf32>, tensor<5xf32> -> tensor<?x5xf32>
  return %projected : tensor<?x5xf32>
}

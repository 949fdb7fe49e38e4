// K of 768 is one block and K of 3072 several; the second has a bias. (An
// activation is a loop of multiply-adds of its own, once for all of K.)
attn.dim @rows range(1, 65536)
attn.weight @up value<dense<0.5> : tensor<3072x768xf32>> : tensor<3072x768xf32>
attn.weight @down value<dense<0.5> : tensor<768x3072xf32>> : tensor<768x3072xf32>
attn.weight @bias value<dense<0.5> : tensor<768xf32>> : tensor<768xf32>
func.func @main(%x: tensor<?x768xf32> {attn.name = "x", attn.dims = ["rows", ""]}) -> (tensor<?x768xf32> {attn.name = "y", attn.dims = ["rows", ""]}) {
  %up = attn.weight_ref @up : tensor<3072x768xf32>
  %down = attn.weight_ref @down : tensor<768x3072xf32>
  %bias = attn.weight_ref @bias : tensor<768xf32>
  %0 = attn.linear %x, %up : tensor<?x768xf32>, tensor<3072x768xf32> -> tensor<?x3072xf32>
  %1 = attn.linear %0, %down bias(%bias) : tensor<?x3072xf32>, tensor<768x3072xf32>, tensor<768xf32> -> tensor<?x768xf32>
  return %1 : tensor<?x768xf32>
}

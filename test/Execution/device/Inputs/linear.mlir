attn.dim @rows range(0, 4096)
func.func @main(%x: tensor<?x64xf32> {attn.dims = ["rows", ""]}, %w: tensor<96x64xf32>, %b: tensor<96xf32>) -> tensor<?x96xf32> {
  %0 = attn.linear %x, %w bias(%b) : tensor<?x64xf32>, tensor<96x64xf32>, tensor<96xf32> -> tensor<?x96xf32>
  %1 = attn.gelu %0<erf> : tensor<?x96xf32>
  return %1 : tensor<?x96xf32>
}

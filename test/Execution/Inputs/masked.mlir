func.func @masked(
    %query: tensor<?x?x2x24xf32> {attn.name = "query", attn.dims = ["batch", "sequence", "", ""]},
    %key: tensor<?x?x2x24xf32> {attn.name = "key", attn.dims = ["batch", "sequence", "", ""]},
    %value: tensor<?x?x2x24xf32> {attn.name = "value", attn.dims = ["batch", "sequence", "", ""]},
    %mask: tensor<?x?xi64> {attn.name = "mask", attn.dims = ["batch", "sequence"]})
    -> (tensor<?x?x2x24xf32> {attn.name = "output", attn.dims = ["batch", "sequence", "", ""]}) {
  %scores = attn.scores %query, %key layout(bshd) : tensor<?x?x2x24xf32>, tensor<?x?x2x24xf32> -> tensor<?x2x?x?xf32>
  %visible = attn.mask %scores by key_padding (%mask : tensor<?x?xi64>) : tensor<?x2x?x?xf32>
  %weights = attn.softmax %visible : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %output = attn.mix %weights, %value layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x24xf32> -> tensor<?x?x2x24xf32>
  return %output : tensor<?x?x2x24xf32>
}
attn.dim @batch range(1, 64)
attn.dim @sequence range(0, 4096)

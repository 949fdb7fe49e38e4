func.func @documents(
    %query: tensor<1x?x2x32xf32> {attn.name = "query", attn.dims = ["", "n", "", ""]},
    %key: tensor<1x?x2x32xf32> {attn.name = "key", attn.dims = ["", "m", "", ""]},
    %value: tensor<1x?x2x32xf32> {attn.name = "value", attn.dims = ["", "m", "", ""]},
    %query_ids: tensor<1x?xi64> {attn.name = "query_ids", attn.dims = ["", "n"]},
    %key_ids: tensor<1x?xi64> {attn.name = "key_ids", attn.dims = ["", "m"]})
    -> (tensor<1x?x2x32xf32> {attn.name = "output", attn.dims = ["", "n", "", ""]}) {
  %scores = attn.scores %query, %key layout(bshd) : tensor<1x?x2x32xf32>, tensor<1x?x2x32xf32> -> tensor<1x2x?x?xf32>
  %visible = attn.mask %scores by segments (%query_ids, %key_ids : tensor<1x?xi64>, tensor<1x?xi64>) : tensor<1x2x?x?xf32>
  %weights = attn.softmax %visible : tensor<1x2x?x?xf32> -> tensor<1x2x?x?xf32>
  %output = attn.mix %weights, %value layout(bshd) : tensor<1x2x?x?xf32>, tensor<1x?x2x32xf32> -> tensor<1x?x2x32xf32>
  return %output : tensor<1x?x2x32xf32>
}
attn.dim @n range(0, 4096)
attn.dim @m range(0, 4096)

// The textbook example of scaled dot-product attention: softmax(Q K^T / sqrt(d)) V.
//
// Three tokens, one head of size 2, Q = K = [[1, 0], [0, 1], [1, 1]], V = [[1, 0], [0, 1], [0.5, 0.5]].
// The result is [[0.602, 0.398], [0.398, 0.602], [0.5, 0.5]]. Batch and sequence are
// free: the compiled program takes any number of tokens.
attn.dim @batch range(1, 64)
attn.dim @sequence range(1, 4096)

func.func @attention(
    %query: tensor<?x?x1x2xf32> {attn.name = "query", attn.dims = ["batch", "sequence", "", ""]},
    %key: tensor<?x?x1x2xf32> {attn.name = "key", attn.dims = ["batch", "sequence", "", ""]},
    %value: tensor<?x?x1x2xf32> {attn.name = "value", attn.dims = ["batch", "sequence", "", ""]})
    -> (tensor<?x?x1x2xf32> {attn.name = "output", attn.dims = ["batch", "sequence", "", ""]}) {
  %scores = attn.scores %query, %key layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %weights = attn.softmax %scores : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %output = attn.mix %weights, %value layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %output : tensor<?x?x1x2xf32>
}

// Grouped heads, a bias, a soft-cap and an offset that hides whole rows; the
// offset is read per batch row, and one output is the log-sum-exp.
attn.dim @b range(0, 4)
attn.dim @n range(0, 256)
attn.dim @m range(0, 256)
func.func @loops(%q: tensor<?x?x6x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                 %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                 %v: tensor<?x?x2x5xf32> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                 %bias: tensor<6x?x?xf32> {attn.name = "bias", attn.dims = ["", "n", "m"]},
                 %offset: tensor<?xi64> {attn.name = "offset", attn.dims = ["b"]})
    -> (tensor<?x?x6x5xf32>, tensor<?x6x?xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x6x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x6x?x?xf32>
  %c = math.tanh %s : tensor<?x6x?x?xf32>
  %t = attn.bias %c, %bias : tensor<?x6x?x?xf32>, tensor<6x?x?xf32>
  %m = attn.mask %t by causal<offset>(%offset : tensor<?xi64>) : tensor<?x6x?x?xf32>
  %p, %lse = attn.softmax %m : tensor<?x6x?x?xf32> -> tensor<?x6x?x?xf32>, tensor<?x6x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x6x?x?xf32>, tensor<?x?x2x5xf32> -> tensor<?x?x6x5xf32>
  return %o, %lse : tensor<?x?x6x5xf32>, tensor<?x6x?xf32>
}

// A linear layer and causal attention, whose costs are easily computed by hand.
attn.dim @b range(1, 8)
attn.weight @w value<dense<0.5> : tensor<32x16xf32>> : tensor<32x16xf32>
func.func @block(%x: tensor<?x?x16xf32> {attn.name = "x", attn.dims = ["b", "n", ""]},
                 %q: tensor<?x?x2x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                 %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "n", "", ""]},
                 %v: tensor<?x?x2x8xf32> {attn.name = "v", attn.dims = ["b", "n", "", ""]})
    -> (tensor<?x?x32xf32>, tensor<?x?x2x8xf32>) {
  %w = attn.weight_ref @w : tensor<32x16xf32>
  %y = attn.linear %x, %w : tensor<?x?x16xf32>, tensor<32x16xf32> -> tensor<?x?x32xf32>
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m = attn.mask %s by causal<top_left> : tensor<?x2x?x?xf32>
  %p = attn.softmax %m : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  return %y, %o : tensor<?x?x32xf32>, tensor<?x?x2x8xf32>
}

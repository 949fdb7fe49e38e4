// Attention of a sequence whose scores no machine holds.
func.func @long(%q: tensor<1x?x1x2xf32> {attn.dims = ["", "sequence", "", ""], attn.name = "q"})
    -> (tensor<1x?x1x2xf32> {attn.dims = ["", "sequence", "", ""], attn.name = "o"}) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %p = attn.softmax %s : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

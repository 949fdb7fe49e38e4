attn.dim @n range(1, 4096)
func.func @main(%q: tensor<1x?x2x64xbf16> {attn.dims = ["", "n", "", ""]}, %k: tensor<1x?x2x64xbf16> {attn.dims = ["", "n", "", ""]},
                %v: tensor<1x?x2x64xbf16> {attn.dims = ["", "n", "", ""]}) -> (tensor<1x?x2x64xbf16> {attn.dims = ["", "n", "", ""]}) {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x?x2x64xbf16>, tensor<1x?x2x64xbf16> -> tensor<1x2x?x?xbf16>
  %m = attn.mask %s by causal<top_left> : tensor<1x2x?x?xbf16>
  %p = attn.softmax %m : tensor<1x2x?x?xbf16> -> tensor<1x2x?x?xbf16>
  %o = attn.mix %p, %v layout(bshd) : tensor<1x2x?x?xbf16>, tensor<1x?x2x64xbf16> -> tensor<1x?x2x64xbf16>
  return %o : tensor<1x?x2x64xbf16>
}

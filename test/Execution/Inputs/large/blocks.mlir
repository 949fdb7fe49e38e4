// 97220 queries and keys in blocks of 64 along the diagonal, 16 heads of 80.
attn.dim @length range(1, 100000)
func.func @main(%q: tensor<1x16x?x80xf32> {attn.name = "q", attn.dims = ["", "", "length", ""]},
                %k: tensor<1x16x?x80xf32> {attn.name = "k", attn.dims = ["", "", "length", ""]},
                %v: tensor<1x16x?x80xf32> {attn.name = "v", attn.dims = ["", "", "length", ""]})
    -> (tensor<1x16x?x80xf32> {attn.name = "o", attn.dims = ["", "", "length", ""]}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x16x?x80xf32>, tensor<1x16x?x80xf32> -> tensor<1x16x?x?xf32>
  %m = attn.mask %s by blocks<query = 64, key = 64> : tensor<1x16x?x?xf32>
  %p = attn.softmax %m : tensor<1x16x?x?xf32> -> tensor<1x16x?x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x16x?x?xf32>, tensor<1x16x?x80xf32> -> tensor<1x16x?x80xf32>
  return %o : tensor<1x16x?x80xf32>
}

attn.dim @length range(1, 8192)
func.func @main(%q: tensor<1x1x?x88xf32> {attn.name = "q", attn.dims = ["", "", "length", ""]},
                %k: tensor<1x1x?x88xf32> {attn.name = "k", attn.dims = ["", "", "length", ""]},
                %v: tensor<1x1x?x88xf32> {attn.name = "v", attn.dims = ["", "", "length", ""]})
    -> (tensor<1x1x?x88xf32> {attn.name = "o", attn.dims = ["", "", "length", ""]}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x1x?x88xf32>, tensor<1x1x?x88xf32> -> tensor<1x1x?x?xf32>
  %p = attn.softmax %s : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x1x?x?xf32>, tensor<1x1x?x88xf32> -> tensor<1x1x?x88xf32>
  return %o : tensor<1x1x?x88xf32>
}

// One query, more heads than a CPU has cores, and up to many keys.
attn.dim @m range(1, 100000)
func.func @main(%q: tensor<2x24x1x80xf32> {attn.name = "q"}, %k: tensor<2x24x?x80xf32> {attn.name = "k", attn.dims = ["", "", "m", ""]},
                %v: tensor<2x24x?x80xf32> {attn.name = "v", attn.dims = ["", "", "m", ""]}) -> (tensor<2x24x1x80xf32> {attn.name = "o"}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<2x24x1x80xf32>, tensor<2x24x?x80xf32> -> tensor<2x24x1x?xf32>
  %p = attn.softmax %s : tensor<2x24x1x?xf32> -> tensor<2x24x1x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x24x1x?xf32>, tensor<2x24x?x80xf32> -> tensor<2x24x1x80xf32>
  return %o : tensor<2x24x1x80xf32>
}

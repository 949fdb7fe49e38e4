func.func @main(%q: tensor<?x12x?x64xf32>, %k: tensor<?x12x?x64xf32>, %v: tensor<?x12x?x64xf32>) -> tensor<?x12x?x64xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32> -> tensor<?x12x?x?xf32>
  %p = attn.softmax %s : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x12x?x?xf32>, tensor<?x12x?x64xf32> -> tensor<?x12x?x64xf32>
  return %o : tensor<?x12x?x64xf32>
}

func.func @main(%q: tensor<2x3x40x64xf32>, %k: tensor<2x3x70x64xf32>, %v: tensor<2x3x70x64xf32>) -> tensor<2x3x40x64xf32> {
  %0 = attn.scores %q, %k layout(bhsd) : tensor<2x3x40x64xf32>, tensor<2x3x70x64xf32> -> tensor<2x3x40x70xf32>
  %2 = attn.softmax %0 : tensor<2x3x40x70xf32> -> tensor<2x3x40x70xf32>
  %3 = attn.mix %2, %v layout(bhsd) : tensor<2x3x40x70xf32>, tensor<2x3x70x64xf32> -> tensor<2x3x40x64xf32>
  return %3 : tensor<2x3x40x64xf32>
}

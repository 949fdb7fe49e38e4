func.func @main(%q: tensor<2x3x40x64xf16>, %k: tensor<2x3x70x64xf16>, %v: tensor<2x3x70x64xf16>) -> tensor<2x3x40x64xf16> {
  %0 = attn.scores %q, %k layout(bhsd) : tensor<2x3x40x64xf16>, tensor<2x3x70x64xf16> -> tensor<2x3x40x70xf16>
  %2 = attn.softmax %0 : tensor<2x3x40x70xf16> -> tensor<2x3x40x70xf16>
  %3 = attn.mix %2, %v layout(bhsd) : tensor<2x3x40x70xf16>, tensor<2x3x70x64xf16> -> tensor<2x3x40x64xf16>
  return %3 : tensor<2x3x40x64xf16>
}

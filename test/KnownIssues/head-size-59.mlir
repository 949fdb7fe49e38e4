// Heads of 59 channels, which is no multiple of a vector.
//
// CASE: q, k, v = normal(1, 2, 19, 59), normal(1, 2, 37, 59), normal(1, 2, 37, 59)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x19x59xf32> {attn.name = "q"},
    %k: tensor<1x2x37x59xf32> {attn.name = "k"},
    %v: tensor<1x2x37x59xf32> {attn.name = "v"})
    -> (tensor<1x2x19x59xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x19x59xf32>, tensor<1x2x37x59xf32> -> tensor<1x2x19x37xf32>
  %p = attn.softmax %s0 : tensor<1x2x19x37xf32> -> tensor<1x2x19x37xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x19x37xf32>, tensor<1x2x37x59xf32> -> tensor<1x2x19x59xf32>
  return %o : tensor<1x2x19x59xf32>
}

// Query head h of 48 reads key and value head h / 6.
//
// CASE: q, k, v = normal(1, 48, 3, 16), normal(1, 8, 11, 16), normal(1, 8, 11, 16)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x48x3x16xf32> {attn.name = "q"},
    %k: tensor<1x8x11x16xf32> {attn.name = "k"},
    %v: tensor<1x8x11x16xf32> {attn.name = "v"})
    -> (tensor<1x48x3x16xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x48x3x16xf32>, tensor<1x8x11x16xf32> -> tensor<1x48x3x11xf32>
  %p = attn.softmax %s0 : tensor<1x48x3x11xf32> -> tensor<1x48x3x11xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x48x3x11xf32>, tensor<1x8x11x16xf32> -> tensor<1x48x3x16xf32>
  return %o : tensor<1x48x3x16xf32>
}

// Aligned at the top left, a single query sees key 0 alone.
//
// CASE: q, k, v = normal(1, 2, 1, 8), normal(1, 2, 8, 8), normal(1, 2, 8, 8)
// CASE: case(q=q, k=k, v=v, out_o=v[:, :, :1])
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x1x8xf32> {attn.name = "q"},
    %k: tensor<1x2x8x8xf32> {attn.name = "k"},
    %v: tensor<1x2x8x8xf32> {attn.name = "v"})
    -> (tensor<1x2x1x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x1x8xf32>, tensor<1x2x8x8xf32> -> tensor<1x2x1x8xf32>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<1x2x1x8xf32>
  %p = attn.softmax %s1 : tensor<1x2x1x8xf32> -> tensor<1x2x1x8xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x1x8xf32>, tensor<1x2x8x8xf32> -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

// Scores that a caller asks for are -inf where they are hidden, not a large
// negative number.
//
// CASE: q, k, v = normal(1, 2, 4, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
// CASE: mask = generator.random((2, 4, 6)) < 0.6
// CASE: i, j = positions(4, 6)
// CASE: s = np.where(mask[None] & (j <= i), scores_of(q, k), -np.inf)
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=mix(softmax(s)[0], v), out_s=s)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x4x8xf32> {attn.name = "q"},
    %k: tensor<1x2x6x8xf32> {attn.name = "k"},
    %v: tensor<1x2x6x8xf32> {attn.name = "v"},
    %mask: tensor<2x4x6xi1> {attn.name = "mask"})
    -> (tensor<1x2x4x8xf32> {attn.name = "o"},
        tensor<1x2x4x6xf32> {attn.name = "s"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x6xf32>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<1x2x4x6xf32>
  %s2 = attn.mask %s1 by dense(%mask : tensor<2x4x6xi1>) : tensor<1x2x4x6xf32>
  %p = attn.softmax %s2 : tensor<1x2x4x6xf32> -> tensor<1x2x4x6xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x4x6xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o, %s2 : tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>
}

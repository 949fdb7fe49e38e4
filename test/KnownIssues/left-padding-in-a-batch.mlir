// A batch padded on the left: causal rows of the padding see nothing. They are
// zero and do not spread into the rows of other sequences.
//
// CASE: q, k, v = normal(2, 4, 33, 16), normal(2, 4, 33, 16), normal(2, 4, 33, 16)
// CASE: padding = np.ones((2, 33), np.int64)
// CASE: padding[1, :27] = 0
// CASE: i, j = positions(33, 33)
// CASE: mask = (j <= i) & (padding[:, None, None, :] != 0)
// CASE: case(q=q, k=k, v=v, padding=padding, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x4x33x16xf32> {attn.name = "q"},
    %k: tensor<2x4x33x16xf32> {attn.name = "k"},
    %v: tensor<2x4x33x16xf32> {attn.name = "v"},
    %padding: tensor<2x33xi64> {attn.name = "padding"})
    -> (tensor<2x4x33x16xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x4x33x16xf32>, tensor<2x4x33x16xf32> -> tensor<2x4x33x33xf32>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<2x4x33x33xf32>
  %s2 = attn.mask %s1 by key_padding(%padding : tensor<2x33xi64>) : tensor<2x4x33x33xf32>
  %p = attn.softmax %s2 : tensor<2x4x33x33xf32> -> tensor<2x4x33x33xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x4x33x33xf32>, tensor<2x4x33x16xf32> -> tensor<2x4x33x16xf32>
  return %o : tensor<2x4x33x16xf32>
}

// A padding mask is not a length: keys that are hidden may lie between keys
// that are not.
//
// CASE: q, k, v = normal(2, 2, 16, 8), normal(2, 2, 16, 8), normal(2, 2, 16, 8)
// CASE: padding = np.array([[0, 0, 1, 0, 1, 1, 0, 1] * 2, [1, 0] * 8], np.int64)
// CASE: case(q=q, k=k, v=v, padding=padding, out_o=attention(q, k, v, padding[:, None, None, :] != 0))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x2x16x8xf32> {attn.name = "q"},
    %k: tensor<2x2x16x8xf32> {attn.name = "k"},
    %v: tensor<2x2x16x8xf32> {attn.name = "v"},
    %padding: tensor<2x16xi64> {attn.name = "padding"})
    -> (tensor<2x2x16x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32> -> tensor<2x2x16x16xf32>
  %s1 = attn.mask %s0 by key_padding(%padding : tensor<2x16xi64>) : tensor<2x2x16x16xf32>
  %p = attn.softmax %s1 : tensor<2x2x16x16xf32> -> tensor<2x2x16x16xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x2x16x16xf32>, tensor<2x2x16x8xf32> -> tensor<2x2x16x8xf32>
  return %o : tensor<2x2x16x8xf32>
}

// A mask of three dimensions is (heads, queries, keys), and each batch row has
// the same.
//
// CASE: q, k, v = normal(3, 2, 5, 8), normal(3, 2, 9, 8), normal(3, 2, 9, 8)
// CASE: i, j = positions(5, 9)
// CASE: mask = np.stack([j <= i, j >= i])
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask[None]))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<3x2x5x8xf32> {attn.name = "q"},
    %k: tensor<3x2x9x8xf32> {attn.name = "k"},
    %v: tensor<3x2x9x8xf32> {attn.name = "v"},
    %mask: tensor<2x5x9xi1> {attn.name = "mask"})
    -> (tensor<3x2x5x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<3x2x5x8xf32>, tensor<3x2x9x8xf32> -> tensor<3x2x5x9xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x5x9xi1>) : tensor<3x2x5x9xf32>
  %p = attn.softmax %s1 : tensor<3x2x5x9xf32> -> tensor<3x2x5x9xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<3x2x5x9xf32>, tensor<3x2x9x8xf32> -> tensor<3x2x5x8xf32>
  return %o : tensor<3x2x5x8xf32>
}

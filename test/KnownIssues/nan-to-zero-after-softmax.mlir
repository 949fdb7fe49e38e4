// Exporters that know of NaN in rows without a visible key write softmax,
// isnan, where. The rows are zero before that already, so it changes nothing.
//
// CASE: q, k, v = normal(2, 4, 8, 16), normal(2, 4, 8, 16), normal(2, 4, 8, 16)
// CASE: mask = np.tril(np.ones((2, 4, 8, 8), bool))
// CASE: mask[:, :, 6] = False
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x4x8x16xf32> {attn.name = "q"},
    %k: tensor<2x4x8x16xf32> {attn.name = "k"},
    %v: tensor<2x4x8x16xf32> {attn.name = "v"},
    %mask: tensor<2x4x8x8xi1> {attn.name = "mask"})
    -> (tensor<2x4x8x16xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32> -> tensor<2x4x8x8xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x4x8x8xi1>) : tensor<2x4x8x8xf32>
  %p = attn.softmax %s1 : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x4x8x8xf32>
  %isnan = arith.cmpf uno, %p, %p : tensor<2x4x8x8xf32>
  %clean = arith.select %isnan, %zeros, %p : tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>
  %o = attn.mix %clean, %v layout(bhsd) : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32> -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

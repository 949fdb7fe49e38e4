// Only -inf hides. A row with a score of +inf is NaN, as the formula says, and
// is not taken for a row without keys; other rows do not notice.
//
// CASE: q, k, v = normal(1, 2, 4, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
// CASE: bias = np.zeros((1, 1, 4, 6), np.float32)
// CASE: bias[..., 1, 2] = np.inf
// CASE: bias[..., 2, :] = -np.inf
// CASE: o = attention(q, k, v, bias=np.where(np.isposinf(bias), 0, bias))
// CASE: o[:, :, 1] = np.nan
// CASE: case(q=q, k=k, v=v, mask=bias, out_o=o)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x4x8xf32> {attn.name = "q"},
    %k: tensor<1x2x6x8xf32> {attn.name = "k"},
    %v: tensor<1x2x6x8xf32> {attn.name = "v"},
    %mask: tensor<1x1x4x6xf32> {attn.name = "mask"})
    -> (tensor<1x2x4x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x6xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x4x6xf32>) : tensor<1x2x4x6xf32>
  %p = attn.softmax %s1 : tensor<1x2x4x6xf32> -> tensor<1x2x4x6xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x4x6xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

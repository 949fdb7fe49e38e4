// Many models hide with the lowest float instead of -inf. It is a number: a
// row of it alone is the plain mean of the values, because the score is lost
// in the rounding of the sum; beside other keys it weighs 0. Nothing is NaN.
//
// CASE: q, k, v = normal(2, 2, 41, 64), normal(2, 2, 141, 64), normal(2, 2, 141, 64)
// CASE: bias = np.zeros((2, 1, 41, 141), np.float32)
// CASE: bias[..., :128] = np.finfo(np.float32).min
// CASE: bias[1, :, 3] = np.finfo(np.float32).min
// CASE: s = (scores_of(q, k).astype(np.float32) + bias).astype(np.float64)
// CASE: case(q=q, k=k, v=v, mask=bias, out_o=mix(softmax(s)[0], v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x2x41x64xf32> {attn.name = "q"},
    %k: tensor<2x2x141x64xf32> {attn.name = "k"},
    %v: tensor<2x2x141x64xf32> {attn.name = "v"},
    %mask: tensor<2x1x41x141xf32> {attn.name = "mask"})
    -> (tensor<2x2x41x64xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x2x41x64xf32>, tensor<2x2x141x64xf32> -> tensor<2x2x41x141xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x1x41x141xf32>) : tensor<2x2x41x141xf32>
  %p = attn.softmax %s1 : tensor<2x2x41x141xf32> -> tensor<2x2x41x141xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x2x41x141xf32>, tensor<2x2x141x64xf32> -> tensor<2x2x41x64xf32>
  return %o : tensor<2x2x41x64xf32>
}

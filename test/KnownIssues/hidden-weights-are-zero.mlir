// The weights of hidden keys are exactly 0, also in a row where all are
// hidden: there is no finite stand-in for -inf whose exponential could be 1.
//
// CASE: q, k, v = normal(1, 2, 5, 8), normal(1, 2, 7, 8), normal(1, 2, 7, 8)
// CASE: mask = np.zeros((1, 1, 5, 7), bool)
// CASE: mask[..., :3, 2:4] = True
// CASE: p, lse = softmax(scores_of(q, k), mask)
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=mix(p, v), out_p=p)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x5x8xf32> {attn.name = "q"},
    %k: tensor<1x2x7x8xf32> {attn.name = "k"},
    %v: tensor<1x2x7x8xf32> {attn.name = "v"},
    %mask: tensor<1x1x5x7xi1> {attn.name = "mask"})
    -> (tensor<1x2x5x8xf32> {attn.name = "o"},
        tensor<1x2x5x7xf32> {attn.name = "p"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x5x8xf32>, tensor<1x2x7x8xf32> -> tensor<1x2x5x7xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x5x7xi1>) : tensor<1x2x5x7xf32>
  %p = attn.softmax %s1 : tensor<1x2x5x7xf32> -> tensor<1x2x5x7xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x5x7xf32>, tensor<1x2x7x8xf32> -> tensor<1x2x5x8xf32>
  return %o, %p : tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>
}

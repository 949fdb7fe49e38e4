// Where no pair is visible at all, every result is zero and every log-sum-exp
// is -inf.
//
// CASE: q, k, v = normal(2, 2, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 8)
// CASE: mask = np.zeros((2, 1, 3, 5), bool)
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=np.zeros((2, 2, 3, 8)), out_lse=np.full((2, 2, 3), -np.inf))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x2x3x8xf32> {attn.name = "q"},
    %k: tensor<2x2x5x8xf32> {attn.name = "k"},
    %v: tensor<2x2x5x8xf32> {attn.name = "v"},
    %mask: tensor<2x1x3x5xi1> {attn.name = "mask"})
    -> (tensor<2x2x3x8xf32> {attn.name = "o"},
        tensor<2x2x3xf32> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x2x3x8xf32>, tensor<2x2x5x8xf32> -> tensor<2x2x3x5xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x1x3x5xi1>) : tensor<2x2x3x5xf32>
  %p, %lse = attn.softmax %s1 : tensor<2x2x3x5xf32> -> tensor<2x2x3x5xf32>, tensor<2x2x3xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x2x3x5xf32>, tensor<2x2x5x8xf32> -> tensor<2x2x3x8xf32>
  return %o, %lse : tensor<2x2x3x8xf32>, tensor<2x2x3xf32>
}

// A query whose keys are all hidden gives zeros, not NaN: a softmax of -inf
// alone would be 0 / 0. The rows beside it do not notice.
//
// CASE: q, k, v = normal(1, 2, 6, 8), normal(1, 2, 10, 8), normal(1, 2, 10, 8)
// CASE: mask = np.ones((1, 2, 6, 10), bool)
// CASE: mask[..., 5, :] = False
// CASE: s = scores_of(q, k)
// CASE: p, lse = softmax(s, mask)
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=mix(p, v), out_p=p, out_lse=lse)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x6x8xf32> {attn.name = "q"},
    %k: tensor<1x2x10x8xf32> {attn.name = "k"},
    %v: tensor<1x2x10x8xf32> {attn.name = "v"},
    %mask: tensor<1x2x6x10xi1> {attn.name = "mask"})
    -> (tensor<1x2x6x8xf32> {attn.name = "o"},
        tensor<1x2x6x10xf32> {attn.name = "p"},
        tensor<1x2x6xf32> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x6x8xf32>, tensor<1x2x10x8xf32> -> tensor<1x2x6x10xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x2x6x10xi1>) : tensor<1x2x6x10xf32>
  %p, %lse = attn.softmax %s1 : tensor<1x2x6x10xf32> -> tensor<1x2x6x10xf32>, tensor<1x2x6xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x6x10xf32>, tensor<1x2x10x8xf32> -> tensor<1x2x6x8xf32>
  return %o, %p, %lse : tensor<1x2x6x8xf32>, tensor<1x2x6x10xf32>, tensor<1x2x6xf32>
}

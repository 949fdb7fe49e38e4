// A window whose diagonal ends at the last key.
//
// CASE: for b, n, m in (2, 70, 150), (1, 33, 17), (2, 1, 65):
// CASE:     q, k, v = normal(b, 4, n, 8), normal(b, 2, m, 8), normal(b, 2, m, 8)
// CASE:     i, j = positions(n, m)
// CASE:     mask = (j <= i + m - n + 2) & (j >= i + m - n - 9)
// CASE:     named = dict()
// CASE:     p, lse = softmax(scores_of(q, k), mask)
// CASE:     case(q=q, k=k, v=v, **named, out_o=mix(p, v), out_lse=lse)
// RUN: %python %S/../../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --case %t.2.npz --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x4x?x8xf32> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x8xf32> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x8xf32> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x4x?x8xf32> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x4x?xf32> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x4x?x?xf32>
  %s1 = attn.mask %s0 by window<left = 9, right = 2, alignment = bottom_right> : tensor<?x4x?x?xf32>
  %p, %lse = attn.softmax %s1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x4x?x8xf32>
  return %o, %lse : tensor<?x4x?x8xf32>, tensor<?x4x?xf32>
}

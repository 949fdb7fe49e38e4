// Windows around offsets that belong to a batch row, with offsets that no
// sequence is as long as: their differences are bounds of loops, and must not
// overflow.
//
// CASE: for b, n, m in (6, 70, 150), (6, 1, 300):
// CASE:     q, k, v = normal(b, 4, n, 8), normal(b, 2, m, 8), normal(b, 2, m, 8)
// CASE:     i, j = positions(n, m)
// CASE:     wide, far = 2**62, 2**30
// CASE:     first = rows(80, 200, wide, -wide, far, -far)
// CASE:     second = rows(60, 190, -wide, wide, -far, far)
// CASE:     last = rows(wide, 195, wide, wide, far, far)
// CASE:     a, b, c = (x[:, None, None, None] for x in (first, second, last))
// CASE:     mask = (j >= i + a - 103) & (j <= i + a + 25)
// CASE:     mask &= (j >= i + b - 87) & (j <= i + b) & (j <= i + c)
// CASE:     p, lse = softmax(scores_of(q, k), mask)
// CASE:     case(q=q, k=k, v=v, first=first, second=second, last=last,
// CASE:          out_o=mix(p, v), out_lse=lse)
// RUN: %python %S/../../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --tolerance=2e-6,2e-5
// RUN: attn-run %s --target=x86-64-v2 --case %t.0.npz --case %t.1.npz --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x4x?x8xf32> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x8xf32> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x8xf32> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %first: tensor<?xi64> {attn.name = "first", attn.dims = ["batch"]},
    %second: tensor<?xi64> {attn.name = "second", attn.dims = ["batch"]},
    %last: tensor<?xi64> {attn.name = "last", attn.dims = ["batch"]})
    -> (tensor<?x4x?x8xf32> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x4x?xf32> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x4x?x?xf32>
  %s1 = attn.mask %s0 by window<left = 103, right = 25, alignment = offset>(%first : tensor<?xi64>) : tensor<?x4x?x?xf32>
  %s2 = attn.mask %s1 by window<left = 87, right = 0, alignment = offset>(%second : tensor<?xi64>) : tensor<?x4x?x?xf32>
  %s3 = attn.mask %s2 by causal<offset>(%last : tensor<?xi64>) : tensor<?x4x?x?xf32>
  %p, %lse = attn.softmax %s3 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x4x?x8xf32>
  return %o, %lse : tensor<?x4x?x8xf32>, tensor<?x4x?xf32>
}

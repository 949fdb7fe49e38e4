// No batch, no query or no key: an empty result, or zeros, and no division by
// a size.
//
// CASE: for b, n, m in (0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0):
// CASE:     q, k, v = normal(b, 2, n, 8), normal(b, 2, m, 8), normal(b, 2, m, 8)
// CASE:     case(q=q, k=k, v=v, out_o=attention(q, k, v), out_lse=softmax(scores_of(q, k))[1])
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --case %t.2.npz --case %t.3.npz --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x8xf32> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x8xf32> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x8xf32> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x2x?x8xf32> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x2x?xf32> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x?xf32>
  %p, %lse = attn.softmax %s0 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  return %o, %lse : tensor<?x2x?x8xf32>, tensor<?x2x?xf32>
}

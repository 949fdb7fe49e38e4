// A formula of the user's own may multiply what it loads: a row sees the first
// blocks of 64 keys, a window is wider by a loaded factor, and a product of two
// loaded numbers leaves out keys in front. None of the numbers is too large.
//
// CASE: for b, n, m in (6, 70, 310), (6, 1, 150):
// CASE:     q, k, v = normal(b, 4, n, 8), normal(b, 2, m, 8), normal(b, 2, m, 8)
// CASE:     i, j = positions(n, m)
// CASE:     blocks = rows(2, 1, 2**30, 2**40, 0, -2**40)
// CASE:     spread = rows(1, 3, 2**30, 2**20, 5, 1)
// CASE:     skip = rows(7, 0, -1, -2**40, 2**30, 2**40)
// CASE:     a, b, c = (x[:, None, None, None] for x in (blocks, spread, skip))
// CASE:     # Beyond 64 bits, and far from any key in either case.
// CASE:     far = np.clip(b, -2**31, 2**31) * np.clip(c, -2**31, 2**31)
// CASE:     mask = (j < 64 * np.clip(a, -2**50, 2**50)) & (j >= far)
// CASE:     mask = mask & (j <= 20 * (i + b))
// CASE:     p, lse = softmax(scores_of(q, k), mask)
// CASE:     case(q=q, k=k, v=v, blocks=blocks, spread=spread, skip=skip,
// CASE:          out_o=mix(p, v), out_lse=lse)
// RUN: %python %S/../../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x4x?x8xf32> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x8xf32> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x8xf32> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %blocks: tensor<?xi64> {attn.name = "blocks", attn.dims = ["batch"]},
    %spread: tensor<?xi64> {attn.name = "spread", attn.dims = ["batch"]},
    %skip: tensor<?xi64> {attn.name = "skip", attn.dims = ["batch"]})
    -> (tensor<?x4x?x8xf32> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x4x?xf32> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.35355339059327373 : f32
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f32)
      capture(%blocks, %spread, %skip : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %t: tensor<?xi64>, %u: tensor<?xi64>, %w: tensor<?xi64>):
    %e0 = tensor.extract %t[%b] : tensor<?xi64>
    %e1 = tensor.extract %u[%b] : tensor<?xi64>
    %e2 = tensor.extract %w[%b] : tensor<?xi64>
    %i0 = arith.index_cast %e0 : i64 to index
    %i1 = arith.index_cast %e1 : i64 to index
    %i2 = arith.index_cast %e2 : i64 to index
    %c64 = arith.constant 64 : index
    %c20 = arith.constant 20 : index
    %end = arith.muli %i0, %c64 : index
    %in_blocks = arith.cmpi slt, %j, %end : index
    %begin = arith.muli %i1, %i2 : index
    %behind = arith.cmpi sge, %j, %begin : index
    %at = arith.addi %i, %i1 : index
    %last = arith.muli %c20, %at : index
    %before = arith.cmpi sle, %j, %last : index
    %some = arith.andi %in_blocks, %behind : i1
    %all = arith.andi %some, %before : i1
    attn.yield %all : i1
  } : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x4x?x8xf32>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x8xf32>, tensor<?x4x?xf32>
}

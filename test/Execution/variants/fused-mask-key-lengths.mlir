// Fused: a number of keys for each batch row.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/mask-key-lengths.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/mask-key-lengths.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x3x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x3x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %key_lengths: tensor<?xi64> {attn.name = "key_lengths", attn.dims = ["batch"]})
    -> (tensor<?x3x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x3x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%key_lengths : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %key_lengths_in: tensor<?xi64>):
    %0 = tensor.extract %key_lengths_in[%b] : tensor<?xi64>
    %1 = arith.index_cast %0 : i64 to index
    %visible = arith.cmpi slt, %j, %1 : index
    attn.yield %visible : i1
  } : tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x4xf64>, tensor<?x3x?xf64>
  return %o, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?xf64>
}

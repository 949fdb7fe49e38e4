// T5: a bias of the bucket that the distance falls into, causal.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/t5-buckets-causal.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/t5-buckets-causal.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/t5-buckets-causal.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator, at sizes of several tiles.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/t5-buckets-causal.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %table: tensor<12x2xf64> {attn.name = "table"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}) {
  %scale = arith.constant 1.0 : f64
  %s0 = attn.scores %q, %k scale(%scale : f64) layout(bhsd) : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x?xf64>
  %s1 = attn.t5_bias %s0, %table max_distance(24) : tensor<?x2x?x?xf64>, tensor<12x2xf64>
  %s2 = attn.mask %s1 by causal<top_left> : tensor<?x2x?x?xf64>
  %p = attn.softmax %s2 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>
  return %o : tensor<?x2x?x4xf64>
}

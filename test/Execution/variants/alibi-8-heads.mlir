// ALiBi with the slopes of 8 heads, causal.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/alibi-8-heads.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/alibi-8-heads.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/alibi-8-heads.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator, at sizes of several tiles.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/alibi-8-heads.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x8x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x8x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x8x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x8x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x8x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x8x?x4xf64>, tensor<?x8x?x4xf64> -> tensor<?x8x?x?xf64>
  %s1 = attn.alibi %s0 aligned(bottom_right) : tensor<?x8x?x?xf64>
  %s2 = attn.mask %s1 by causal<bottom_right> : tensor<?x8x?x?xf64>
  %p, %lse = attn.softmax %s2 : tensor<?x8x?x?xf64> -> tensor<?x8x?x?xf64>, tensor<?x8x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x8x?x?xf64>, tensor<?x8x?x4xf64> -> tensor<?x8x?x4xf64>
  return %o, %lse : tensor<?x8x?x4xf64>, tensor<?x8x?xf64>
}

// The lowest f32 instead of -inf is a number: a row of it is uniform, not zero.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/mask-finfo-min.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/mask-finfo-min.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %bias: tensor<?x1x?x?xf64> {attn.name = "bias", attn.dims = ["batch", "", "queries", "keys"]})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x?xf64>
  %s1 = attn.mask %s0 by dense(%bias : tensor<?x1x?x?xf64>) : tensor<?x2x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

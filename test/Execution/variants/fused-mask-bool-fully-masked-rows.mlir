// Fused: a boolean mask with rows that see nothing.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/mask-bool-fully-masked-rows.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/mask-bool-fully-masked-rows.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %mask: tensor<?x1x?x?xi1> {attn.name = "mask", attn.dims = ["batch", "", "queries", "keys"]})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%mask : tensor<?x1x?x?xi1>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %mask_in: tensor<?x1x?x?xi1>):
    %zero = arith.constant 0 : index
    %visible = tensor.extract %mask_in[%b, %zero, %i, %j] : tensor<?x1x?x?xi1>
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

// Fused: the lowest f32 is a number; only -inf hides.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/mask-finfo-min.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g;s/ : i64/ : i32/g;s/to i64/to i32/g;s/0xFFF0000000000000/0xFF800000/' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/mask-finfo-min.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %bias: tensor<?x1x?x?xf64> {attn.name = "bias", attn.dims = ["batch", "", "queries", "keys"]})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%bias : tensor<?x1x?x?xf64>) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %bias_in: tensor<?x1x?x?xf64>):
    %zero = arith.constant 0 : index
    %0 = tensor.extract %bias_in[%b, %zero, %i, %j] : tensor<?x1x?x?xf64>
    %1 = arith.addf %s, %0 : f64
    attn.yield %1 : f64
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %bias_in: tensor<?x1x?x?xf64>):
    %zero = arith.constant 0 : index
    %hidden = arith.constant 0xFFF0000000000000 : i64
    %0 = tensor.extract %bias_in[%b, %zero, %i, %j] : tensor<?x1x?x?xf64>
    %1 = arith.bitcast %0 : f64 to i64
    %visible = arith.cmpi ne, %1, %hidden : i64
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

// ALiBi with 8 heads: a penalty that grows with the distance; causal.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/alibi-8-heads.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/alibi-8-heads.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x8x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x8x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x8x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x8x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x8x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %slopes = arith.constant dense<[0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]> : tensor<8xf64>
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%slopes : tensor<8xf64>) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %slopes_in: tensor<8xf64>):
    %slope = tensor.extract %slopes_in[%h] : tensor<8xf64>
    %0 = arith.subi %i, %j : index
    %1 = arith.index_cast %0 : index to i64
    %distance = arith.sitofp %1 : i64 to f64
    %2 = arith.mulf %slope, %distance : f64
    %3 = arith.subf %s, %2 : f64
    attn.yield %3 : f64
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %slopes_in: tensor<8xf64>):
    %visible = arith.cmpi ule, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x8x?x4xf64>, tensor<?x8x?x4xf64>, tensor<?x8x?x4xf64> -> tensor<?x8x?x4xf64>, tensor<?x8x?xf64>
  return %o, %lse : tensor<?x8x?x4xf64>, tensor<?x8x?xf64>
}

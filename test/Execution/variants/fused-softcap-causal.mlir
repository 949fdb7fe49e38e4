// Scores capped at 3 by tanh, before a causal mask.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/softcap-causal.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/softcap-causal.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x8xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x8xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x8xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x2x?x8xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.35355339059327373 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
    %cap = arith.constant 3.0 : f64
    %0 = arith.divf %s, %cap : f64
    %1 = math.tanh %0 : f64
    %2 = arith.mulf %1, %cap : f64
    attn.yield %2 : f64
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi ule, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf64>, tensor<?x2x?x8xf64>, tensor<?x2x?x8xf64> -> tensor<?x2x?x8xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x8xf64>, tensor<?x2x?xf64>
}

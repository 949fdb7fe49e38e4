// Scores capped at 3 by tanh, before a causal mask.
//
// RUN: attn-run %s --case %data/variants/softcap-causal.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x8xf64> {attn.name = "q"},
    %k: tensor<?x2x?x8xf64> {attn.name = "k"},
    %v: tensor<?x2x?x8xf64> {attn.name = "v"})
    -> (tensor<?x2x?x8xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
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

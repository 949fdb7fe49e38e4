// Fused: a window of two keys on each side.
//
// RUN: attn-run %s --case %data/variants/window-both.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %two = arith.constant 2 : index
    %0 = arith.subi %i, %j : index
    %1 = arith.subi %j, %i : index
    %2 = arith.maxsi %0, %1 : index
    %visible = arith.cmpi sle, %2, %two : index
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

// A scale of its own.
//
// RUN: attn-run %s --case %data/variants/sdpa-scale.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x8xf64> {attn.name = "q"},
    %k: tensor<?x2x?x8xf64> {attn.name = "k"},
    %v: tensor<?x2x?x8xf64> {attn.name = "v"})
    -> (tensor<?x2x?x8xf64> {attn.name = "o"}, tensor<?x2x?x?xf64> {attn.name = "p"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.37 : f64
  %s0 = attn.scores %q, %k scale(%scale : f64) layout(bhsd) : tensor<?x2x?x8xf64>, tensor<?x2x?x8xf64> -> tensor<?x2x?x?xf64>
  %p, %lse = attn.softmax %s0 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x8xf64> -> tensor<?x2x?x8xf64>
  return %o, %p, %lse : tensor<?x2x?x8xf64>, tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
}

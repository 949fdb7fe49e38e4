// All query heads share one key and value head; causal.
//
// RUN: attn-run %s --case %data/variants/mqa-3-over-1.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q"},
    %k: tensor<?x1x?x4xf64> {attn.name = "k"},
    %v: tensor<?x1x?x4xf64> {attn.name = "v"})
    -> (tensor<?x3x?x4xf64> {attn.name = "o"}, tensor<?x3x?x?xf64> {attn.name = "p"}, tensor<?x3x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x3x?x4xf64>, tensor<?x1x?x4xf64> -> tensor<?x3x?x?xf64>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<?x3x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x3x?x?xf64> -> tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x3x?x?xf64>, tensor<?x1x?x4xf64> -> tensor<?x3x?x4xf64>
  return %o, %p, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
}

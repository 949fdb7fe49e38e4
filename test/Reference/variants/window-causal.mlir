// A sliding window of the last four keys.
//
// RUN: attn-run %s --case %data/variants/window-causal.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?x?xf64> {attn.name = "p"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x?xf64>
  %s1 = attn.mask %s0 by window<left = 3, right = 0> : tensor<?x2x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>
  return %o, %p, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
}

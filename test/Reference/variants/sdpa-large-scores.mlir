// Scores of 1e4: the maximum of each row must be subtracted.
//
// RUN: attn-run %s --case %data/variants/sdpa-large-scores.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x1x?x16xf64> {attn.name = "q"},
    %k: tensor<?x1x?x16xf64> {attn.name = "k"},
    %v: tensor<?x1x?x16xf64> {attn.name = "v"})
    -> (tensor<?x1x?x16xf64> {attn.name = "o"}, tensor<?x1x?x?xf64> {attn.name = "p"}, tensor<?x1x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 1.0 : f64
  %s0 = attn.scores %q, %k scale(%scale : f64) layout(bhsd) : tensor<?x1x?x16xf64>, tensor<?x1x?x16xf64> -> tensor<?x1x?x?xf64>
  %p, %lse = attn.softmax %s0 : tensor<?x1x?x?xf64> -> tensor<?x1x?x?xf64>, tensor<?x1x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x1x?x?xf64>, tensor<?x1x?x16xf64> -> tensor<?x1x?x16xf64>
  return %o, %p, %lse : tensor<?x1x?x16xf64>, tensor<?x1x?x?xf64>, tensor<?x1x?xf64>
}

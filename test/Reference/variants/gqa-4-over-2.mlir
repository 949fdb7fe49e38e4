// Two query heads share a key and value head.
//
// RUN: attn-run %s --case %data/variants/gqa-4-over-2.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x4x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"})
    -> (tensor<?x4x?x4xf64> {attn.name = "o"}, tensor<?x4x?x?xf64> {attn.name = "p"}, tensor<?x4x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x4x?x?xf64>
  %p, %lse = attn.softmax %s0 : tensor<?x4x?x?xf64> -> tensor<?x4x?x?xf64>, tensor<?x4x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x4x?x?xf64>, tensor<?x2x?x4xf64> -> tensor<?x4x?x4xf64>
  return %o, %p, %lse : tensor<?x4x?x4xf64>, tensor<?x4x?x?xf64>, tensor<?x4x?xf64>
}

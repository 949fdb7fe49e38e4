// A number of keys for each batch row.
//
// RUN: attn-run %s --case %data/variants/mask-key-lengths.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q"},
    %k: tensor<?x3x?x4xf64> {attn.name = "k"},
    %v: tensor<?x3x?x4xf64> {attn.name = "v"},
    %key_lengths: tensor<?xi64> {attn.name = "key_lengths"})
    -> (tensor<?x3x?x4xf64> {attn.name = "o"}, tensor<?x3x?x?xf64> {attn.name = "p"}, tensor<?x3x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x?xf64>
  %s1 = attn.mask %s0 by key_lengths(%key_lengths : tensor<?xi64>) : tensor<?x3x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x3x?x?xf64> -> tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x3x?x?xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x4xf64>
  return %o, %p, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
}

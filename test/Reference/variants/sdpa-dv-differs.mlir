// Values of another width than keys, more keys than queries.
//
// RUN: attn-run %s --case %data/variants/sdpa-dv-differs.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x3xf64> {attn.name = "v"})
    -> (tensor<?x2x?x3xf64> {attn.name = "o"}, tensor<?x2x?x?xf64> {attn.name = "p"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x?xf64>
  %p, %lse = attn.softmax %s0 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x3xf64> -> tensor<?x2x?x3xf64>
  return %o, %p, %lse : tensor<?x2x?x3xf64>, tensor<?x2x?x?xf64>, tensor<?x2x?xf64>
}

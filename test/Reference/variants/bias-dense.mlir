// A bias for each head, shared by the batch.
//
// RUN: attn-run %s --case %data/variants/bias-dense.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q"},
    %k: tensor<?x3x?x4xf64> {attn.name = "k"},
    %v: tensor<?x3x?x4xf64> {attn.name = "v"},
    %bias: tensor<1x3x?x?xf64> {attn.name = "bias"})
    -> (tensor<?x3x?x4xf64> {attn.name = "o"}, tensor<?x3x?x?xf64> {attn.name = "p"}, tensor<?x3x?xf64> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x?xf64>
  %s1 = attn.bias %s0, %bias : tensor<?x3x?x?xf64>, tensor<1x3x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x3x?x?xf64> -> tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x3x?x?xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x4xf64>
  return %o, %p, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
}

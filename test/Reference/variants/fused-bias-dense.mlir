// Fused: a bias for each head.
//
// RUN: attn-run %s --case %data/variants/bias-dense.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q"},
    %k: tensor<?x3x?x4xf64> {attn.name = "k"},
    %v: tensor<?x3x?x4xf64> {attn.name = "v"},
    %bias: tensor<1x3x?x?xf64> {attn.name = "bias"})
    -> (tensor<?x3x?x4xf64> {attn.name = "o"}, tensor<?x3x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%bias : tensor<1x3x?x?xf64>) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %bias_in: tensor<1x3x?x?xf64>):
    %zero = arith.constant 0 : index
    %0 = tensor.extract %bias_in[%zero, %h, %i, %j] : tensor<1x3x?x?xf64>
    %1 = arith.addf %s, %0 : f64
    attn.yield %1 : f64
  } : tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x4xf64>, tensor<?x3x?xf64>
  return %o, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?xf64>
}

// Fused: the lowest f32 is a number; only -inf hides.
//
// RUN: attn-run %s --case %data/variants/mask-finfo-min.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"},
    %bias: tensor<?x1x?x?xf64> {attn.name = "bias"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%bias : tensor<?x1x?x?xf64>) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %bias_in: tensor<?x1x?x?xf64>):
    %zero = arith.constant 0 : index
    %0 = tensor.extract %bias_in[%b, %zero, %i, %j] : tensor<?x1x?x?xf64>
    %1 = arith.addf %s, %0 : f64
    attn.yield %1 : f64
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %bias_in: tensor<?x1x?x?xf64>):
    %zero = arith.constant 0 : index
    %hidden = arith.constant 0xFFF0000000000000 : i64
    %0 = tensor.extract %bias_in[%b, %zero, %i, %j] : tensor<?x1x?x?xf64>
    %1 = arith.bitcast %0 : f64 to i64
    %visible = arith.cmpi ne, %1, %hidden : i64
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

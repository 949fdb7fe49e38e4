// Fused: a boolean mask with rows that see nothing.
//
// RUN: attn-run %s --case %data/variants/mask-bool-fully-masked-rows.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"},
    %mask: tensor<?x1x?x?xi1> {attn.name = "mask"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%mask : tensor<?x1x?x?xi1>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %mask_in: tensor<?x1x?x?xi1>):
    %zero = arith.constant 0 : index
    %visible = tensor.extract %mask_in[%b, %zero, %i, %j] : tensor<?x1x?x?xi1>
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

// Fused: no keys at all.
//
// RUN: attn-run %s --case %data/variants/sdpa-no-keys.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) layout(bhsd)
  : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}

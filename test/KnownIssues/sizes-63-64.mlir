// 63 queries and 64 keys under a mask: keys that pad a tile take no part.
//
// CASE: q, k, v = normal(1, 2, 63, 8), normal(1, 2, 64, 8), normal(1, 2, 64, 8)
// CASE: mask = generator.random((1, 1, 63, 64)) < 0.7
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x63x8xf32> {attn.name = "q"},
    %k: tensor<1x2x64x8xf32> {attn.name = "k"},
    %v: tensor<1x2x64x8xf32> {attn.name = "v"},
    %mask: tensor<1x1x63x64xi1> {attn.name = "mask"})
    -> (tensor<1x2x63x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x63x8xf32>, tensor<1x2x64x8xf32> -> tensor<1x2x63x64xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x63x64xi1>) : tensor<1x2x63x64xf32>
  %p = attn.softmax %s1 : tensor<1x2x63x64xf32> -> tensor<1x2x63x64xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x63x64xf32>, tensor<1x2x64x8xf32> -> tensor<1x2x63x8xf32>
  return %o : tensor<1x2x63x8xf32>
}

// A negative scale turns the order of the keys round; its root is not taken.
//
// CASE: q, k, v = normal(1, 3, 64, 64), normal(1, 3, 64, 64), normal(1, 3, 64, 64)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v, scale=-0.5))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=5e-6,2e-5

func.func @main(
    %q: tensor<1x3x64x64xf32> {attn.name = "q"},
    %k: tensor<1x3x64x64xf32> {attn.name = "k"},
    %v: tensor<1x3x64x64xf32> {attn.name = "v"})
    -> (tensor<1x3x64x64xf32> {attn.name = "o"}) {
  %c = arith.constant -0.5 : f32
  %s0 = attn.scores %q, %k scale(%c : f32) layout(bhsd) : tensor<1x3x64x64xf32>, tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  %p = attn.softmax %s0 : tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x3x64x64xf32>, tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  return %o : tensor<1x3x64x64xf32>
}

// A scale of 1 / 3 with heads of 64 channels stays 1 / 3, and does not become
// 1 / 8.
//
// CASE: q, k, v = normal(1, 2, 5, 64), normal(1, 2, 7, 64), normal(1, 2, 7, 64)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v, scale=float(np.float32(1 / 3))))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=5e-6,2e-5

func.func @main(
    %q: tensor<1x2x5x64xf32> {attn.name = "q"},
    %k: tensor<1x2x7x64xf32> {attn.name = "k"},
    %v: tensor<1x2x7x64xf32> {attn.name = "v"})
    -> (tensor<1x2x5x64xf32> {attn.name = "o"}) {
  %third = arith.constant 0.333333343 : f32
  %s0 = attn.scores %q, %k scale(%third : f32) layout(bhsd) : tensor<1x2x5x64xf32>, tensor<1x2x7x64xf32> -> tensor<1x2x5x7xf32>
  %p = attn.softmax %s0 : tensor<1x2x5x7xf32> -> tensor<1x2x5x7xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x5x7xf32>, tensor<1x2x7x64xf32> -> tensor<1x2x5x64xf32>
  return %o : tensor<1x2x5x64xf32>
}

// A scale of one half is still there when the model is loaded from its object
// file.
//
// CASE: q, k, v = normal(1, 2, 5, 16), normal(1, 2, 7, 16), normal(1, 2, 7, 16)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v, scale=0.5))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --keep=%t.model
// RUN: attn-run %t.model.o --case %t.0.npz --tolerance=5e-6,2e-5

func.func @main(
    %q: tensor<1x2x5x16xf32> {attn.name = "q"},
    %k: tensor<1x2x7x16xf32> {attn.name = "k"},
    %v: tensor<1x2x7x16xf32> {attn.name = "v"})
    -> (tensor<1x2x5x16xf32> {attn.name = "o"}) {
  %half = arith.constant 0.5 : f32
  %s0 = attn.scores %q, %k scale(%half : f32) layout(bhsd) : tensor<1x2x5x16xf32>, tensor<1x2x7x16xf32> -> tensor<1x2x5x7xf32>
  %p = attn.softmax %s0 : tensor<1x2x5x7xf32> -> tensor<1x2x5x7xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x5x7xf32>, tensor<1x2x7x16xf32> -> tensor<1x2x5x16xf32>
  return %o : tensor<1x2x5x16xf32>
}

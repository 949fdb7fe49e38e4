// Heads of 128 channels in f32 over many keys, and no fallback that writes
// scores: one kernel.
//
// CASE: q, k, v = normal(1, 2, 33, 128), normal(1, 2, 300, 128), normal(1, 2, 300, 128)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5
// RUN: attn-opt %s --emit=fused | FileCheck %s
// CHECK-NOT: tensor<1x2x33x300xf32>

func.func @main(
    %q: tensor<1x2x33x128xf32> {attn.name = "q"},
    %k: tensor<1x2x300x128xf32> {attn.name = "k"},
    %v: tensor<1x2x300x128xf32> {attn.name = "v"})
    -> (tensor<1x2x33x128xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x33x128xf32>, tensor<1x2x300x128xf32> -> tensor<1x2x33x300xf32>
  %p = attn.softmax %s0 : tensor<1x2x33x300xf32> -> tensor<1x2x33x300xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x33x300xf32>, tensor<1x2x300x128xf32> -> tensor<1x2x33x128xf32>
  return %o : tensor<1x2x33x128xf32>
}

// Causal and an explicit mask together: both count, and the alignment stays at
// the top left.
//
// CASE: q, k, v = normal(1, 20, 1, 64), normal(1, 20, 10, 64), normal(1, 20, 10, 64)
// CASE: mask = normal(1, 1, 1, 10)
// CASE: o = np.broadcast_to(v[:, :, :1], (1, 20, 1, 64))
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=o)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x20x1x64xf32> {attn.name = "q"},
    %k: tensor<1x20x10x64xf32> {attn.name = "k"},
    %v: tensor<1x20x10x64xf32> {attn.name = "v"},
    %mask: tensor<1x1x1x10xf32> {attn.name = "mask"})
    -> (tensor<1x20x1x64xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x20x1x64xf32>, tensor<1x20x10x64xf32> -> tensor<1x20x1x10xf32>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<1x20x1x10xf32>
  %s2 = attn.mask %s1 by dense(%mask : tensor<1x1x1x10xf32>) : tensor<1x20x1x10xf32>
  %p = attn.softmax %s2 : tensor<1x20x1x10xf32> -> tensor<1x20x1x10xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x20x1x10xf32>, tensor<1x20x10x64xf32> -> tensor<1x20x1x64xf32>
  return %o : tensor<1x20x1x64xf32>
}

// A scale of -10000 leaves the key with the lowest product alone.
//
// CASE: q, k, v = np.zeros((1, 3, 64, 64), np.float32), np.zeros((1, 3, 64, 64), np.float32), normal(1, 3, 64, 64)
// CASE: q[..., 0] = 1
// CASE: k[..., 0] = np.arange(64)[::-1] / 64
// CASE: o = np.broadcast_to(v[:, :, 63:], v.shape)
// CASE: case(q=q, k=k, v=v, out_o=o)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x3x64x64xf32> {attn.name = "q"},
    %k: tensor<1x3x64x64xf32> {attn.name = "k"},
    %v: tensor<1x3x64x64xf32> {attn.name = "v"})
    -> (tensor<1x3x64x64xf32> {attn.name = "o"}) {
  %c = arith.constant -1.0e4 : f32
  %s0 = attn.scores %q, %k scale(%c : f32) layout(bhsd) : tensor<1x3x64x64xf32>, tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  %p = attn.softmax %s0 : tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x3x64x64xf32>, tensor<1x3x64x64xf32> -> tensor<1x3x64x64xf32>
  return %o : tensor<1x3x64x64xf32>
}

// Products of 16-bit floats are summed in f32: 128 times 30 * 30 is 115200,
// beyond what f16 holds, and no infinity.
//
// CASE: q, v = np.full((1, 2, 5, 128), 30, np.float32), f16(normal(1, 2, 9, 128))
// CASE: k = np.full((1, 2, 9, 128), 30, np.float32)
// CASE: k[..., 4, :] = 29.5
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=1e-3,1e-3

func.func @main(
    %q: tensor<1x2x5x128xf16> {attn.name = "q"},
    %k: tensor<1x2x9x128xf16> {attn.name = "k"},
    %v: tensor<1x2x9x128xf16> {attn.name = "v"})
    -> (tensor<1x2x5x128xf16> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x5x128xf16>, tensor<1x2x9x128xf16> -> tensor<1x2x5x9xf16>
  %p = attn.softmax %s0 : tensor<1x2x5x9xf16> -> tensor<1x2x5x9xf16>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x5x9xf16>, tensor<1x2x9x128xf16> -> tensor<1x2x5x128xf16>
  return %o : tensor<1x2x5x128xf16>
}

// A padding mask of -65504, the lowest f16, added to scores below zero: the
// sum is computed in f32 and does not overflow; the keys weigh nothing.
//
// CASE: q, k, v = f16(normal(2, 2, 6, 16) * 4), f16(normal(2, 2, 11, 16) * 4), f16(normal(2, 2, 11, 16))
// CASE: bias = np.zeros((2, 1, 1, 11), np.float32)
// CASE: bias[0, ..., 7:] = -65504
// CASE: bias[1, ..., :] = -65504
// CASE: case(q=q, k=k, v=v, mask=bias, out_o=attention(q, k, v, bias=bias))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-3,2e-3

func.func @main(
    %q: tensor<2x2x6x16xf16> {attn.name = "q"},
    %k: tensor<2x2x11x16xf16> {attn.name = "k"},
    %v: tensor<2x2x11x16xf16> {attn.name = "v"},
    %mask: tensor<2x1x1x11xf16> {attn.name = "mask"})
    -> (tensor<2x2x6x16xf16> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x2x6x16xf16>, tensor<2x2x11x16xf16> -> tensor<2x2x6x11xf16>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x1x1x11xf16>) : tensor<2x2x6x11xf16>
  %p = attn.softmax %s1 : tensor<2x2x6x11xf16> -> tensor<2x2x6x11xf16>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x2x6x11xf16>, tensor<2x2x11x16xf16> -> tensor<2x2x6x16xf16>
  return %o : tensor<2x2x6x16xf16>
}

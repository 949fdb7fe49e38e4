// The same of bf16, 32 heads of 128, and 27 positions of padding in front of
// the second sequence.
//
// CASE: q, k, v = bf16(normal(2, 32, 33, 128)), bf16(normal(2, 32, 33, 128)), bf16(normal(2, 32, 33, 128))
// CASE: i, j = positions(33, 33)
// CASE: mask = np.broadcast_to(j <= i, (2, 1, 33, 33)).copy()
// CASE: mask[1, ..., :27] = False
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=8e-3,8e-3

func.func @main(
    %q: tensor<2x32x33x128xbf16> {attn.name = "q"},
    %k: tensor<2x32x33x128xbf16> {attn.name = "k"},
    %v: tensor<2x32x33x128xbf16> {attn.name = "v"},
    %mask: tensor<2x1x33x33xi1> {attn.name = "mask"})
    -> (tensor<2x32x33x128xbf16> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x32x33x128xbf16>, tensor<2x32x33x128xbf16> -> tensor<2x32x33x33xbf16>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x1x33x33xi1>) : tensor<2x32x33x33xbf16>
  %p = attn.softmax %s1 : tensor<2x32x33x33xbf16> -> tensor<2x32x33x33xbf16>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x32x33x33xbf16>, tensor<2x32x33x128xbf16> -> tensor<2x32x33x128xbf16>
  return %o : tensor<2x32x33x128xbf16>
}

// One query over a large buffer of keys, of which it sees a stretch in the
// middle: the first chunks of keys are all hidden, and their running maximum
// is -inf.
//
// CASE: q, k, v = normal(1, 2, 1, 8), normal(1, 2, 700, 8), normal(1, 2, 700, 8)
// CASE: i, j = positions(1, 700)
// CASE: mask = (j >= 515) & (j <= 575)
// CASE: case(q=q, k=k, v=v, mask=mask[None, None], out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x1x8xf32> {attn.name = "q"},
    %k: tensor<1x2x700x8xf32> {attn.name = "k"},
    %v: tensor<1x2x700x8xf32> {attn.name = "v"},
    %mask: tensor<1x1x1x700xi1> {attn.name = "mask"})
    -> (tensor<1x2x1x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x1x8xf32>, tensor<1x2x700x8xf32> -> tensor<1x2x1x700xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x1x700xi1>) : tensor<1x2x1x700xf32>
  %p = attn.softmax %s1 : tensor<1x2x1x700xf32> -> tensor<1x2x1x700xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x1x700xf32>, tensor<1x2x700x8xf32> -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

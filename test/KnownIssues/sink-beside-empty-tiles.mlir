// A sink and a narrow window: for many pairs of a row and a tile of keys there
// is no visible key, so the running maximum is still -inf while the sink
// already counts.
//
// CASE: q, k, v = normal(1, 2, 40, 8), normal(1, 2, 200, 8), normal(1, 2, 200, 8)
// CASE: sink = np.array([2.0, -3.0], np.float32)
// CASE: i, j = positions(40, 200)
// CASE: mask = (j <= 4 * i) & (j >= 4 * i - 2)
// CASE: case(q=q, k=k, v=v, sink=sink, mask=mask[None, None], out_o=attention(q, k, v, mask, sinks=sink))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x40x8xf32> {attn.name = "q"},
    %k: tensor<1x2x200x8xf32> {attn.name = "k"},
    %v: tensor<1x2x200x8xf32> {attn.name = "v"},
    %sink: tensor<2xf32> {attn.name = "sink"},
    %mask: tensor<1x1x40x200xi1> {attn.name = "mask"})
    -> (tensor<1x2x40x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x40x8xf32>, tensor<1x2x200x8xf32> -> tensor<1x2x40x200xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x40x200xi1>) : tensor<1x2x40x200xf32>
  %p = attn.softmax %s1 sinks(%sink : tensor<2xf32>) : tensor<1x2x40x200xf32> -> tensor<1x2x40x200xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x40x200xf32>, tensor<1x2x200x8xf32> -> tensor<1x2x40x8xf32>
  return %o : tensor<1x2x40x8xf32>
}

// A window of three keys and a sink, rows of one tile that end in different
// tiles of keys.
//
// CASE: q, k, v = normal(1, 2, 70, 8), normal(1, 2, 70, 8), normal(1, 2, 70, 8)
// CASE: sink = np.array([2.0, 2.0], np.float32)
// CASE: i, j = positions(70, 70)
// CASE: mask = (j <= i) & (j >= i - 2)
// CASE: case(q=q, k=k, v=v, sink=sink, out_o=attention(q, k, v, mask, sinks=sink))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x70x8xf32> {attn.name = "q"},
    %k: tensor<1x2x70x8xf32> {attn.name = "k"},
    %v: tensor<1x2x70x8xf32> {attn.name = "v"},
    %sink: tensor<2xf32> {attn.name = "sink"})
    -> (tensor<1x2x70x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x70x8xf32>, tensor<1x2x70x8xf32> -> tensor<1x2x70x70xf32>
  %s1 = attn.mask %s0 by window<left = 2, right = 0> : tensor<1x2x70x70xf32>
  %p = attn.softmax %s1 sinks(%sink : tensor<2xf32>) : tensor<1x2x70x70xf32> -> tensor<1x2x70x70xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x70x70xf32>, tensor<1x2x70x8xf32> -> tensor<1x2x70x8xf32>
  return %o : tensor<1x2x70x8xf32>
}

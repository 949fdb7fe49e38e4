// With queries of zero and values of one, each result is m / (m + exp(sink)),
// for the m keys that are visible: the sink of the right head, for every
// query.
//
// CASE: q, k, v = np.zeros((2, 6, 4, 8), np.float32), normal(2, 6, 9, 8), np.ones((2, 6, 9, 8), np.float32)
// CASE: sink = normal(6)
// CASE: m = np.minimum(np.arange(4) + 1, 9)[None, None, :, None]
// CASE: o = np.broadcast_to(m / (m + np.exp(sink.astype(np.float64)[None, :, None, None])), (2, 6, 4, 8))
// CASE: case(q=q, k=k, v=v, sink=sink, out_o=o)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x6x4x8xf32> {attn.name = "q"},
    %k: tensor<2x6x9x8xf32> {attn.name = "k"},
    %v: tensor<2x6x9x8xf32> {attn.name = "v"},
    %sink: tensor<6xf32> {attn.name = "sink"})
    -> (tensor<2x6x4x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x6x4x8xf32>, tensor<2x6x9x8xf32> -> tensor<2x6x4x9xf32>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<2x6x4x9xf32>
  %p = attn.softmax %s1 sinks(%sink : tensor<6xf32>) : tensor<2x6x4x9xf32> -> tensor<2x6x4x9xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x6x4x9xf32>, tensor<2x6x9x8xf32> -> tensor<2x6x4x8xf32>
  return %o : tensor<2x6x4x8xf32>
}

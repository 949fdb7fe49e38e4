// Sinks of 5 heads: none is read behind the last one, and each row counts its
// own.
//
// CASE: q, k, v = normal(2, 5, 9, 8), normal(2, 5, 17, 8), normal(2, 5, 17, 8)
// CASE: sink = normal(5)
// CASE: p, lse = softmax(scores_of(q, k), sinks=sink)
// CASE: case(q=q, k=k, v=v, sink=sink, out_o=mix(p, v), out_lse=lse)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x5x9x8xf32> {attn.name = "q"},
    %k: tensor<2x5x17x8xf32> {attn.name = "k"},
    %v: tensor<2x5x17x8xf32> {attn.name = "v"},
    %sink: tensor<5xf32> {attn.name = "sink"})
    -> (tensor<2x5x9x8xf32> {attn.name = "o"},
        tensor<2x5x9xf32> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x5x9x8xf32>, tensor<2x5x17x8xf32> -> tensor<2x5x9x17xf32>
  %p, %lse = attn.softmax %s0 sinks(%sink : tensor<5xf32>) : tensor<2x5x9x17xf32> -> tensor<2x5x9x17xf32>, tensor<2x5x9xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x5x9x17xf32>, tensor<2x5x17x8xf32> -> tensor<2x5x9x8xf32>
  return %o, %lse : tensor<2x5x9x8xf32>, tensor<2x5x9xf32>
}

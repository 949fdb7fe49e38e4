// The log-sum-exp is the natural logarithm, whatever base a kernel counts in.
//
// CASE: q, k, v = normal(1, 2, 6, 8), normal(1, 2, 70, 8), normal(1, 2, 70, 8)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v), out_lse=softmax(scores_of(q, k))[1])
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x6x8xf32> {attn.name = "q"},
    %k: tensor<1x2x70x8xf32> {attn.name = "k"},
    %v: tensor<1x2x70x8xf32> {attn.name = "v"})
    -> (tensor<1x2x6x8xf32> {attn.name = "o"},
        tensor<1x2x6xf32> {attn.name = "lse"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x6x8xf32>, tensor<1x2x70x8xf32> -> tensor<1x2x6x70xf32>
  %p, %lse = attn.softmax %s0 : tensor<1x2x6x70xf32> -> tensor<1x2x6x70xf32>, tensor<1x2x6xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x6x70xf32>, tensor<1x2x70x8xf32> -> tensor<1x2x6x8xf32>
  return %o, %lse : tensor<1x2x6x8xf32>, tensor<1x2x6xf32>
}

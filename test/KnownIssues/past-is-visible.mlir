// With keys of the past in front, the diagonal starts behind them; how many
// there are is known when the model runs, and differs between batch rows.
//
// CASE: q, k, v = normal(3, 2, 4, 8), normal(3, 2, 7, 8), normal(3, 2, 7, 8)
// CASE: past = rows(3, 0, -2)
// CASE: i, j = positions(4, 7)
// CASE: case(q=q, k=k, v=v, past=past, out_o=attention(q, k, v, j <= i + past[:, None, None, None]))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<3x2x4x8xf32> {attn.name = "q"},
    %k: tensor<3x2x7x8xf32> {attn.name = "k"},
    %v: tensor<3x2x7x8xf32> {attn.name = "v"},
    %past: tensor<3xi64> {attn.name = "past"})
    -> (tensor<3x2x4x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<3x2x4x8xf32>, tensor<3x2x7x8xf32> -> tensor<3x2x4x7xf32>
  %s1 = attn.mask %s0 by causal<offset>(%past : tensor<3xi64>) : tensor<3x2x4x7xf32>
  %p = attn.softmax %s1 : tensor<3x2x4x7xf32> -> tensor<3x2x4x7xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<3x2x4x7xf32>, tensor<3x2x7x8xf32> -> tensor<3x2x4x8xf32>
  return %o : tensor<3x2x4x8xf32>
}

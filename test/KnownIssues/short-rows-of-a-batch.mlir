// Rows of a batch whose lengths are below the number of queries: first
// positions clamp to 0, they do not wrap.
//
// CASE: q, k, v = normal(3, 4, 8, 8), normal(3, 2, 16, 8), normal(3, 2, 16, 8)
// CASE: lengths = rows(5, 9, 16)
// CASE: i, j = positions(8, 16)
// CASE: past = lengths - 8
// CASE: mask = (j <= i + past[:, None, None, None]) & (j < lengths[:, None, None, None])
// CASE: case(q=q, k=k, v=v, past=past, lengths=lengths, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<3x4x8x8xf32> {attn.name = "q"},
    %k: tensor<3x2x16x8xf32> {attn.name = "k"},
    %v: tensor<3x2x16x8xf32> {attn.name = "v"},
    %past: tensor<3xi64> {attn.name = "past"},
    %lengths: tensor<3xi64> {attn.name = "lengths"})
    -> (tensor<3x4x8x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<3x4x8x8xf32>, tensor<3x2x16x8xf32> -> tensor<3x4x8x16xf32>
  %s1 = attn.mask %s0 by causal<offset>(%past : tensor<3xi64>) : tensor<3x4x8x16xf32>
  %s2 = attn.mask %s1 by key_lengths(%lengths : tensor<3xi64>) : tensor<3x4x8x16xf32>
  %p = attn.softmax %s2 : tensor<3x4x8x16xf32> -> tensor<3x4x8x16xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<3x4x8x16xf32>, tensor<3x2x16x8xf32> -> tensor<3x4x8x8xf32>
  return %o : tensor<3x4x8x8xf32>
}

// Key lengths hide keys whether or not there are query lengths beside them.
//
// CASE: q, k, v = normal(8, 4, 128, 8), normal(8, 4, 128, 8), normal(8, 4, 128, 8)
// CASE: lengths = rows(13, 20, 37, 64, 65, 100, 125, 128)
// CASE: i, j = positions(128, 128)
// CASE: case(q=q, k=k, v=v, lengths=lengths, out_o=attention(q, k, v, j < lengths[:, None, None, None]))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<8x4x128x8xf32> {attn.name = "q"},
    %k: tensor<8x4x128x8xf32> {attn.name = "k"},
    %v: tensor<8x4x128x8xf32> {attn.name = "v"},
    %lengths: tensor<8xi64> {attn.name = "lengths"})
    -> (tensor<8x4x128x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<8x4x128x8xf32>, tensor<8x4x128x8xf32> -> tensor<8x4x128x128xf32>
  %s1 = attn.mask %s0 by key_lengths(%lengths : tensor<8xi64>) : tensor<8x4x128x128xf32>
  %p = attn.softmax %s1 : tensor<8x4x128x128xf32> -> tensor<8x4x128x128xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<8x4x128x128xf32>, tensor<8x4x128x8xf32> -> tensor<8x4x128x8xf32>
  return %o : tensor<8x4x128x8xf32>
}

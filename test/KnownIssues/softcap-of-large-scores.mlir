// A soft-cap of scores of thousands is the cap, not NaN: a hyperbolic tangent
// by a quotient of exponentials would be inf / inf.
//
// CASE: q = np.full((1, 1, 4, 8), 1.0, np.float32) * np.array([5000, -5000, 10000, -10000], np.float32)[None, None, :, None]
// CASE: k = np.zeros((1, 1, 3, 8), np.float32)
// CASE: k[0, 0, :, 0] = 1, -1, 0
// CASE: v = normal(1, 1, 3, 8)
// CASE: s = 50.0 * np.tanh(scores_of(q, k, 1.0) / 50.0)
// CASE: p, lse = softmax(s)
// CASE: case(q=q, k=k, v=v, out_o=mix(p, v), out_lse=lse)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x1x4x8xf32> {attn.name = "q"},
    %k: tensor<1x1x3x8xf32> {attn.name = "k"},
    %v: tensor<1x1x3x8xf32> {attn.name = "v"})
    -> (tensor<1x1x4x8xf32> {attn.name = "o"},
        tensor<1x1x4xf32> {attn.name = "lse"}) {
  %cap = arith.constant 50.0 : f32
  %one = arith.constant 1.0 : f32
  %s0 = attn.scores %q, %k scale(%one : f32) layout(bhsd) : tensor<1x1x4x8xf32>, tensor<1x1x3x8xf32> -> tensor<1x1x4x3xf32>
  %s1 = attn.softcap %s0 cap(%cap : f32) : tensor<1x1x4x3xf32>
  %p, %lse = attn.softmax %s1 : tensor<1x1x4x3xf32> -> tensor<1x1x4x3xf32>, tensor<1x1x4xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x1x4x3xf32>, tensor<1x1x3x8xf32> -> tensor<1x1x4x8xf32>
  return %o, %lse : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
}

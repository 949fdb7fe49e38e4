// Scores spread over more than a float has exponents: the smallest weights are
// denormal or zero, and the result is right either way. Values so small that
// they are denormal themselves pass through.
//
// CASE: q = np.ones((1, 1, 3, 8), np.float32)
// CASE: k = np.zeros((1, 1, 40, 8), np.float32)
// CASE: k[0, 0, :, 0] = -np.linspace(0, 110, 40)
// CASE: v = normal(1, 1, 40, 8)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v, scale=1.0))
// CASE: case(q=q, k=np.zeros_like(k), v=np.full_like(v, 1e-40), out_o=np.full((1, 1, 3, 8), 1e-40))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5
// RUN: attn-run %s --case %t.1.npz --tolerance=1e-43,0

func.func @main(
    %q: tensor<1x1x3x8xf32> {attn.name = "q"},
    %k: tensor<1x1x40x8xf32> {attn.name = "k"},
    %v: tensor<1x1x40x8xf32> {attn.name = "v"})
    -> (tensor<1x1x3x8xf32> {attn.name = "o"}) {
  %one = arith.constant 1.0 : f32
  %s0 = attn.scores %q, %k scale(%one : f32) layout(bhsd) : tensor<1x1x3x8xf32>, tensor<1x1x40x8xf32> -> tensor<1x1x3x40xf32>
  %p = attn.softmax %s0 : tensor<1x1x3x40xf32> -> tensor<1x1x3x40xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x1x3x40xf32>, tensor<1x1x40x8xf32> -> tensor<1x1x3x8xf32>
  return %o : tensor<1x1x3x8xf32>
}

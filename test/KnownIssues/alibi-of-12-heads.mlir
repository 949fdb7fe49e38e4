// The slopes of 12 heads are those of 8, then every second one of 16: they do
// not fall from head to head, and that is right.
//
// CASE: q, k, v = normal(1, 12, 9, 8), normal(1, 12, 9, 8), normal(1, 12, 9, 8)
// CASE: slopes = 2.0 ** -np.array([1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5])
// CASE: i, j = positions(9, 9)
// CASE: bias = slopes[None, :, None, None] * (j - i)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v, j <= i, bias=bias))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x12x9x8xf32> {attn.name = "q"},
    %k: tensor<1x12x9x8xf32> {attn.name = "k"},
    %v: tensor<1x12x9x8xf32> {attn.name = "v"})
    -> (tensor<1x12x9x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x12x9x8xf32>, tensor<1x12x9x8xf32> -> tensor<1x12x9x9xf32>
  %s1 = attn.alibi %s0 : tensor<1x12x9x9xf32>
  %s2 = attn.mask %s1 by causal<top_left> : tensor<1x12x9x9xf32>
  %p = attn.softmax %s2 : tensor<1x12x9x9xf32> -> tensor<1x12x9x9xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x12x9x9xf32>, tensor<1x12x9x8xf32> -> tensor<1x12x9x8xf32>
  return %o : tensor<1x12x9x8xf32>
}

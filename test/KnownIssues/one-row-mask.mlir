// A mask with one row serves all queries.
//
// CASE: q, k, v = normal(2, 20, 20, 8), normal(2, 20, 10, 8), normal(2, 20, 10, 8)
// CASE: mask = generator.random((2, 20, 1, 10)) < 0.6
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x20x20x8xf32> {attn.name = "q"},
    %k: tensor<2x20x10x8xf32> {attn.name = "k"},
    %v: tensor<2x20x10x8xf32> {attn.name = "v"},
    %mask: tensor<2x20x1x10xi1> {attn.name = "mask"})
    -> (tensor<2x20x20x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x20x20x8xf32>, tensor<2x20x10x8xf32> -> tensor<2x20x20x10xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<2x20x1x10xi1>) : tensor<2x20x20x10xf32>
  %p = attn.softmax %s1 : tensor<2x20x20x10xf32> -> tensor<2x20x20x10xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x20x20x10xf32>, tensor<2x20x10x8xf32> -> tensor<2x20x20x8xf32>
  return %o : tensor<2x20x20x8xf32>
}

// A mask that differs between batch rows only, of 14 keys, then of 43: no
// alignment of its rows is asked for.
//
// CASE: for m in 14, 43:
// CASE:     q, k, v = normal(3, 2, 4, 8), normal(3, 2, m, 8), normal(3, 2, m, 8)
// CASE:     mask = generator.random((3, 1, 1, m)) < 0.5
// CASE:     case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --tolerance=2e-6,2e-5

attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<3x2x4x8xf32> {attn.name = "q"},
    %k: tensor<3x2x?x8xf32> {attn.name = "k", attn.dims = ["", "", "keys", ""]},
    %v: tensor<3x2x?x8xf32> {attn.name = "v", attn.dims = ["", "", "keys", ""]},
    %mask: tensor<3x1x1x?xi1> {attn.name = "mask", attn.dims = ["", "", "", "keys"]})
    -> (tensor<3x2x4x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<3x2x4x8xf32>, tensor<3x2x?x8xf32> -> tensor<3x2x4x?xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<3x1x1x?xi1>) : tensor<3x2x4x?xf32>
  %p = attn.softmax %s1 : tensor<3x2x4x?xf32> -> tensor<3x2x4x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<3x2x4x?xf32>, tensor<3x2x?x8xf32> -> tensor<3x2x4x8xf32>
  return %o : tensor<3x2x4x8xf32>
}

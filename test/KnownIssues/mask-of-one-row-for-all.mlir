// A mask of (1, 1, 1, M) and a length of one more than a tile: nothing behind
// the mask is read (memory ends with it).
//
// CASE: for m in 16, 17, 33, 64, 65, 129:
// CASE:     q, k, v = normal(2, 2, 3, 8), normal(2, 2, m, 8), normal(2, 2, m, 8)
// CASE:     mask = normal(1, 1, 1, m)
// CASE:     case(q=q, k=k, v=v, mask=mask, out_o=attention(q, k, v, bias=mask))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --case %t.2.npz --case %t.3.npz --case %t.4.npz --case %t.5.npz --tolerance=2e-6,2e-5

attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<2x2x3x8xf32> {attn.name = "q"},
    %k: tensor<2x2x?x8xf32> {attn.name = "k", attn.dims = ["", "", "keys", ""]},
    %v: tensor<2x2x?x8xf32> {attn.name = "v", attn.dims = ["", "", "keys", ""]},
    %mask: tensor<1x1x1x?xf32> {attn.name = "mask", attn.dims = ["", "", "", "keys"]})
    -> (tensor<2x2x3x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<2x2x3x8xf32>, tensor<2x2x?x8xf32> -> tensor<2x2x3x?xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x1x?xf32>) : tensor<2x2x3x?xf32>
  %p = attn.softmax %s1 : tensor<2x2x3x?xf32> -> tensor<2x2x3x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x2x3x?xf32>, tensor<2x2x?x8xf32> -> tensor<2x2x3x8xf32>
  return %o : tensor<2x2x3x8xf32>
}

// One key more than a tile, with a soft-cap and no mask: what pads the last
// tile is hidden behind the cap, not in front of it, where it would come out
// as -cap and count.
//
// CASE: for m in 1, 63, 64, 65, 127, 129:
// CASE:     q, k, v = normal(1, 2, 9, 8), normal(1, 2, m, 8), normal(1, 2, m, 8)
// CASE:     case(q=q, k=k, v=v, out_o=attention(q, k, v, softcap=5.0))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --case %t.1.npz --case %t.2.npz --case %t.3.npz --case %t.4.npz --case %t.5.npz --tolerance=2e-6,2e-5

attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<1x2x9x8xf32> {attn.name = "q"},
    %k: tensor<1x2x?x8xf32> {attn.name = "k", attn.dims = ["", "", "keys", ""]},
    %v: tensor<1x2x?x8xf32> {attn.name = "v", attn.dims = ["", "", "keys", ""]})
    -> (tensor<1x2x9x8xf32> {attn.name = "o"}) {
  %cap = arith.constant 5.0 : f32
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x9x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x9x?xf32>
  %s1 = attn.softcap %s0 cap(%cap : f32) : tensor<1x2x9x?xf32>
  %p = attn.softmax %s1 : tensor<1x2x9x?xf32> -> tensor<1x2x9x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x9x?xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x9x8xf32>
  return %o : tensor<1x2x9x8xf32>
}

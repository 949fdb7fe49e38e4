// A comparison must not pass where one side is NaN and the other is not. The
// rows that see nothing are zero; a file that expects NaN there is wrong and
// is reported as wrong.
//
// CASE: q, k, v = normal(1, 2, 2, 8), normal(1, 2, 3, 8), normal(1, 2, 3, 8)
// CASE: mask = np.zeros((1, 1, 2, 3), bool)
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=np.zeros((1, 2, 2, 8)))
// CASE: case(q=q, k=k, v=v, mask=mask, out_o=np.full((1, 2, 2, 8), np.nan))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz
// RUN: not attn-run %s --case %t.1.npz | FileCheck %s
// CHECK: 32 differ, the worst at (0, 0, 0, 0): expected nan, got 0

func.func @main(
    %q: tensor<1x2x2x8xf32> {attn.name = "q"},
    %k: tensor<1x2x3x8xf32> {attn.name = "k"},
    %v: tensor<1x2x3x8xf32> {attn.name = "v"},
    %mask: tensor<1x1x2x3xi1> {attn.name = "mask"})
    -> (tensor<1x2x2x8xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x3xf32>
  %s1 = attn.mask %s0 by dense(%mask : tensor<1x1x2x3xi1>) : tensor<1x2x2x3xf32>
  %p = attn.softmax %s1 : tensor<1x2x2x3xf32> -> tensor<1x2x2x3xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x2x3xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

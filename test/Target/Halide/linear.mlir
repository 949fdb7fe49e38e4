// RUN: attn-opt %s --emit=stmt --target=x86-64-v3 | FileCheck %s

// A linear layer with bias, GELU and a residual is one kernel of two forms: mr
// panels side by side for one row, register tiles of 6x16 for more. Nothing is
// allocated but accumulators, and no vector is gathered.

attn.weight @w value<dense<0.0> : tensor<100x16xf32>> : tensor<100x16xf32>
attn.weight @b value<dense<0.0> : tensor<100xf32>> : tensor<100xf32>

func.func @main(%x: tensor<?x16xf32>, %r: tensor<?x100xf32>) -> tensor<?x100xf32> {
  %w = attn.weight_ref @w : tensor<100x16xf32>
  %b = attn.weight_ref @b : tensor<100xf32>
  %0 = attn.linear %x, %w bias(%b) : tensor<?x16xf32>, tensor<100x16xf32>, tensor<100xf32> -> tensor<?x100xf32>
  %1 = attn.gelu %0<erf> : tensor<?x100xf32>
  %2 = arith.addf %1, %r : tensor<?x100xf32>
  return %2 : tensor<?x100xf32>
}

// CHECK-LABEL: linear_0__v3
// The tasks of one row ...
// CHECK: internal func linear_0__v3_par_for_row_s1
// CHECK: allocate single[float32 * 96] in Register
// ... and of register tiles. The last row is read again, never stored.
// CHECK: internal func linear_0__v3_par_for_row_s2
// CHECK: allocate tile[float32 * 96] in Register
// CHECK-NOT: allocate {{.*}} in {{Heap|Stack}}
// CHECK: min({{.*}}.extent.1
// CHECK: produce tile
// CHECK: if ([[LEFT:.*]] >= 6) {
// CHECK-NEXT: for (tile.s1.{{.*}}, 0, 8)
// CHECK-COUNT-24: tile[ramp
// A tile of the rows that are left computes no others.
// CHECK: } else if ([[LEFT]] <= 1) {
// CHECK-NEXT: for (tile.s1.{{.*}}, 0, 8)
// CHECK-NEXT: tile[ramp((int64)0, {{.*}} =
// CHECK-NEXT: tile[ramp((int64)8, {{.*}} =
// CHECK-NEXT: tile[ramp((int64)0, {{.*}} =
// CHECK-NEXT: tile[ramp((int64)8, {{.*}} =
// CHECK-NEXT: }
// CHECK-NEXT: } else if ([[LEFT]] <= 2) {
// CHECK: } else if ([[LEFT]] <= 4) {
// CHECK: strict_add
// Which of them runs is known when the kernel starts.
// CHECK: if_tiles$x.max = select(arg0.extent.1 == 1, -1, 0)
// CHECK: if_single$x.max = select(arg0.extent.1 == 1, 0, -1)

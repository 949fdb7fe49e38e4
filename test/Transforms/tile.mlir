// RUN: attn-opt %s --attn-tile --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: attn-opt %s --attn-tile -o %t.mlir
// RUN: attn-opt %t.mlir --attn-tile | diff %t.mlir -
// RUN: attn-opt %s --attn-tile=key-tile=64 --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=KEYS

// Tiles of 24 queries are three vectors of AVX2. Without a mask every whole tile is
// full, and what is left over is one tail.
module attributes {attn.target = "x86-64-v3"} {
// CHECK-DAG: #[[$TILES:.+]] = affine_map<(d0) -> (d0 ceildiv 24)>
// CHECK-DAG: #[[$FIRST:.+]] = affine_map<(d0) -> (d0 * 24)>
// CHECK-DAG: #[[$ROWS:.+]] = affine_map<(d0, d1) -> (-d0 + d1, 24)>
// CHECK-DAG: #[[$FULL_END:.+]] = affine_map<(d0) -> ((d0 floordiv 128) * 128)>
// CHECK-DAG: #[[$TAIL:.+]] = affine_map<(d0, d1) -> (-d0 + d1, 128)>
// CHECK-LABEL: attn.kernel @no_mask
// CHECK-SAME: (%[[Q:.+]]: tensor<?x?x12x64xf32>, %[[K:.+]]: tensor<?x?x4x64xf32>, %[[V:.+]]: tensor<?x?x4x32xf32>)
// CHECK: %batches = tensor.dim %[[Q]], %c0
// CHECK: %n = tensor.dim %[[Q]], %c1
// CHECK: %m = tensor.dim %[[K]], %c1
// CHECK: %tiles = affine.apply #[[$TILES]](%n)
// CHECK: %init = tensor.empty(%batches, %n) : tensor<?x?x12x32xf32>
// CHECK: scf.forall (%b, %h, %it) in (%batches, 12, %tiles) shared_outs(%out = %init)
// CHECK: %i0 = affine.apply #[[$FIRST]](%it)
// CHECK: %rows = affine.min #[[$ROWS]](%i0, %n)
// CHECK: %g = affine.apply #{{.+}}(%h)
// CHECK: %q_tile = attn.tile_load %[[Q]][%b, %i0, %h, %c0] dims [1, 3] rows(%rows) : tensor<?x?x12x64xf32> -> !attn.tile<24x64xf32>
// CHECK: %m0 = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
// CHECK: %l0 = attn.tile_fill 0.0 : !attn.tile<24xf32>
// CHECK: %o0 = attn.tile_fill 0.0 : !attn.tile<24x32xf32>
// CHECK: %full_end = affine.apply #[[$FULL_END]](%m)
// CHECK: %full:3 = scf.for %j0 = %c0 to %full_end step %c128
// CHECK-SAME: iter_args(%[[M:.+]] = %m0, %[[L:.+]] = %l0, %[[O:.+]] = %o0)
// CHECK: %k = attn.tile_load %[[K]][%b, %j0, %g, %c0] dims [1, 3] rows(%c128)
// CHECK: %s = attn.tile_scores %q_tile, %k scale(%{{.+}} : f32) : !attn.tile<24x64xf32>, !attn.tile<128x64xf32> -> !attn.tile<24x128xf32>
// CHECK-NEXT: %m_new = attn.tile_max %s, %[[M]]
// CHECK-NEXT: %p = attn.tile_exp %s, %m_new scale(1.442695)
// CHECK-NEXT: %l_old = attn.tile_rescale %[[L]] from %[[M]] to %m_new scale(1.442695)
// CHECK-NEXT: %l_new = attn.tile_sum %p, %l_old
// CHECK-NEXT: %o_old = attn.tile_rescale %[[O]] from %[[M]] to %m_new scale(1.442695)
// CHECK-NEXT: %v = attn.tile_load %[[V]][%b, %j0, %g, %c0] dims [1, 3] rows(%c128) : tensor<?x?x4x32xf32> -> !attn.tile<128x32xf32>
// CHECK-NEXT: %o_new = attn.tile_mix %p, %v, %o_old
// CHECK-NEXT: scf.yield %m_new, %l_new, %o_new
// CHECK: %tail:3 = scf.for %j0 = %full_end to %m step %c128
// CHECK: %keys = affine.min #[[$TAIL]](%j0, %m)
// CHECK: attn.tile_load %[[K]][%b, %j0, %g, %c0] dims [1, 3] rows(%keys)
// CHECK-NOT: scf.for
// CHECK: %[[R:.+]] = attn.tile_finish %tail#2, %tail#1, %tail#0 rows(%rows) scale(1.442695) : !attn.tile<24x32xf32>, !attn.tile<24xf32> -> tensor<?x32xf32>
// CHECK: tensor.parallel_insert_slice %[[R]] into %out[%b, %i0, %h, 0] [1, %rows, 1, 32] [1, 1, 1, 1]
// KEYS-LABEL: attn.kernel @no_mask
// KEYS: step %c64
// KEYS: !attn.tile<24x64xf32>, !attn.tile<64x64xf32> -> !attn.tile<24x64xf32>
attn.kernel @no_mask(%q: tensor<?x?x12x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x32xf32>) -> tensor<?x?x12x32xf32> {
  %c = arith.constant 1.250000e-01 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x12x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
  attn.yield %r : tensor<?x?x12x32xf32>
}
}

// RUN: attn-opt %s --attn-tile --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: attn-opt %s --attn-tile -o %t.mlir
// RUN: attn-opt %t.mlir --attn-tile | diff %t.mlir -
// RUN: attn-opt %s --attn-tile=key-tile=64 --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=KEYS

// RUN: attn-opt %s --attn-tile --remarks-filter=attn-tile --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] AttentionTiled | Category:attn-tile | Function=no_mask | Keys=128, Queries=24

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

// Causal: whole tiles below the diagonal are full, those up to the tile's last
// query are masked.
// CHECK-LABEL: attn.kernel @causal
// CHECK: %end = affine.min #{{.+}}(%i1, %m)
// CHECK: %full_last = affine.min #{{.+}}(%i0, %m)
// CHECK: %full:3 = scf.for %j0 = %c0 to %full_end step %c64
// CHECK-NOT: attn.tile_mask
// CHECK: %partial:3 = scf.for %j0 = %full_end to %end step %c64
// CHECK: %keys = affine.min #{{.+}}(%j0, %end)
// CHECK: %s = attn.tile_scores
// CHECK: %visible = attn.tile_mask %s at(%b, %h, %i0, %j0) {
// CHECK: arith.cmpi sle
// CHECK: %m_new = attn.tile_max %visible
attn.kernel @causal(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0)>, full_begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                full_end = affine_map<(d0, d1)[s0, s1] -> (s1, d0 + 1)>, end = affine_map<(d0, d1)[s0, s1] -> (d1, s1)>>] exact = true, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// A window is masked at both ends: one loop counts the tiles of both, and shifts its
// counter to where they lie.
// CHECK-LABEL: attn.kernel @window
// CHECK: %head_end = affine.min #{{.+}}(%full_begin, %end)
// CHECK: %full:3 = scf.for %j0 = %full_begin to %full_end step %c64
// CHECK-NOT: attn.tile_mask
// CHECK: %[[HEAD:length]] = affine.max #{{.+}}(%begin, %head_end)
// CHECK: %[[SHIFT:shift]] = affine.apply #{{.+}}(%full_end, %[[HEAD]])
// CHECK: %[[TAIL:length.*]] = affine.max #{{.+}}(%full_end, %end)
// CHECK: %[[TILES:offset]] = affine.apply #{{.+}}(%[[HEAD]], %[[TAIL]])
// CHECK: %partial:3 = scf.for %t0 = %c0 to %[[TILES]] step %c64
// CHECK: %earlier = arith.cmpi slt, %t0, %[[HEAD]] : index
// CHECK: %[[BY:.+]] = arith.select %earlier, %begin, %[[SHIFT]] : index
// CHECK: %j0 = arith.addi %t0, %[[BY]] : index
// CHECK: %keys = affine.min #{{.+}}(%j0, %end)
// CHECK: attn.tile_mask
// CHECK-NOT: scf.for %
attn.kernel @window(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0, d0 - 256)>, full_begin = affine_map<(d0, d1)[s0, s1] -> (0, d1 - 257)>,
                full_end = affine_map<(d0, d1)[s0, s1] -> (s1, d0 + 257)>, end = affine_map<(d0, d1)[s0, s1] -> (s1, d1 + 256)>>] exact = true, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %radius = arith.constant 256 : index
    %0 = arith.subi %i, %j : index
    %distance = math.absi %0 : index
    %visible = arith.cmpi sle, %distance, %radius : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Where no tile can be full, one masked loop is left. The mask itself is asked whether a
// tile is visited. Both pass the captures on that the mask uses.
// CHECK-LABEL: attn.kernel @padding
// CHECK-SAME: %[[PADDING:[^:]+]]: tensor<?x?xi64>, %[[UNUSED:[^:]+]]: tensor<?xi64>)
// CHECK-NOT: scf.for %
// CHECK: %partial:3 = scf.for %j0 = %c0 to %m step %c64
// CHECK: %any = attn.tile_any at(%b, %h, %i0, %j0) rows(%rows) keys(%keys) sizes [24, 64] capture(%[[PADDING]] : tensor<?x?xi64>) {
// CHECK: scf.if %any
// CHECK: attn.tile_mask %s at(%b, %h, %i0, %j0) capture(%[[PADDING]] : tensor<?x?xi64>) {
// CHECK: else
// CHECK-NEXT: scf.yield %[[M:.+]], %[[L:.+]], %[[O:.+]] :
// CHECK-NOT: scf.for %
// CHECK: attn.tile_finish
attn.kernel @padding(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %padding: tensor<?x?xi64>, %unused: tensor<?xi64>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) capture(%padding, %unused : tensor<?x?xi64>, tensor<?xi64>) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0)>, full_begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                full_end = affine_map<(d0, d1)[s0, s1] -> (0)>, end = affine_map<(d0, d1)[s0, s1] -> (s1)>>] exact = false, opaque = true>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %p: tensor<?x?xi64>, %u: tensor<?xi64>):
    %0 = tensor.extract %p[%b, %j] : tensor<?x?xi64>
    %1 = arith.constant 0 : i64
    %visible = arith.cmpi ne, %0, %1 : i64
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// CHECK-LABEL: attn.kernel @window_by_head
// CHECK: %first = affine.max #{{.+}}(%i0, %h)
// CHECK: %full_first = affine.max #{{.+}}(%i1, %h)
// CHECK: %begin = affine.apply #{{.+}}(%first)
// CHECK: affine.max #{{.+}}(%begin, %head_end)
attn.kernel @window_by_head(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1, s2] -> (0, d0 - s2 * 64)>, full_begin = affine_map<(d0, d1)[s0, s1, s2] -> (0, d1 - s2 * 64 - 1)>,
                full_end = affine_map<(d0, d1)[s0, s1, s2] -> (s1, d0 + 1)>, end = affine_map<(d0, d1)[s0, s1, s2] -> (d1, s1)>>] exact = true, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi sle, %j, %i : index
    %step = arith.constant 64 : index
    %width = arith.muli %h, %step : index
    %last = arith.subi %i, %width : index
    %1 = arith.cmpi sge, %j, %last : index
    %visible = arith.andi %0, %1 : i1
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// A sink is a key before all others that has no value. Its own logit is the first
// maximum and its weight relative to that is 1.
// CHECK-LABEL: attn.kernel @sinks
// CHECK-SAME: %[[SINKS:[^:]+]]: tensor<12xf16>)
// CHECK: %m0 = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
// CHECK: %zero = attn.tile_fill 0.0 : !attn.tile<24x1xf32>
// CHECK: %sink = attn.tile_score %zero at(%b, %h, %i0, %c0) capture(%[[SINKS]] : tensor<12xf16>) {
// CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: index, %[[H:.+]]: index, %{{.+}}: index, %{{.+}}: index, %[[T:.+]]: tensor<12xf16>):
// CHECK-NEXT: %[[LOGIT:.+]] = tensor.extract %[[T]][%[[H]]] : tensor<12xf16>
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[LOGIT]] : f16 to f32
// CHECK-NEXT: attn.yield %[[WIDE]] : f32
// CHECK: %m_sink = attn.tile_max %sink, %m0
// CHECK: %l0 = attn.tile_fill 1.0 : !attn.tile<24xf32>
// CHECK: %o0 = attn.tile_fill 0.0 : !attn.tile<24x64xf32>
// CHECK: iter_args(%{{.+}} = %m_sink, %{{.+}} = %l0, %{{.+}} = %o0)
attn.kernel @sinks(%q: tensor<?x?x12x64xf32>, %k: tensor<?x?x4x64xf32>, %sinks: tensor<12xf16>) -> tensor<?x?x12x64xf32> {
  %c = arith.constant 1.250000e-01 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) sinks(%sinks : tensor<12xf16>) layout(bshd) : tensor<?x?x12x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x12x64xf32>
  attn.yield %r : tensor<?x?x12x64xf32>
}

// A mask that was not analyzed hides anything.
// CHECK-LABEL: attn.kernel @not_analyzed
// CHECK: %partial:3 = scf.for %j0 = %c0 to %m step %c64
// CHECK-NOT: scf.for %
attn.kernel @not_analyzed(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Static sizes: 128 keys are one full tile and no tail, and 16 queries two vectors.
// The other layout, a score region, and the log-sum-exp.
// CHECK-LABEL: attn.kernel @static
// CHECK: scf.forall (%b, %h, %it) in (2, 2, 1)
// CHECK: attn.tile_load %{{.+}}[%b, %h, %i0, %c0] dims [2, 3] rows(%{{.+}}) : tensor<2x2x16x8xf32> -> !attn.tile<16x8xf32>
// CHECK: %full:3 = scf.for %j0 = %c0 to %c128 step %c128
// CHECK: %biased = attn.tile_score %s at(%b, %h, %i0, %j0) {
// CHECK: attn.tile_max %biased
// CHECK-NOT: scf.for %
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.tile_finish
// CHECK: tensor.parallel_insert_slice %[[O]] into %out[%b, %h, %i0, 0]
// CHECK: tensor.parallel_insert_slice %[[LSE]] into %lse_out[%b, %h, %i0]
attn.kernel @static(%q: tensor<2x2x16x8xf32>, %k: tensor<2x2x128x8xf32>) -> (tensor<2x2x16x8xf32>, tensor<2x2x16xf32>) {
  %c = arith.constant 1.0 : f32
  %r, %lse = attn.attention %q, %k, %k scale(%c : f32) layout(bhsd) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %cap = math.tanh %s : f32
    attn.yield %cap : f32
  } : tensor<2x2x16x8xf32>, tensor<2x2x128x8xf32>, tensor<2x2x128x8xf32> -> tensor<2x2x16x8xf32>, tensor<2x2x16xf32>
  attn.yield %r, %lse : tensor<2x2x16x8xf32>, tensor<2x2x16xf32>
}

// Tensors of f64 are tiled in f64.
// CHECK-LABEL: attn.kernel @double
// CHECK: attn.tile_load {{.+}} -> !attn.tile<24x8xf64>
// CHECK: attn.tile_fill 0.0 : !attn.tile<24x8xf64>
// CHECK: attn.tile_scores {{.+}} scale(%{{.+}} : f64)
// CHECK: attn.tile_exp {{.+}} scale(f64 1.4426950408889634)
// CHECK: attn.tile_finish {{.+}} -> tensor<?x8xf64>
attn.kernel @double(%q: tensor<?x?x2x8xf64>) -> tensor<?x?x2x8xf64> {
  %c = arith.constant 1.0 : f64
  %r = attn.attention %q, %q, %q scale(%c : f64) layout(bshd) : tensor<?x?x2x8xf64>, tensor<?x?x2x8xf64>, tensor<?x?x2x8xf64> -> tensor<?x?x2x8xf64>
  attn.yield %r : tensor<?x?x2x8xf64>
}
}

// Tiles are f32, whatever is stored.
module attributes {attn.target = "x86-64-v3"} {
// CHECK-LABEL: attn.kernel @half
// CHECK: tensor.empty({{.*}}) : tensor<?x?x2x8xf16>
// CHECK: attn.tile_load {{.*}} : tensor<?x?x2x8xf32> -> !attn.tile<24x8xf32>
// CHECK: attn.tile_load {{.*}} : tensor<?x?x2x8xbf16> -> !attn.tile<128x8xf32>
// CHECK: attn.tile_load {{.*}} : tensor<?x?x2x8xf16> -> !attn.tile<128x8xf32>
// CHECK: attn.tile_finish {{.*}} -> tensor<?x8xf16>
attn.kernel @half(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xf16>) -> tensor<?x?x2x8xf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf16> -> tensor<?x?x2x8xf16>
  attn.yield %r : tensor<?x?x2x8xf16>
}
}

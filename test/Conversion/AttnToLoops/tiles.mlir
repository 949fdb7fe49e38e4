// RUN: attn-opt %s --convert-attn-to-loops | FileCheck %s

// Each operation on tiles alone, and the tiles that loops and branches carry.

// A tile is read inside the tensor only, and is 0 elsewhere. Its rows are no
// more than the tensor has.
// CHECK-LABEL: func.func private @load
// CHECK-SAME: (%[[T:.*]]: tensor<?x?x2x8xf16>, %[[J:.*]]: index, %[[N:.*]]: index)
// CHECK: %[[R0:.*]] = arith.minsi %[[N]], %{{.*}} : index
// CHECK: %[[DIM:.*]] = tensor.dim %[[T]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[DIM]], %[[J]] : index
// CHECK: %[[ROWS:.*]] = arith.minsi %[[R0]], %[[LEFT]] : index
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: outs(%{{.*}} : tensor<16x8xf32>)
// CHECK: %[[R:.*]] = linalg.index 0
// CHECK: arith.cmpi slt, %[[R]], %[[ROWS]]
// CHECK: scf.if
// CHECK: tensor.extract %[[T]][
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: else
// CHECK: scf.yield %{{.*}} : f32
attn.kernel @load(%t: tensor<?x?x2x8xf16>, %j: index, %n: index) -> tensor<16x8xf32> attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %k = attn.tile_load %t[%c0, %j, %c0, %c0] dims [1, 3] rows(%n) : tensor<?x?x2x8xf16> -> !attn.tile<16x8xf32>
  %m = attn.tile_fill 0.0 : !attn.tile<16xf32>
  %r = attn.tile_finish %k, %m, %m rows(%c16) scale(1.0) : !attn.tile<16x8xf32>, !attn.tile<16xf32> -> tensor<16x8xf32>
  attn.yield %r : tensor<16x8xf32>
}

// Columns of the tile may lie along an earlier dimension.
// CHECK-LABEL: func.func private @load_transposed
// CHECK-SAME: (%[[T:.*]]: tensor<8x?xf32>, %[[J:.*]]: index, %{{.*}}: index)
// CHECK: linalg.index 1
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[ROW0:.*]] = arith.addi %[[J]], %[[ROW]]
// CHECK: scf.if
// CHECK: tensor.extract %[[T]][%{{.*}}, %[[ROW0]]]
attn.kernel @load_transposed(%t: tensor<8x?xf32>, %j: index, %n: index) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %k = attn.tile_load %t[%c0, %j] dims [1, 0] rows(%n) : tensor<8x?xf32> -> !attn.tile<16x8xf32>
  %m = attn.tile_fill 0.0 : !attn.tile<16xf32>
  %r = attn.tile_finish %k, %m, %m rows(%n) scale(1.0) : !attn.tile<16x8xf32>, !attn.tile<16xf32> -> tensor<?x8xf32>
  attn.yield %r : tensor<?x8xf32>
}

// The product is summed, scaled, and -inf past the rows of either tile. The
// formula keeps that, the mask hides by -inf.
// CHECK-LABEL: func.func private @scores
// CHECK-SAME: %[[SCALE:[a-z0-9]*]]: f32
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[P]]
// CHECK: linalg.generic
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.select %[[INSIDE]], %[[S]], %[[INF]]
// The formula:
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[TANH:.*]] = math.tanh %[[IN]]
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: arith.select %[[INSIDE]], %[[TANH]], %[[IN]]
// The mask, with positions from the start of the sequences:
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[R:.*]] = linalg.index 0
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %[[R]]
// CHECK: %[[C:.*]] = linalg.index 1
// CHECK: %[[J:.*]] = arith.addi %{{.*}}, %[[C]]
// CHECK: %[[VISIBLE:.*]] = arith.cmpi ule, %[[J]], %[[I]]
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.select %[[VISIBLE]], %[[IN]], %[[INF]]
attn.kernel @scores(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %n: index, %i: index, %j: index, %scale: f32) -> tensor<?x16xf32>
    attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %qt = attn.tile_load %q[%i, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<4x8xf32>
  %kt = attn.tile_load %k[%j, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<16x8xf32>
  %s = attn.tile_scores %qt, %kt scale(%scale : f32) : !attn.tile<4x8xf32>, !attn.tile<16x8xf32> -> !attn.tile<4x16xf32>
  %t = attn.tile_score %s at(%c0, %c0, %i, %j) {
  ^bb0(%x: f32, %bb: index, %hh: index, %ii: index, %jj: index):
    %0 = math.tanh %x : f32
    attn.yield %0 : f32
  } : !attn.tile<4x16xf32>
  %v = attn.tile_mask %t at(%c0, %c0, %i, %j) {
  ^bb0(%bb: index, %hh: index, %ii: index, %jj: index):
    %0 = arith.cmpi ule, %jj, %ii : index
    attn.yield %0 : i1
  } : !attn.tile<4x16xf32>
  %m = attn.tile_fill 0.0 : !attn.tile<4xf32>
  %r = attn.tile_finish %v, %m, %m rows(%n) scale(1.0) : !attn.tile<4x16xf32>, !attn.tile<4xf32> -> tensor<?x16xf32>
  attn.yield %r : tensor<?x16xf32>
}

// Regions of products and values see the channel, and a capture.
// CHECK-LABEL: func.func private @combine
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[D:.*]] = linalg.index 2
// CHECK: %[[E:.*]] = tensor.extract %[[W]][
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[TERM:.*]] = arith.mulf %[[SUM]], %[[E]]
// CHECK: arith.addf %{{.*}}, %[[TERM]]
attn.kernel @combine(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %w: tensor<8xf32>, %n: index, %scale: f32) -> tensor<?x16xf32>
    attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %qt = attn.tile_load %q[%c0, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<4x8xf32>
  %kt = attn.tile_load %k[%c0, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<16x8xf32>
  %s = attn.tile_scores %qt, %kt scale(%scale : f32) at(%c0, %c0, %c0, %c0) capture(%w : tensor<8xf32>) combine {
  ^bb0(%x: f32, %y: f32, %bb: index, %hh: index, %ii: index, %jj: index, %d: index, %win: tensor<8xf32>):
    %0 = tensor.extract %win[%d] : tensor<8xf32>
    %1 = arith.addf %x, %y : f32
    %2 = arith.mulf %1, %0 : f32
    attn.yield %2 : f32
  } : !attn.tile<4x8xf32>, !attn.tile<16x8xf32> -> !attn.tile<4x16xf32>
  %m = attn.tile_fill 0.0 : !attn.tile<4xf32>
  %r = attn.tile_finish %s, %m, %m rows(%n) scale(1.0) : !attn.tile<4x16xf32>, !attn.tile<4xf32> -> tensor<?x16xf32>
  attn.yield %r : tensor<?x16xf32>
}

// The state: a start of -inf, a maximum that shows NaN, weights of 0 and of at
// least the least normal number, a factor of exactly 1, a value that is left
// out where its weight is 0.
// CHECK-LABEL: func.func private @state
// CHECK: %[[START:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[START]] : f32) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[M:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK-SAME: tensor<4x16xf32>, tensor<4xf32>
// CHECK: ^bb0(%[[S:.*]]: f32, %[[MAX:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[HIDDEN:.*]] = arith.cmpf oeq, %[[S]], %{{.*}} : f32
// CHECK: %[[X:.*]] = arith.subf %[[S]], %[[MAX]]
// CHECK: %[[Y:.*]] = arith.mulf %[[X]],
// CHECK: %[[E:.*]] = math.exp2 %[[Y]]
// CHECK: %[[LEAST:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK: %[[W:.*]] = arith.maximumf %[[E]], %[[LEAST]]
// CHECK: arith.select %[[HIDDEN]], %{{.*}}, %[[W]]
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: f32, %[[BEFORE:.*]]: f32, %[[AFTER:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[BEFORE]], %[[AFTER]]
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[F:.*]] = math.exp2
// CHECK: %[[G:.*]] = arith.select %[[EQUAL]], %[[ONE]], %[[F]]
// CHECK: arith.mulf %[[IN]], %[[G]]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: ^bb0(%[[P:.*]]: f32, %[[V:.*]]: f32, %[[O:.*]]: f32):
// CHECK: %[[DOUBLE:.*]] = arith.addf %[[V]], %[[V]]
// CHECK: %[[SEEN:.*]] = arith.cmpf une, %[[P]],
// CHECK: %[[PV:.*]] = arith.mulf %[[P]], %[[DOUBLE]]
// CHECK: %[[NEW:.*]] = arith.addf %[[O]], %[[PV]]
// CHECK: arith.select %[[SEEN]], %[[NEW]], %[[O]]
// A row that sees nothing is 0, and its log-sum-exp -inf:
// CHECK: linalg.generic
// CHECK: ^bb0(%[[O:.*]]: f32, %[[L:.*]]: f32, %{{.*}}: bf16):
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[L]],
// CHECK: %[[Q:.*]] = arith.divf %[[O]], %[[L]]
// CHECK: %[[R:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[Q]]
// CHECK: arith.truncf %[[R]] : f32 to bf16
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
// CHECK: math.log
// CHECK: arith.select
// CHECK: tensor.extract_slice
attn.kernel @state(%s: tensor<?x16xf32>, %v: tensor<?x8xf32>, %n: index) -> (tensor<?x8xbf16>, tensor<?xf32>)
    attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %st = attn.tile_load %s[%c0, %c0] dims [0, 1] rows(%n) : tensor<?x16xf32> -> !attn.tile<4x16xf32>
  %vt = attn.tile_load %v[%c0, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<16x8xf32>
  %m0 = attn.tile_fill 0xFF800000 : !attn.tile<4xf32>
  %l0 = attn.tile_fill 0.0 : !attn.tile<4xf32>
  %o0 = attn.tile_fill 0.0 : !attn.tile<4x8xf32>
  %m = attn.tile_max %st, %m0 : !attn.tile<4x16xf32>, !attn.tile<4xf32>
  %p = attn.tile_exp %st, %m scale(1.442695) : !attn.tile<4x16xf32>, !attn.tile<4xf32>
  %l1 = attn.tile_rescale %l0 from %m0 to %m scale(1.442695) : !attn.tile<4xf32>, !attn.tile<4xf32>
  %l = attn.tile_sum %p, %l1 : !attn.tile<4x16xf32>, !attn.tile<4xf32>
  %o = attn.tile_mix %p, %vt, %o0 at(%c0, %c0, %c0, %c0) value {
  ^bb0(%x: f32, %bb: index, %hh: index, %ii: index, %jj: index, %d: index):
    %0 = arith.addf %x, %x : f32
    attn.yield %0 : f32
  } : !attn.tile<4x16xf32>, !attn.tile<16x8xf32>, !attn.tile<4x8xf32>
  %r, %lse = attn.tile_finish %o, %l, %m rows(%n) scale(1.442695) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<?x8xbf16>, tensor<?xf32>
  attn.yield %r, %lse : tensor<?x8xbf16>, tensor<?xf32>
}

// What a tile became goes through loops and branches, rows and columns too.
// CHECK-LABEL: func.func private @carried
// CHECK: scf.for
// CHECK-SAME: iter_args({{.*}}) -> (tensor<4xf32>, tensor<4x8xf32>, index, index)
// CHECK: scf.if {{.*}} -> (tensor<4xf32>, tensor<4x8xf32>, index, index)
// CHECK: scf.yield {{.*}} : tensor<4xf32>, tensor<4x8xf32>, index, index
// CHECK: } else {
// CHECK: scf.yield {{.*}} : tensor<4xf32>, tensor<4x8xf32>, index, index
attn.kernel @carried(%s: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m0 = attn.tile_fill 0xFF800000 : !attn.tile<4xf32>
  %o0 = attn.tile_fill 0.0 : !attn.tile<4x8xf32>
  %l:2 = scf.for %i = %c0 to %n step %c4 iter_args(%m = %m0, %o = %o0) -> (!attn.tile<4xf32>, !attn.tile<4x8xf32>) {
    %is = arith.cmpi ne, %i, %c4 : index
    %b:2 = scf.if %is -> (!attn.tile<4xf32>, !attn.tile<4x8xf32>) {
      %st = attn.tile_load %s[%i, %c0] dims [0, 1] rows(%n) : tensor<?x8xf32> -> !attn.tile<4x8xf32>
      %m1 = attn.tile_max %st, %m : !attn.tile<4x8xf32>, !attn.tile<4xf32>
      scf.yield %m1, %st : !attn.tile<4xf32>, !attn.tile<4x8xf32>
    } else {
      scf.yield %m, %o : !attn.tile<4xf32>, !attn.tile<4x8xf32>
    }
    scf.yield %b#0, %b#1 : !attn.tile<4xf32>, !attn.tile<4x8xf32>
  }
  %r = attn.tile_finish %l#1, %l#0, %l#0 rows(%n) scale(1.442695) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<?x8xf32>
  attn.yield %r : tensor<?x8xf32>
}

// Whether a mask shows any pair: the predicate of one after the other, of those inside
// the tile and no others.
// CHECK-LABEL: func.func private @any
// CHECK-SAME: (%[[IDS:.*]]: tensor<?xi64>, %[[I0:.*]]: index, %[[J0:.*]]: index, %[[N:.*]]: index)
// CHECK: %[[ROWS:.*]] = arith.minsi %[[N]], %{{.*}} : index
// CHECK: %[[KEYS:.*]] = arith.minsi %[[N]], %{{.*}} : index
// CHECK: %[[NONE:.*]] = arith.constant false
// CHECK: %[[ANY:.*]] = scf.for %[[R:.*]] = %{{.*}} to %[[ROWS]] step %{{.*}} iter_args(%[[A:.*]] = %[[NONE]]) -> (i1) {
// CHECK:   scf.for %[[K:.*]] = %{{.*}} to %[[KEYS]] step %{{.*}} iter_args(%[[S:.*]] = %[[A]]) -> (i1) {
// CHECK:     arith.addi %[[I0]], %[[R]] : index
// CHECK:     arith.addi %[[J0]], %[[K]] : index
// CHECK:     %[[SHOWN:.*]] = arith.cmpi eq
// CHECK:     arith.ori %[[S]], %[[SHOWN]] : i1
// CHECK: scf.if %[[ANY]]
attn.kernel @any(%ids: tensor<?xi64>, %i0: index, %j0: index, %n: index) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
  %c0 = arith.constant 0 : index
  %m = attn.tile_fill 0.0 : !attn.tile<4xf32>
  %o0 = attn.tile_fill 0.0 : !attn.tile<4x8xf32>
  %any = attn.tile_any at(%c0, %c0, %i0, %j0) rows(%n) keys(%n) sizes [4, 16] capture(%ids : tensor<?xi64>) {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %s: tensor<?xi64>):
    %0 = tensor.extract %s[%i] : tensor<?xi64>
    %1 = tensor.extract %s[%j] : tensor<?xi64>
    %same = arith.cmpi eq, %0, %1 : i64
    attn.yield %same : i1
  }
  %o = scf.if %any -> (!attn.tile<4x8xf32>) {
    %o1 = attn.tile_fill 1.0 : !attn.tile<4x8xf32>
    scf.yield %o1 : !attn.tile<4x8xf32>
  } else {
    scf.yield %o0 : !attn.tile<4x8xf32>
  }
  %r = attn.tile_finish %o, %m, %m rows(%n) scale(1.442695) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<?x8xf32>
  attn.yield %r : tensor<?x8xf32>
}

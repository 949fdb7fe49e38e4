// RUN: attn-opt %s --convert-attn-to-loops | FileCheck %s

// What stands around tiles: kernels and calls, element-wise and linear kernels.

// CHECK-LABEL: func.func private @relu
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<?x8xf32>)
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ugt, %[[IN]], %[[ZERO]]
// CHECK: arith.select %[[POSITIVE]], %[[IN]], %[[ZERO]]
// CHECK: return %[[Y]]
attn.kernel @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// A kernel with another schedule, or none, stays.
// CHECK: attn.kernel @for_halide
// CHECK: attn.relu
attn.kernel @for_halide(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}
// CHECK: attn.kernel @without
attn.kernel @without(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// Only calls of what became a function become calls of functions.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[INIT:.*]]: tensor<?x8xf32>, %[[N:.*]]: index)
// CHECK-NOT: tensor.empty
// CHECK: %[[A:.*]] = call @relu(%[[X]]) : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[B:.*]] = attn.call @for_halide ins(%[[A]] : tensor<?x8xf32>) outs(%[[INIT]] : tensor<?x8xf32>)
// CHECK: return %[[B]]
func.func @main(%x: tensor<?x8xf32>, %init: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %own = tensor.empty(%n) : tensor<?x8xf32>
  %a = attn.call @relu ins(%x : tensor<?x8xf32>) outs(%own : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = attn.call @for_halide ins(%a : tensor<?x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %b : tensor<?x8xf32>
}

// Scalars of element-wise operations are read from outside; a constant is
// filled in, not stored.
// CHECK-LABEL: func.func private @elementwise
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[C:.*]]: i1)
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.fill ins(%[[HALF]] : f32) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.select %[[C]], %[[A]], %[[B]] : f32
// CHECK: linalg.generic
// CHECK: arith.cmpf olt
// CHECK: linalg.yield %{{.*}} : i1
attn.kernel @elementwise(%x: tensor<?x8xf32>, %c: i1) -> tensor<4x8xi1> attributes {schedule = #attn.loops_schedule} {
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %cast = tensor.cast %half : tensor<4x8xf32> to tensor<?x8xf32>
  %y = arith.select %c, %x, %cast : tensor<?x8xf32>
  %z = tensor.cast %y : tensor<?x8xf32> to tensor<4x8xf32>
  %r = arith.cmpf olt, %z, %half : tensor<4x8xf32>
  attn.yield %r : tensor<4x8xi1>
}

// f16 is computed in f32.
// CHECK-LABEL: func.func private @gelu
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: math.erf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: math.tanh
attn.kernel @gelu(%x: tensor<?xf16>, %y: tensor<?xf64>) -> (tensor<?xf16>, tensor<?xf64>) attributes {schedule = #attn.loops_schedule} {
  %a = attn.gelu %x<erf> : tensor<?xf16>
  %b = attn.gelu %y<tanh> : tensor<?xf64>
  attn.yield %a, %b : tensor<?xf16>, tensor<?xf64>
}

// A panel of the weight is read where it lies; the epilogue and the norm follow
// in the compute type.
// CHECK-LABEL: func.func private @linear
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<?x16xf32>, %[[W:[a-z0-9]*]]: tensor<2x16x8xf32>, %[[BIAS:[a-z0-9]*]]: tensor<10xf32>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[X]] : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x10xf32>)
// CHECK: %[[N:.*]] = linalg.index 1
// CHECK: %[[K:.*]] = linalg.index 2
// CHECK: %[[PANEL:.*]] = arith.divui %[[N]],
// CHECK: %[[COLUMN:.*]] = arith.remui %[[N]],
// CHECK: tensor.extract %[[W]][%[[PANEL]], %[[K]], %[[COLUMN]]]
// CHECK: linalg.generic
// CHECK: tensor.extract %[[BIAS]]
// CHECK: arith.addf
// CHECK: math.sqrt
attn.kernel @linear(%x: tensor<?x16xf32>, %w: tensor<2x16x8xf32>, %bias: tensor<10xf32>, %g: tensor<10xf32>, %b: tensor<10xf32>) -> tensor<?x10xf32>
    attributes {schedule = #attn.loops_schedule} {
  %y = attn.fused_linear %x, %w capture(%bias : tensor<10xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %c: tensor<10xf32>):
    %0 = tensor.extract %c[%n] : tensor<10xf32>
    %1 = arith.addf %acc, %0 : f32
    attn.yield %1 : f32
  } layer_norm(%g, %b : tensor<10xf32>, tensor<10xf32>) epsilon(1.0e-5) : tensor<?x16xf32>, tensor<2x16x8xf32> -> tensor<?x10xf32>
  attn.yield %y : tensor<?x10xf32>
}

// CHECK-LABEL: func.func private @pack
// CHECK: linalg.generic
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: arith.select
attn.kernel @pack(%w: tensor<10x16xf32>) -> tensor<2x16x8xf32> attributes {schedule = #attn.loops_schedule} {
  %p = attn.pack %w panel(8) : tensor<10x16xf32> -> tensor<2x16x8xf32>
  attn.yield %p : tensor<2x16x8xf32>
}

// Sums of bf16 rows are kept in f32.
// CHECK-LABEL: func.func private @norms
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<?xf32>)
// CHECK: arith.truncf
// CHECK: arith.cmpf olt
// CHECK: return
attn.kernel @norms(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> tensor<?x8xbf16> attributes {schedule = #attn.loops_schedule} {
  %y = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>
  %z = attn.l2_normalize %y epsilon(1.0e-12) : tensor<?x8xbf16>
  attn.yield %z : tensor<?x8xbf16>
}

// The mean of squares of the numbers as they are, one sum a row.
// CHECK-LABEL: func.func private @rms
// CHECK-NOT: arith.subf
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.mulf
// CHECK-NOT: arith.subf
// CHECK: math.sqrt
// CHECK: return
attn.kernel @rms(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> tensor<?x8xbf16> attributes {schedule = #attn.loops_schedule} {
  %y = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<?x8xbf16>, tensor<8xbf16>
  attn.yield %y : tensor<?x8xbf16>
}

// CHECK-LABEL: func.func private @softmax
// CHECK: arith.maximumf
// CHECK: %[[HIDDEN:.*]] = arith.cmpf oeq
// CHECK: math.exp
// CHECK: arith.select %[[HIDDEN]]
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: math.log
attn.kernel @softmax(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) attributes {schedule = #attn.loops_schedule} {
  %p, %l = attn.softmax %x : tensor<?x?xf32> -> tensor<?x?xf32>, tensor<?xf32>
  attn.yield %p, %l : tensor<?x?xf32>, tensor<?xf32>
}

// A sink takes part in the maximum and in the sum, and may be -inf.
// CHECK-LABEL: func.func private @sinks
// CHECK-SAME: %[[SINKS:[a-z0-9]*]]: tensor<4xf32>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[SINKS]] : tensor<4xf32>)
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} outs(%[[ROWS]] : tensor<?x4x?xf32>)
// CHECK: arith.maximumf
// CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[MAX]] :
// CHECK: %[[NONE:.*]] = arith.cmpf oeq
// CHECK: %[[E:.*]] = math.exp
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[E]]
// CHECK: linalg.generic {{.*}} outs(%[[START]] : tensor<?x4x?xf32>)
attn.kernel @sinks(%x: tensor<?x4x?x?xf32>, %s: tensor<4xf32>) -> tensor<?x4x?x?xf32> attributes {schedule = #attn.loops_schedule} {
  %p = attn.softmax %x sinks(%s : tensor<4xf32>) : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  attn.yield %p : tensor<?x4x?x?xf32>
}

// Rows of tables stay inside, angles are f64, a hidden position is left out.
// CHECK-LABEL: func.func private @positions
// CHECK: arith.index_cast %{{.*}} : i64 to index
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: tensor.extract
// CHECK: math.powf %{{.*}} : f64
// CHECK: math.sin
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.cmpi ne
// CHECK: arith.select
attn.kernel @positions(%ids: tensor<?x?xi64>, %words: tensor<100x8xf32>, %table: tensor<64x8xf32>, %mask: tensor<?x?xi64>) -> tensor<?x8xf32>
    attributes {schedule = #attn.loops_schedule} {
  %0 = attn.embedding %ids, %words : tensor<?x?xi64>, tensor<100x8xf32> -> tensor<?x?x8xf32>
  %1 = attn.learned_positions %0, %table first(2) : tensor<?x?x8xf32>, tensor<64x8xf32>
  %2 = attn.sinusoidal %1<halves> : tensor<?x?x8xf32>
  %3 = attn.pool %2 mask(%mask : tensor<?x?xi64>)<mean> : tensor<?x?x8xf32> -> tensor<?x8xf32>
  attn.yield %3 : tensor<?x8xf32>
}

// A sequence without positions is not read.
// CHECK-LABEL: func.func private @cls
// CHECK: scf.if
// CHECK: tensor.extract
// CHECK: else
attn.kernel @cls(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
  %y = attn.pool %x<cls> : tensor<?x?x8xf32> -> tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// Whatever a formula computes, it reads inside and does not trap: not where the
// index is known to be inside, and not where the divisor is a constant.
// CHECK-LABEL: func.func private @formula
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[A:.*]] = arith.maxsi %[[I]], %{{.*}} : index
// CHECK: %[[B:.*]] = arith.minsi %[[A]], %{{.*}} : index
// CHECK: tensor.extract %{{.*}}[%[[B]]]
// CHECK-NOT: arith.maxsi
// CHECK: tensor.extract %{{.*}}[%{{.*}}]
// CHECK: %[[ZERO:.*]] = arith.cmpi eq
// CHECK: %[[OVERFLOW:.*]] = arith.andi
// CHECK: %[[NONE:.*]] = arith.ori %[[ZERO]], %[[OVERFLOW]]
// CHECK: %[[D:.*]] = arith.select %[[NONE]]
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %[[D]]
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[Q]]
// CHECK-NOT: arith.cmpi
// CHECK: arith.remui
// CHECK-NOT: arith.select
// CHECK: linalg.yield
attn.kernel @formula(%x: tensor<?xi64>, %t: tensor<7xi64>, %n: index) -> tensor<?xi64> attributes {schedule = #attn.loops_schedule} {
  %init = tensor.empty(%n) : tensor<?xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi64>) outs(%init : tensor<?xi64>) {
  ^bb0(%in: i64, %out: i64):
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : i64
    %i = arith.index_cast %in : i64 to index
    %a = tensor.extract %t[%i] : tensor<7xi64>
    %b = tensor.extract %t[%c3] : tensor<7xi64>
    %q = arith.divsi %a, %b : i64
    %r = arith.remui %q, %c5 : i64
    linalg.yield %r : i64
  } -> tensor<?xi64>
  attn.yield %y : tensor<?xi64>
}

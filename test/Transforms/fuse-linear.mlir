// RUN: attn-opt %s --split-input-file --attn-fuse-linear | FileCheck %s

// A layer alone becomes one on rows; without an epilogue there is no region.
// CHECK-LABEL: func.func @no_epilogue(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x8xf32>, %[[W:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
// CHECK-NEXT: %[[Y:.*]] = attn.fused_linear %[[ROWS]], %[[W]] : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
// CHECK-NEXT: %[[Z:.*]] = tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
// CHECK-NEXT: return %[[Z]]
func.func @no_epilogue(%x: tensor<2x3x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x3x4xf32> {
  %y = attn.linear %x, %w : tensor<2x3x8xf32>, tensor<4x8xf32> -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Rows need no reshape; a single vector is one row.
// CHECK-LABEL: func.func @rows_and_vectors
// CHECK-NEXT: %[[Y:.*]] = attn.fused_linear %{{.*}} : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
// CHECK-NEXT: %[[ROW:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
// CHECK-NEXT: %[[Z:.*]] = attn.fused_linear %[[ROW]], %{{.*}} : tensor<1x8xf32>, tensor<4x8xf32> -> tensor<1x4xf32>
// CHECK-NEXT: tensor.collapse_shape %[[Z]] {{\[}}[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
func.func @rows_and_vectors(%x: tensor<6x8xf32>, %v: tensor<8xf32>, %w: tensor<4x8xf32>) -> (tensor<6x4xf32>, tensor<4xf32>) {
  %y = attn.linear %x, %w : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %z = attn.linear %v, %w : tensor<8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  return %y, %z : tensor<6x4xf32>, tensor<4xf32>
}

// -----

// Bias, activation, a constant; the second layer takes the rows of the first.
// CHECK-LABEL: func.func @feed_forward(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x8xf32>, %[[W1:[^:]*]]: tensor<16x8xf32>, %[[B1:[^:]*]]: tensor<16xf32>, %[[W2:[^:]*]]: tensor<8x16xf32>)
// CHECK: %[[H:.*]] = attn.fused_linear %{{.*}}, %[[W1]] capture(%[[B1]] : tensor<16xf32>) epilogue {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %[[N:.*]]: index, %[[BIAS:.*]]: tensor<16xf32>):
// CHECK-NEXT:   %[[BN:.*]] = tensor.extract %[[BIAS]][%[[N]]] : tensor<16xf32>
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[ACC]], %[[BN]] : f32
// CHECK-NEXT:   %[[G:.*]] = attn.gelu %[[SUM]]<tanh> : f32
// CHECK-NEXT:   %[[C:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:   %[[R:.*]] = arith.mulf %[[G]], %[[C]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
// CHECK-NEXT: } : tensor<6x8xf32>, tensor<16x8xf32> -> tensor<6x16xf32>
// CHECK-NOT: tensor.collapse_shape
// CHECK: attn.fused_linear %[[H]], %[[W2]] :
func.func @feed_forward(%x: tensor<2x3x8xf32>, %w1: tensor<16x8xf32>, %b1: tensor<16xf32>, %w2: tensor<8x16xf32>) -> tensor<2x3x8xf32> {
  %half = arith.constant dense<0.5> : tensor<2x3x16xf32>
  %0 = attn.linear %x, %w1 bias(%b1) : tensor<2x3x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<2x3x16xf32>
  %1 = attn.gelu %0<tanh> : tensor<2x3x16xf32>
  %2 = arith.mulf %1, %half : tensor<2x3x16xf32>
  %3 = attn.linear %2, %w2 : tensor<2x3x16xf32>, tensor<8x16xf32> -> tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// -----

// An activation written out, which uses the value several times.
// CHECK-LABEL: func.func @silu_of_primitives
// CHECK: epilogue {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:   %[[NEG:.*]] = arith.negf %[[ACC]] : f32
// CHECK-NEXT:   %[[E:.*]] = math.exp %[[NEG]] : f32
// CHECK-NEXT:   %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %[[D:.*]] = arith.addf %[[E]], %[[ONE]] : f32
// CHECK-NEXT:   %[[R:.*]] = arith.divf %[[ACC]], %[[D]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
func.func @silu_of_primitives(%x: tensor<6x8xf32>, %w: tensor<4x8xf32>) -> tensor<6x4xf32> {
  %one = arith.constant dense<1.0> : tensor<6x4xf32>
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %1 = arith.negf %0 : tensor<6x4xf32>
  %2 = math.exp %1 : tensor<6x4xf32>
  %3 = arith.addf %2, %one : tensor<6x4xf32>
  %4 = arith.divf %0, %3 : tensor<6x4xf32>
  return %4 : tensor<6x4xf32>
}

// -----

// Post-norm: residual (on either side) and norm go in.
// CHECK-LABEL: func.func @post_norm(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>, %[[G:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>)
// CHECK-DAG: %[[ROWS:.*]] = tensor.collapse_shape %[[X]]
// CHECK: %[[Y:.*]] = attn.fused_linear %{{.*}}, %[[W]] capture(%{{.*}} : tensor<6x8xf32>) epilogue {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[M:.*]]: index, %[[N:.*]]: index, %[[RES:.*]]: tensor<6x8xf32>):
// CHECK-NEXT:   %[[E:.*]] = tensor.extract %[[RES]][%[[M]], %[[N]]] : tensor<6x8xf32>
// CHECK-NEXT:   arith.addf %[[E]], %[[ACC]] : f32
// CHECK:      } layer_norm(%[[G]], %[[B]] : tensor<8xf32>, tensor<8xf32>) epsilon(1.0e-05) :
// CHECK-NOT: attn.layer_norm
// CHECK: attn.fused_linear %[[Y]], %[[W]] capture(%[[Y]] : tensor<6x8xf32>) epilogue {
// CHECK-NEXT: ^bb0(%[[ACC2:.*]]: f32,
// CHECK-NEXT:   %[[E2:.*]] = tensor.extract
// CHECK-NEXT:   arith.addf %[[ACC2]], %[[E2]] : f32
func.func @post_norm(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = attn.linear %x, %w : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %1 = arith.addf %x, %0 : tensor<2x3x8xf32>
  %2 = attn.layer_norm %1, %g, %b epsilon(1.0e-5) : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %3 = attn.linear %2, %w : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %4 = arith.addf %3, %2 : tensor<2x3x8xf32>
  return %4 : tensor<2x3x8xf32>
}

// -----

// An RMS norm goes in as well.
// CHECK-LABEL: func.func @post_rms_norm(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>, %[[G:[^:]*]]: tensor<8xf32>)
// CHECK: attn.fused_linear %[[X]], %[[W]] rms_norm(%[[G]] : tensor<8xf32>) epsilon(1.0e-06) :
// CHECK-NOT: attn.rms_norm
func.func @post_rms_norm(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<6x8xf32> {
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %1 = attn.rms_norm %0, %g epsilon(1.0e-6) : tensor<6x8xf32>, tensor<8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// The gain of a norm is no row of it: a product that is the gain of another's
// norm stays alone.
// CHECK-LABEL: func.func @gain_from_linear
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} : tensor<1x8xf32>
// CHECK: attn.rms_norm
func.func @gain_from_linear(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<6x8xf32> {
  %0 = attn.linear %g, %w : tensor<8xf32>, tensor<8x8xf32> -> tensor<8xf32>
  %1 = attn.rms_norm %x, %0 epsilon(1.0e-6) : tensor<6x8xf32>, tensor<8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Pre-norm: the sum is also the next residual, so the norm stays outside.
// CHECK-LABEL: func.func @pre_norm
// CHECK: %[[SUM:.*]] = attn.fused_linear
// CHECK-NOT: layer_norm(
// CHECK: tensor.expand_shape %[[SUM]]
// CHECK: attn.layer_norm
// CHECK: attn.fused_linear %{{.*}} capture(%[[SUM]] : tensor<6x8xf32>)
func.func @pre_norm(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = attn.linear %x, %w : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %1 = arith.addf %x, %0 : tensor<2x3x8xf32>
  %2 = attn.layer_norm %1, %g, %b epsilon(1.0e-5) : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %3 = attn.linear %2, %w : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %4 = arith.addf %1, %3 : tensor<2x3x8xf32>
  return %4 : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @product_is_a_result
// CHECK: %[[Y:.*]] = attn.fused_linear %{{.*}}, %{{.*}} : tensor<6x8xf32>
// CHECK: %[[R:.*]] = attn.relu %[[Y]] : tensor<6x4xf32>
// CHECK: return %[[Y]], %[[R]]
func.func @product_is_a_result(%x: tensor<6x8xf32>, %w: tensor<4x8xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %1 = attn.relu %0 : tensor<6x4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// Only what nobody else sees the inside of: the relu goes in, the sum with what
// another operation makes of it does not.
// CHECK-LABEL: func.func @value_in_the_middle_is_used
// CHECK: %[[Y:.*]] = attn.fused_linear
// CHECK: attn.relu %{{.*}} : f32
// CHECK: %[[S:.*]] = attn.softmax %[[Y]]
// CHECK: arith.addf %[[Y]], %[[S]] : tensor<6x4xf32>
func.func @value_in_the_middle_is_used(%x: tensor<6x8xf32>, %w: tensor<4x8xf32>) -> tensor<6x4xf32> {
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %1 = attn.relu %0 : tensor<6x4xf32>
  %2 = attn.softmax %1 : tensor<6x4xf32> -> tensor<6x4xf32>
  %3 = arith.addf %1, %2 : tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// -----

// The sum of two layers goes into one of them.
// CHECK-LABEL: func.func @sum_of_layers
// CHECK-NOT: arith.addf {{.*}} : tensor
// CHECK: %[[A:.*]] = attn.fused_linear %{{.*}}, %{{.*}} : tensor<6x8xf32>
// CHECK: attn.fused_linear %{{.*}} capture(%[[A]] : tensor<6x4xf32>)
func.func @sum_of_layers(%x: tensor<6x8xf32>, %w: tensor<4x8xf32>, %v: tensor<4x8xf32>) -> tensor<6x4xf32> {
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %1 = attn.linear %x, %v : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  %2 = arith.addf %1, %0 : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// -----

// The epilogue computes with f32 where 16 bits are stored; conversions inside
// are none.
// CHECK-LABEL: func.func @half(
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} capture(%{{.*}}, %{{.*}} : tensor<4xf16>, tensor<6x4xf16>) epilogue {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index,
// CHECK-NEXT:   %[[B:.*]] = tensor.extract
// CHECK-NEXT:   %[[BW:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[ACC]], %[[BW]] : f32
// CHECK-NEXT:   %[[G:.*]] = attn.gelu %[[SUM]]<erf> : f32
// CHECK-NEXT:   %[[R:.*]] = tensor.extract
// CHECK-NEXT:   %[[RW:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK-NEXT:   %[[Y:.*]] = arith.addf %[[G]], %[[RW]] : f32
// CHECK-NEXT:   attn.yield %[[Y]] : f32
// CHECK-NEXT: } : tensor<6x8xf16>, tensor<4x8xf16> -> tensor<6x4xf16>
func.func @half(%x: tensor<6x8xf16>, %w: tensor<4x8xf16>, %b: tensor<4xf16>, %r: tensor<6x4xf16>) -> tensor<6x4xf16> {
  %0 = attn.linear %x, %w bias(%b) : tensor<6x8xf16>, tensor<4x8xf16>, tensor<4xf16> -> tensor<6x4xf16>
  %1 = arith.extf %0 : tensor<6x4xf16> to tensor<6x4xf32>
  %2 = attn.gelu %1<erf> : tensor<6x4xf32>
  %3 = arith.truncf %2 : tensor<6x4xf32> to tensor<6x4xf16>
  %4 = arith.addf %3, %r : tensor<6x4xf16>
  return %4 : tensor<6x4xf16>
}

// -----

// Bits of 16-bit numbers are not those of f32.
// CHECK-LABEL: func.func @bits_of_half
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} : tensor<6x8xf16>
// CHECK: arith.bitcast
func.func @bits_of_half(%x: tensor<6x8xf16>, %w: tensor<4x8xf16>) -> tensor<6x4xf16> {
  %0 = attn.linear %x, %w : tensor<6x8xf16>, tensor<4x8xf16> -> tensor<6x4xf16>
  %1 = arith.bitcast %0 : tensor<6x4xf16> to tensor<6x4xi16>
  %2 = arith.bitcast %1 : tensor<6x4xi16> to tensor<6x4xf16>
  return %2 : tensor<6x4xf16>
}

// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fuse-attention))' | FileCheck %s

// One test a rule: the condition that attn-fuse-attention writes for it.

// CHECK-LABEL: func.func @causal_top_left
// CHECK-NOT: capture
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[V:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT:   attn.yield %[[V]] : i1
func.func @causal_top_left(%q: tensor<1x?x1x2xf32>, %k: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by causal<top_left> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// The last query sees the last key: j <= i + M - N.
// CHECK-LABEL: func.func @causal_bottom_right(
// CHECK-SAME: %[[Q:.*]]: tensor<1x?x1x2xf32>, %[[K:.*]]: tensor<1x?x1x2xf32>)
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[Q]], %{{.*}}
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[K]], %{{.*}}
// CHECK: capture(%[[M]], %[[N]] : index, index)
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[MI:.*]]: index, %[[NI:.*]]: index):
// CHECK-NEXT:   %[[SHIFT:.*]] = arith.subi %[[MI]], %[[NI]] : index
// CHECK-NEXT:   %[[END:.*]] = arith.addi %[[I]], %[[SHIFT]] : index
// CHECK-NEXT:   arith.cmpi sle, %[[J]], %[[END]] : index
func.func @causal_bottom_right(%q: tensor<1x?x1x2xf32>, %k: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by causal<bottom_right> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// With static sizes the shift is a number.
// CHECK-LABEL: func.func @causal_bottom_right_static
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[SHIFT:.*]] = arith.constant 4 : index
// CHECK-NEXT:   %[[END:.*]] = arith.addi %[[I]], %[[SHIFT]] : index
// CHECK-NEXT:   arith.cmpi sle, %[[J]], %[[END]] : index
func.func @causal_bottom_right_static(%q: tensor<1x3x1x2xf32>, %k: tensor<1x7x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x7x1x2xf32> -> tensor<1x1x3x7xf32>
  %m = attn.mask %s by causal<bottom_right> : tensor<1x1x3x7xf32>
  %p = attn.softmax %m : tensor<1x1x3x7xf32> -> tensor<1x1x3x7xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<1x1x3x7xf32>, tensor<1x7x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

// Query and key of one length need no shift.
// CHECK-LABEL: func.func @causal_bottom_right_self
// CHECK-NOT: capture
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   arith.cmpi sle, %[[J]], %[[I]] : index
func.func @causal_bottom_right_self(%q: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by causal<bottom_right> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @causal_offset(
// CHECK-SAME: %[[OFFSET:[^:]*]]: tensor<?xi64>)
// CHECK: capture(%[[OFFSET]] : tensor<?xi64>)
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[T:.*]]: tensor<?xi64>):
// CHECK-NEXT:   %[[E:.*]] = tensor.extract %[[T]][%[[B]]] : tensor<?xi64>
// CHECK-NEXT:   %[[SHIFT:.*]] = arith.index_cast %[[E]] : i64 to index
// CHECK-NEXT:   %[[END:.*]] = arith.addi %[[I]], %[[SHIFT]] : index
// CHECK-NEXT:   arith.cmpi sle, %[[J]], %[[END]] : index
func.func @causal_offset(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32>, %offset: tensor<?xi64>) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %m = attn.mask %s by causal<offset>(%offset : tensor<?xi64>) : tensor<?x1x?x?xf32>
  %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @window_of_both_sides
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   %[[LEFT:.*]] = arith.constant -3 : index
// CHECK-NEXT:   %[[BEGIN:.*]] = arith.addi %[[I]], %[[LEFT]] : index
// CHECK-NEXT:   %[[V0:.*]] = arith.cmpi sge, %[[J]], %[[BEGIN]] : index
// CHECK-NEXT:   %[[RIGHT:.*]] = arith.constant 2 : index
// CHECK-NEXT:   %[[END:.*]] = arith.addi %[[I]], %[[RIGHT]] : index
// CHECK-NEXT:   %[[V1:.*]] = arith.cmpi sle, %[[J]], %[[END]] : index
// CHECK-NEXT:   arith.andi %[[V0]], %[[V1]] : i1
func.func @window_of_both_sides(%q: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by window<left = 3, right = 2> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @window_open_to_the_left
// CHECK: mask {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:   arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT:   attn.yield
func.func @window_open_to_the_left(%q: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by window<left = -1, right = 0> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// A window open on both sides hides nothing.
// CHECK-LABEL: func.func @window_open_on_both_sides
// CHECK: attn.attention
// CHECK-NOT: mask {
func.func @window_open_on_both_sides(%q: tensor<1x?x1x2xf32>) -> tensor<1x?x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x2xf32>, tensor<1x?x1x2xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by window<left = -1, right = -1> : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x?x?xf32>, tensor<1x?x1x2xf32> -> tensor<1x?x1x2xf32>
  return %o : tensor<1x?x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @key_padding_of_bools
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index, %[[T:.*]]: tensor<?x?xi1>):
// CHECK-NEXT:   %[[V:.*]] = tensor.extract %[[T]][%[[B]], %[[J]]] : tensor<?x?xi1>
// CHECK-NEXT:   attn.yield %[[V]] : i1
func.func @key_padding_of_bools(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %m = attn.mask %s by key_padding(%mask : tensor<?x?xi1>) : tensor<?x1x?x?xf32>
  %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @key_padding_of_numbers
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index, %[[T:.*]]: tensor<?x?xi64>):
// CHECK-NEXT:   %[[E:.*]] = tensor.extract %[[T]][%[[B]], %[[J]]] : tensor<?x?xi64>
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT:   arith.cmpi ne, %[[E]], %[[ZERO]] : i64
func.func @key_padding_of_numbers(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32>, %mask: tensor<?x?xi64>) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %m = attn.mask %s by key_padding(%mask : tensor<?x?xi64>) : tensor<?x1x?x?xf32>
  %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// A mask of floats is a condition, compared as integers because floats are taken
// for finite later, and a finite summand.
// CHECK-LABEL: func.func @dense_of_floats
// CHECK: score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[T:.*]]: tensor<?x?xf32>):
// CHECK-NEXT:   %[[E:.*]] = tensor.extract %[[T]][%[[I]], %[[J]]] : tensor<?x?xf32>
// CHECK-NEXT:   %[[INF:.*]] = arith.constant -8388608 : i32
// CHECK-NEXT:   %[[BITS:.*]] = arith.bitcast %[[E]] : f32 to i32
// CHECK-NEXT:   %[[FINITE:.*]] = arith.cmpi ne, %[[BITS]], %[[INF]] : i32
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %[[SUMMAND:.*]] = arith.select %[[FINITE]], %[[E]], %[[ZERO]] : f32
// CHECK-NEXT:   %[[R:.*]] = arith.addf %[[S]], %[[SUMMAND]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
// CHECK-NEXT: } mask {
// CHECK:        %[[MBITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK-NEXT:   %[[V:.*]] = arith.cmpi ne, %[[MBITS]], %{{.*}} : i32
// CHECK-NEXT:   attn.yield %[[V]] : i1
func.func @dense_of_floats(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32>, %mask: tensor<?x?xf32>) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %m = attn.mask %s by dense(%mask : tensor<?x?xf32>) : tensor<?x1x?x?xf32>
  %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// A dimension of size 1 is read at 0.
// CHECK-LABEL: func.func @dense_of_bools_broadcasts
// CHECK-NOT: score {
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index, %[[T:.*]]: tensor<?x1x1x?xi1>):
// CHECK-NEXT:   %[[H0:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT:   tensor.extract %[[T]][%[[B]], %[[H0]], %[[I0]], %[[J]]] : tensor<?x1x1x?xi1>
func.func @dense_of_bools_broadcasts(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32>, %mask: tensor<?x1x1x?xi1>) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %m = attn.mask %s by dense(%mask : tensor<?x1x1x?xi1>) : tensor<?x1x?x?xf32>
  %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

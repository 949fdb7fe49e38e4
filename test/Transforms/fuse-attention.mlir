// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fuse-attention))' | FileCheck %s

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x16xf32>, %[[K:.*]]: tensor<2x5x4x16xf32>, %[[V:.*]]: tensor<2x5x4x8xf32>)
// CHECK-NEXT: %[[C:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-NEXT: %[[O:.*]] = attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[C]] : f32) layout(bshd) :
// CHECK-NEXT: return %[[O]]
func.func @plain(%q: tensor<2x3x4x16xf32>, %k: tensor<2x5x4x16xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x5x4x16xf32> -> tensor<2x4x3x5xf32>
  %p = attn.softmax %s : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x4x8xf32> -> tensor<2x3x4x8xf32>
  return %o : tensor<2x3x4x8xf32>
}

// -----

// A scale of the user's and the log-sum-exp stay what they are; heads are grouped.
// CHECK-LABEL: func.func @scale_and_lse(
// CHECK-SAME: %[[C:[^:]*]]: f32)
// CHECK: %[[O:.*]], %[[LSE:.*]] = attn.attention %{{.*}} scale(%[[C]] : f32) layout(bhsd) : {{.*}} -> tensor<2x4x3x16xf32>, tensor<2x4x3xf32>
// CHECK: return %[[O]], %[[LSE]]
func.func @scale_and_lse(%q: tensor<2x4x3x16xf32>, %k: tensor<2x2x5x16xf32>, %v: tensor<2x2x5x16xf32>, %c: f32)
    -> (tensor<2x4x3x16xf32>, tensor<2x4x3xf32>) {
  %s = attn.scores %q, %k scale(%c : f32) layout(bhsd) : tensor<2x4x3x16xf32>, tensor<2x2x5x16xf32> -> tensor<2x4x3x5xf32>
  %p, %lse = attn.softmax %s : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xf32>, tensor<2x4x3xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x4x3x5xf32>, tensor<2x2x5x16xf32> -> tensor<2x4x3x16xf32>
  return %o, %lse : tensor<2x4x3x16xf32>, tensor<2x4x3xf32>
}

// -----

// The score region in the order of the operations: a soft-cap, a bias that
// broadcasts, a sum on the left, a constant.
// CHECK-LABEL: func.func @score_region(
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<4x1x5xf32>, %[[MORE:[^:]*]]: tensor<2x4x3x5xf32>)
// CHECK: attn.attention {{.*}} capture(%[[BIAS]], %[[MORE]] : tensor<4x1x5xf32>, tensor<2x4x3x5xf32>) layout(bshd) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[X:.*]]: tensor<4x1x5xf32>, %[[Y:.*]]: tensor<2x4x3x5xf32>):
// CHECK-NEXT:   %[[CAP:.*]] = arith.constant 3.000000e+01 : f32
// CHECK-NEXT:   %[[D:.*]] = arith.divf %[[S]], %[[CAP]] : f32
// CHECK-NEXT:   %[[T:.*]] = math.tanh %[[D]] : f32
// CHECK-NEXT:   %[[CAP2:.*]] = arith.constant 3.000000e+01 : f32
// CHECK-NEXT:   %[[M:.*]] = arith.mulf %[[T]], %[[CAP2]] : f32
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[XE:.*]] = tensor.extract %[[X]][%[[H]], %[[ZERO]], %[[J]]]
// CHECK-NEXT:   %[[P:.*]] = arith.addf %[[M]], %[[XE]] : f32
// CHECK-NEXT:   %[[YE:.*]] = tensor.extract %[[Y]][%[[B]], %[[H]], %[[I]], %[[J]]]
// CHECK-NEXT:   %[[R:.*]] = arith.addf %[[YE]], %[[P]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
// CHECK-NEXT: } :
func.func @score_region(%q: tensor<2x3x4x16xf32>, %k: tensor<2x5x4x16xf32>, %v: tensor<2x5x4x16xf32>,
    %bias: tensor<4x1x5xf32>, %more: tensor<2x4x3x5xf32>) -> tensor<2x3x4x16xf32> {
  %cap = arith.constant dense<30.0> : tensor<2x4x3x5xf32>
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x5x4x16xf32> -> tensor<2x4x3x5xf32>
  %0 = arith.divf %s, %cap : tensor<2x4x3x5xf32>
  %1 = math.tanh %0 : tensor<2x4x3x5xf32>
  %2 = arith.mulf %1, %cap : tensor<2x4x3x5xf32>
  %3 = attn.bias %2, %bias : tensor<2x4x3x5xf32>, tensor<4x1x5xf32>
  %4 = arith.addf %more, %3 : tensor<2x4x3x5xf32>
  %p = attn.softmax %4 : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// One value used twice on the way is one score.
// CHECK-LABEL: func.func @score_used_twice_inside
// CHECK: score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32,
// CHECK-NEXT:   %[[R:.*]] = arith.mulf %[[S]], %[[S]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
func.func @score_used_twice_inside(%q: tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %0 = arith.mulf %s, %s : tensor<2x4x3x3xf32>
  %p = attn.softmax %0 : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// Masks meet in one condition; a bias and a positive factor after a mask keep
// what is hidden hidden.
// CHECK-LABEL: func.func @two_masks
// CHECK: score {
// CHECK-COUNT-2: arith.mulf
// CHECK: } mask {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[LEN:.*]]: tensor<2xi32>, %{{.*}}: tensor<2x4x3x3xf32>):
// CHECK-NEXT:   %[[V0:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT:   %[[L:.*]] = tensor.extract %[[LEN]][%[[B]]] : tensor<2xi32>
// CHECK-NEXT:   %[[LI:.*]] = arith.index_cast %[[L]] : i32 to index
// CHECK-NEXT:   %[[V1:.*]] = arith.cmpi slt, %[[J]], %[[LI]] : index
// CHECK-NEXT:   %[[V:.*]] = arith.andi %[[V0]], %[[V1]] : i1
// CHECK-NEXT:   attn.yield %[[V]] : i1
func.func @two_masks(%q: tensor<2x3x4x16xf32>, %len: tensor<2xi32>, %bias: tensor<2x4x3x3xf32>) -> tensor<2x3x4x16xf32> {
  %two = arith.constant dense<2.0> : tensor<2x4x3x3xf32>
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %0 = arith.mulf %s, %two : tensor<2x4x3x3xf32>
  %1 = attn.mask %0 by causal<top_left> : tensor<2x4x3x3xf32>
  %2 = arith.mulf %two, %1 : tensor<2x4x3x3xf32>
  %3 = attn.mask %2 by key_lengths(%len : tensor<2xi32>) : tensor<2x4x3x3xf32>
  %4 = arith.subf %3, %bias : tensor<2x4x3x3xf32>
  %p = attn.softmax %4 : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// The function's other values are no obstacle.
// CHECK-LABEL: func.func @query_and_key_have_other_users
// CHECK: attn.attention
// CHECK: arith.addf
func.func @query_and_key_have_other_users(%q: tensor<2x3x4x16xf32>, %k: tensor<2x3x4x16xf32>) -> (tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %p = attn.softmax %s : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  %r = arith.addf %q, %k : tensor<2x3x4x16xf32>
  return %o, %r : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>
}

// -----

// What is fused already stays.
// CHECK-LABEL: func.func @already_fused
// CHECK-COUNT-1: attn.attention
func.func @already_fused(%q: tensor<2x3x4x16xf32>, %c: f32) -> tensor<2x3x4x16xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// Scores of a narrower type are f32 inside, and so is what is added to them.
// CHECK-LABEL: func.func @half(
// CHECK: attn.attention {{.*}} capture(%{{.*}} : tensor<3x5xf16>) layout(bshd) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[X:.*]]: tensor<3x5xf16>):
// CHECK-NEXT:   %[[CAP:.*]] = arith.constant 3.000000e+01 : f32
// CHECK-NEXT:   %[[D:.*]] = arith.divf %[[S]], %[[CAP]] : f32
// CHECK-NEXT:   %[[T:.*]] = math.tanh %[[D]] : f32
// CHECK-NEXT:   %[[E:.*]] = tensor.extract %[[X]][%[[I]], %[[J]]] : tensor<3x5xf16>
// CHECK-NEXT:   %[[W:.*]] = arith.extf %[[E]] : f16 to f32
// CHECK-NEXT:   %[[R:.*]] = arith.addf %[[T]], %[[W]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
// CHECK: } : tensor<2x3x4x16xf16>, tensor<2x5x4x16xf16>, tensor<2x5x4x8xf16> -> tensor<2x3x4x8xf16>, tensor<2x4x3xf32>
func.func @half(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x4x16xf16>, %v: tensor<2x5x4x8xf16>, %bias: tensor<3x5xf16>) -> (tensor<2x3x4x8xf16>, tensor<2x4x3xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x16xf16>, tensor<2x5x4x16xf16> -> tensor<2x4x3x5xf16>
  %wide = arith.extf %s : tensor<2x4x3x5xf16> to tensor<2x4x3x5xf32>
  %cap = arith.constant dense<3.0e+01> : tensor<2x4x3x5xf32>
  %d = arith.divf %wide, %cap : tensor<2x4x3x5xf32>
  %t = math.tanh %d : tensor<2x4x3x5xf32>
  %narrow = arith.truncf %t : tensor<2x4x3x5xf32> to tensor<2x4x3x5xf16>
  %b = attn.bias %narrow, %bias : tensor<2x4x3x5xf16>, tensor<3x5xf16>
  %p, %lse = attn.softmax %b : tensor<2x4x3x5xf16> -> tensor<2x4x3x5xf16>, tensor<2x4x3xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf16>, tensor<2x5x4x8xf16> -> tensor<2x3x4x8xf16>
  return %o, %lse : tensor<2x3x4x8xf16>, tensor<2x4x3xf32>
}

// -----

// Types that differ stay as they are stored, also of a bias.
// CHECK-LABEL: func.func @mixed(
// CHECK: attn.attention {{.*}} capture(%{{.*}} : tensor<3x5xf32>) layout(bshd) score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32,
// CHECK-NEXT:   %[[E:.*]] = tensor.extract
// CHECK-NEXT:   arith.addf %[[S]], %[[E]] : f32
// CHECK: } : tensor<2x3x4x16xf16>, tensor<2x5x4x16xbf16>, tensor<2x5x4x8xf32> -> tensor<2x3x4x8xf16>
func.func @mixed(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x4x16xbf16>, %v: tensor<2x5x4x8xf32>, %bias: tensor<3x5xf32>) -> tensor<2x3x4x8xf16> {
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x16xf16>, tensor<2x5x4x16xbf16> -> tensor<2x4x3x5xf16>
  %b = attn.bias %s, %bias : tensor<2x4x3x5xf16>, tensor<3x5xf32>
  %p = attn.softmax %b : tensor<2x4x3x5xf16> -> tensor<2x4x3x5xf16>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf16>, tensor<2x5x4x8xf32> -> tensor<2x3x4x8xf16>
  return %o : tensor<2x3x4x8xf16>
}

// -----

// Conversions around an attention are its own. The key's has another use and
// stays for that.
// CHECK-LABEL: func.func @widened(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x16xbf16>, %[[K:.*]]: tensor<2x5x4x16xbf16>)
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[K]]
// CHECK-NEXT: arith.constant
// CHECK-NEXT: %[[O:.*]] = attn.attention %[[Q]], %[[K]], %[[K]] scale({{.*}}) layout(bshd) : tensor<2x3x4x16xbf16>, tensor<2x5x4x16xbf16>, tensor<2x5x4x16xbf16> -> tensor<2x3x4x16xf16>
// CHECK-NEXT: return %[[O]], %[[W]]
func.func @widened(%q: tensor<2x3x4x16xbf16>, %k: tensor<2x5x4x16xbf16>) -> (tensor<2x3x4x16xf16>, tensor<2x5x4x16xf32>) {
  %qw = arith.extf %q : tensor<2x3x4x16xbf16> to tensor<2x3x4x16xf32>
  %kw = arith.extf %k : tensor<2x5x4x16xbf16> to tensor<2x5x4x16xf32>
  %s = attn.scores %qw, %kw layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x5x4x16xf32> -> tensor<2x4x3x5xf32>
  %p = attn.softmax %s : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xf32>
  %o = attn.mix %p, %kw layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x4x16xf32> -> tensor<2x3x4x16xf32>
  %n = arith.truncf %o : tensor<2x3x4x16xf32> to tensor<2x3x4x16xf16>
  return %n, %kw : tensor<2x3x4x16xf16>, tensor<2x5x4x16xf32>
}

// -----

// Not where f64 is asked for, nor for a result that is needed in f32 too, nor
// for numbers of 8 bits, which attention does not read.
// CHECK-LABEL: func.func @not_widened(
// CHECK: %[[Q:.*]] = arith.extf %{{.*}} : tensor<2x3x4x16xf16> to tensor<2x3x4x16xf64>
// CHECK: attn.attention %[[Q]], %[[Q]], %[[Q]]
// CHECK: %[[R:.*]] = arith.extf %{{.*}} : tensor<2x3x4x16xf8E5M2> to tensor<2x3x4x16xf32>
// CHECK: %[[O:.*]] = attn.attention %[[R]], %[[R]], %[[R]] {{.*}} -> tensor<2x3x4x16xf32>
// CHECK: arith.truncf %[[O]]
func.func @not_widened(%h: tensor<2x3x4x16xf16>, %e: tensor<2x3x4x16xf8E5M2>) -> (tensor<2x3x4x16xf64>, tensor<2x3x4x16xf16>, tensor<2x3x4x16xf32>) {
  %q = arith.extf %h : tensor<2x3x4x16xf16> to tensor<2x3x4x16xf64>
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x4x16xf64>, tensor<2x3x4x16xf64> -> tensor<2x4x3x3xf64>
  %p = attn.softmax %s : tensor<2x4x3x3xf64> -> tensor<2x4x3x3xf64>
  %o = attn.mix %p, %q layout(bshd) : tensor<2x4x3x3xf64>, tensor<2x3x4x16xf64> -> tensor<2x3x4x16xf64>
  %r = arith.extf %e : tensor<2x3x4x16xf8E5M2> to tensor<2x3x4x16xf32>
  %s1 = attn.scores %r, %r layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %p1 = attn.softmax %s1 : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o1 = attn.mix %p1, %r layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  %n1 = arith.truncf %o1 : tensor<2x3x4x16xf32> to tensor<2x3x4x16xf16>
  return %o, %n1, %o1 : tensor<2x3x4x16xf64>, tensor<2x3x4x16xf16>, tensor<2x3x4x16xf32>
}

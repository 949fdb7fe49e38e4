// Each rule on scores as the arithmetic that a fused kernel gets.
// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fuse-attention))' | FileCheck %s

// Soft-cap: -inf, compared by its bits, stays what it is.
// CHECK-LABEL: func.func @softcap
// CHECK: score {
// CHECK: ^bb0(%[[S:[a-z]+]]: f32,
// CHECK: %[[CAP:.*]] = arith.constant 5.000000e+00 : f32
// CHECK: %[[D:.*]] = arith.divf %[[S]], %[[CAP]]
// CHECK: %[[T:.*]] = math.tanh %[[D]]
// CHECK: %[[R:.*]] = arith.mulf %[[T]], %[[CAP]]
// CHECK: %[[INF:.*]] = arith.constant -8388608 : i32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK: %[[IS:.*]] = arith.cmpi ne, %[[BITS]], %[[INF]]
// CHECK: %[[Y:.*]] = arith.select %[[IS]], %[[R]], %[[S]]
// CHECK: attn.yield %[[Y]]
func.func @softcap(%q: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32> {
  %cap = arith.constant 5.0 : f32
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %c = attn.softcap %s cap(%cap : f32) : tensor<2x4x3x3xf32>
  %p = attn.softmax %c : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// ALiBi: the slopes of 8 heads, then every second of 16.
// CHECK-LABEL: func.func @alibi
// CHECK: dense<[5.000000e-01, 2.500000e-01, 1.250000e-01, 6.250000e-02, 3.125000e-02, 1.562500e-02, 7.812500e-03, 3.906250e-03, 0.707106769, 0.353553385, 0.176776692, 0.0883883461]> : tensor<12xf32>
// CHECK: capture({{.*}} : tensor<12xf32>)
// CHECK: ^bb0(%[[S:[a-z]+]]: f32, %{{.*}}: index, %[[H:[a-z]+]]: index, %[[I:[a-z]+]]: index, %[[J:[a-z]+]]: index, %[[A:.*]]: tensor<12xf32>):
// CHECK: %[[D:.*]] = arith.subi %[[J]], %[[I]]
// CHECK: %[[M:.*]] = tensor.extract %[[A]][%[[H]]]
// CHECK: arith.mulf %[[M]], %{{.*}} : f32
// CHECK: arith.addf %[[S]],
func.func @alibi(%q: tensor<2x3x12x16xf32>, %v: tensor<2x3x12x16xf32>) -> tensor<2x3x12x16xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x12x16xf32>, tensor<2x3x12x16xf32> -> tensor<2x12x3x3xf32>
  %c = attn.alibi %s : tensor<2x12x3x3xf32>
  %p = attn.softmax %c : tensor<2x12x3x3xf32> -> tensor<2x12x3x3xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x12x3x3xf32>, tensor<2x3x12x16xf32> -> tensor<2x3x12x16xf32>
  return %o : tensor<2x3x12x16xf32>
}

// -----

// T5: a table of distances is made once. With 12 buckets and a distance of 24,
// buckets 7 to 11 begin at ceil(6 * 4^(k / 6)): 8, 10, 12, 16 and 20.
// CHECK-LABEL: func.func @t5
// CHECK: linalg.generic
// CHECK: %[[C6:.*]] = arith.constant 6 : index
// CHECK: arith.minsi %[[N:.*]], %[[C6]]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: arith.cmpi sge, %[[N]], %[[C8]]
// CHECK: %[[C10:.*]] = arith.constant 10 : index
// CHECK: arith.cmpi sge, %[[N]], %[[C10]]
// CHECK: %[[C12:.*]] = arith.constant 12 : index
// CHECK: arith.cmpi sge, %[[N]], %[[C12]]
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: arith.cmpi sge, %[[N]], %[[C16]]
// CHECK: %[[C20:.*]] = arith.constant 20 : index
// CHECK: arith.cmpi sge, %[[N]], %[[C20]]
// CHECK-NOT: arith.cmpi
// CHECK: tensor<4x49xf32>
// CHECK-NOT: math.log
// CHECK: attn.attention {{.*}} capture(%{{.*}} : tensor<4x49xf32>)
func.func @t5(%q: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>, %t: tensor<12x4xf32>) -> tensor<2x3x4x16xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %c = attn.t5_bias %s, %t max_distance(24) : tensor<2x4x3x3xf32>, tensor<12x4xf32>
  %p = attn.softmax %c : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// Shaw: on keys in the combine region, on values in the value region.
// CHECK-LABEL: func.func @shaw
// CHECK: combine {
// CHECK: ^bb0(%[[Q:[a-z]+]]: f32, %[[K:[a-z]+]]: f32,
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[A:.*]] = tensor.extract
// CHECK: %[[SUM:.*]] = arith.addf %[[K]], %[[A]]
// CHECK: arith.mulf %[[Q]], %[[SUM]]
// CHECK: value {
// CHECK: ^bb0(%[[V:[a-z]+]]: f32,
// CHECK: %[[A2:.*]] = tensor.extract
// CHECK: arith.addf %[[V]], %[[A2]]
func.func @shaw(%q: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>, %a: tensor<7x16xf32>) -> tensor<2x3x4x16xf32> {
  %s = attn.scores %q, %q relative(%a : tensor<7x16xf32>) layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x4x3x3xf32>
  %p = attn.softmax %s : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %v relative(%a : tensor<7x16xf32>) layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// Additive: no 1 / sqrt(D).
// CHECK-LABEL: func.func @additive
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scale(%[[ONE]] : f32)
// CHECK: combine {
// CHECK: %[[SUM:.*]] = arith.addf %{{[qk]}}, %{{[qk]}}
// CHECK: %[[T:.*]] = math.tanh %[[SUM]]
// CHECK: arith.mulf %{{.*}}, %[[T]]
func.func @additive(%q: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x16xf32>, %w: tensor<4x16xf32>) -> tensor<2x3x4x16xf32> {
  %s = attn.additive_scores %q, %q, %w layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x3x3xf32>
  %p = attn.softmax %s : tensor<2x4x3x3xf32> -> tensor<2x4x3x3xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// RUN: attn-opt %s --emit=stmt --target=x86-64-v3 -o %t.stmt
// RUN: FileCheck %s < %t.stmt
// RUN: FileCheck %s --check-prefix=NO-TENSOR < %t.stmt

// Causal attention: full tiles have neither mask nor edge, partial tiles have
// both. A tile of scores is all there ever is of them.

func.func @main(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m = attn.mask %s by causal<top_left> : tensor<?x2x?x?xf32>
  %p = attn.softmax %m : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}

// One task a query tile; the running state and the query tile are its own.
// CHECK-LABEL: attention_0__v3
// CHECK: allocate query[float32 * 192] in Stack
// CHECK: allocate state[float32 * 288] in Stack

// Full tiles: 64 keys, no select.
// CHECK: allocate visible0[float32 * 1536] in Stack
// CHECK-NOT: select(
// Of three vectors of queries the last tile may have two, or one.
// CHECK: if ([[VECTORS:.*]] >= 3) {
// CHECK-NEXT: for (scores0.s1
// CHECK-COUNT-12: scores0[ramp
// CHECK: } else if ([[VECTORS]] <= 1) {
// CHECK-NEXT: for (scores0.s1
// Each step asks for a line of the keys that follow.
// CHECK-NEXT: prefetch(arg1,
// CHECK-NEXT: scores0[ramp((int64)0,
// CHECK-NEXT: scores0[ramp((int64)24,
// CHECK-NEXT: scores0[ramp((int64)48,
// CHECK-NEXT: scores0[ramp((int64)72,
// CHECK: produce weights0
// CHECK: for (weights0.s0.q.qo, 0, min(3, {{.*}}))
// CHECK: produce tileSum0
// CHECK: produce mix0
// CHECK: if ({{.*}} >= 3) {
// CHECK-NEXT: for (mix0.s1
// CHECK: } else if ({{.*}} <= 1) {
// CHECK-NEXT: for (mix0.s1

// Partial tiles: hidden scores are -inf by their bits, and the values are asked
// whether they are finite.
// CHECK: allocate visible1[float32 * 1536] in Stack
// CHECK: -8388608
// CHECK: produce weights1
// CHECK: 2139095040
// CHECK: produce slowMix1

// Nothing is allocated whose size is not a number.
// NO-TENSOR-NOT: allocate {{[^[]*}}[{{[^]]*}}extent
// NO-TENSOR-NOT: halide_malloc
// NO-TENSOR-NOT: in Heap

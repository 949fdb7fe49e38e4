// RUN: attn-opt %s --emit=stmt --target=opencl -o %t.stmt
// RUN: FileCheck %s < %t.stmt
// RUN: FileCheck %s --check-prefix=NO-TENSOR < %t.stmt

// Causal attention on a device: a block of 16 by 16 threads computes 32 queries.

func.func @main(%q: tensor<?x?x2x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x2x?x?xf32>
  %m = attn.mask %s by causal<top_left> : tensor<?x2x?x?xf32>
  %p = attn.softmax %m : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
  return %o : tensor<?x?x2x64xf32>
}

// CHECK-LABEL: attention_0__opencl
// CHECK: gpu_block<OpenCL>
// CHECK: gpu_block
// CHECK: gpu_block

// Queries (32 of 65) and, of a tile, two of keys, scores, weights and values at a
// time (32 of 65). Where queries lie nothing else ever lies.
// CHECK: allocate allocgroup__query.{{[0-9]+}}__{{.*}}[float32 * 6240] in GPUShared
// Two queries of a thread: two factors, maximum, sum and four channels each.
// CHECK: allocate state.{{[0-9]+}}[float32 * 16] in Register
// CHECK: gpu_thread<OpenCL> (.thread_id_y, 0, 16)
// CHECK: gpu_thread<OpenCL> (.thread_id_x, 0, 16)

// CHECK: produce query
// CHECK: gpu_thread_barrier
// CHECK: produce state

// Full tiles: keys and values are brought once for all queries, no select.
// CHECK: for (state.s1
// CHECK-NOT: select(
// CHECK: produce wideKeys0
// CHECK-NOT: select(
// CHECK: arg1[
// CHECK-NOT: arg1[
// CHECK: gpu_thread_barrier
// CHECK: produce visible0
// CHECK-NOT: select(
// CHECK: gpu_thread_barrier
// CHECK: produce tileMax0
// Registers of a thread are nothing to wait for.
// CHECK: gpu_thread_barrier
// CHECK-NOT: gpu_thread_barrier
// CHECK: produce weights0
// CHECK-NOT: arg1[
// CHECK: gpu_thread_barrier
// CHECK: produce wideValues0
// CHECK-NOT: select(
// CHECK: arg2[
// CHECK-NOT: arg2[
// CHECK: gpu_thread_barrier
// CHECK: produce mix0
// CHECK-NOT: select(
// CHECK: state.{{[0-9]+}}[0] =
// CHECK: gpu_thread_barrier
// CHECK-NOT: gpu_thread_barrier
// Between the loops.
// CHECK: free
// CHECK: gpu_thread_barrier

// Partial tiles hide what is not visible.
// CHECK: for (state.s2
// CHECK: produce wideKeys1
// CHECK: produce visible1
// CHECK: select(
// CHECK: produce weights1
// CHECK: produce wideValues1

// CHECK: result[

// NO-TENSOR: allocate allocgroup
// NO-TENSOR-NOT: in Heap
// NO-TENSOR-NOT: allocate {{.*}}in GPUShared

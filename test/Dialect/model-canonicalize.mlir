// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

attn.dim @batch range(4, 4)
attn.dim @sequence range(1, 512)

// CHECK-LABEL: func.func @fixed_size_is_a_constant
// CHECK-DAG: %[[BATCH:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[SEQUENCE:.*]] = attn.dim_size @sequence
// CHECK: return %[[BATCH]], %[[SEQUENCE]]
func.func @fixed_size_is_a_constant() -> (index, index) {
  %0 = attn.dim_size @batch
  %1 = attn.dim_size @sequence
  return %0, %1 : index, index
}

// -----

// A call of tensors has no effect: unused, it goes.
attn.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %x : tensor<2xf32>
}
// CHECK-LABEL: func.func @unused_call
// CHECK-NEXT: return
func.func @unused_call(%x: tensor<2xf32>) {
  %0 = attn.call @k ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @call_that_writes_memory
// CHECK-NEXT: attn.call @k
func.func @call_that_writes_memory(%x: memref<2xf32>, %y: memref<2xf32>) {
  attn.call @k ins(%x : memref<2xf32>) outs(%y : memref<2xf32>)
  return
}

// A check stays although nothing uses it.
// CHECK-LABEL: func.func @check_stays
// CHECK-NEXT: attn.check_ids
func.func @check_stays(%ids: tensor<?xi64>) {
  attn.check_ids %ids below(3) name("ids") : tensor<?xi64>
  return
}

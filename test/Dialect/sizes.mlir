// RUN: attn-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --split-input-file | FileCheck %s

// The sizes of results lead back to the arguments.

// CHECK-LABEL: func.func @attention_of_layout_bhsd
// CHECK-SAME: %[[X:arg0]]: tensor<?x?x12xf32>, %[[Y:arg1]]: tensor<?x?x12xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %[[C1]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[Y]], %[[C1]]
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK: return %[[C4]], %[[M]], %[[B]], %[[N]]
func.func @attention_of_layout_bhsd(%x: tensor<?x?x12xf32>, %y: tensor<?x?x12xf32>) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %q = attn.split_heads %x heads(4) layout(bhsd) : tensor<?x?x12xf32> -> tensor<?x4x?x3xf32>
  %k = attn.split_heads %y heads(4) layout(bhsd) : tensor<?x?x12xf32> -> tensor<?x4x?x3xf32>
  %s = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x3xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x?xf32>
  %t = attn.mask %s by causal<top_left> : tensor<?x4x?x?xf32>
  %p, %lse = attn.softmax %t : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o = attn.mix %p, %k layout(bhsd) : tensor<?x4x?x?xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x3xf32>
  %z = attn.merge_heads %o layout(bhsd) : tensor<?x4x?x3xf32> -> tensor<?x?x12xf32>
  %heads = tensor.dim %lse, %c1 : tensor<?x4x?xf32>
  %keys = tensor.dim %p, %c3 : tensor<?x4x?x?xf32>
  %batch = tensor.dim %lse, %c0 : tensor<?x4x?xf32>
  %queries = tensor.dim %z, %c1 : tensor<?x?x12xf32>
  return %heads, %keys, %batch, %queries : index, index, index, index
}

// -----

// CHECK-LABEL: func.func @layers
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %[[C0]]
// CHECK-DAG: %[[S:.*]] = tensor.dim %arg0, %[[C1]]
// CHECK: return %[[B]], %[[S]]
func.func @layers(%ids: tensor<?x?xi64>, %t: tensor<10x8xf32>, %w: tensor<6x8xf32>, %g: tensor<6xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = attn.embedding %ids, %t : tensor<?x?xi64>, tensor<10x8xf32> -> tensor<?x?x8xf32>
  %1 = attn.learned_positions %0, %t : tensor<?x?x8xf32>, tensor<10x8xf32>
  %2 = attn.linear %1, %w : tensor<?x?x8xf32>, tensor<6x8xf32> -> tensor<?x?x6xf32>
  %3 = attn.layer_norm %2, %g, %g epsilon(1.0e-5) : tensor<?x?x6xf32>, tensor<6xf32>, tensor<6xf32>
  %r = attn.rms_norm %3, %g epsilon(1.0e-5) : tensor<?x?x6xf32>, tensor<6xf32>
  %4 = attn.pool %r<mean> : tensor<?x?x6xf32> -> tensor<?x6xf32>
  %5 = attn.l2_normalize %4 epsilon(1.0e-12) : tensor<?x6xf32>
  %batch = tensor.dim %5, %c0 : tensor<?x6xf32>
  %sequence = tensor.dim %3, %c1 : tensor<?x?x6xf32>
  return %batch, %sequence : index, index
}

// -----

// CHECK-LABEL: func.func @fused
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %[[C1]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg1, %[[C0]]
// CHECK: return %[[N]], %[[M]]
func.func @fused(%q: tensor<?x?x4x8xf32>, %x: tensor<?x8xf32>, %w: tensor<1x8x24xf32>, %c: f32) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %o, %lse = attn.attention %q, %q, %q scale(%c : f32) layout(bshd)
      : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
  %y = attn.fused_linear %x, %w : tensor<?x8xf32>, tensor<1x8x24xf32> -> tensor<?x20xf32>
  %queries = tensor.dim %lse, %c2 : tensor<?x4x?xf32>
  %rows = tensor.dim %y, %c0 : tensor<?x20xf32>
  return %queries, %rows : index, index
}

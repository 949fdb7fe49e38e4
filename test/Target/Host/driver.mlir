// RUN: attn-opt %s --emit=host | FileCheck %s

// The host function over buffers: ids are checked first, calls write to their
// destination, slices and reshapes are views, and the last kernel writes the
// caller's memory. Arguments: inputs, outputs, weights, dims, workspace.
attn.dim @batch range(1, 8)
attn.dim @sequence range(1, 32)
attn.weight @table value<dense<1.0> : tensor<9x24xf32>> : tensor<9x24xf32>
attn.weight @qkv value<dense<0.5> : tensor<72x24xf32>> : tensor<72x24xf32>

// CHECK-LABEL: func.func private @model__driver_v3(
// CHECK-SAME:    %[[IDS:[^:]+]]: memref<?x?xi64>, %[[OUT:[^:]+]]: memref<?x?x24xf32>,
// CHECK-SAME:    %[[TABLE:[^:]+]]: memref<9x24xf32>, %[[QKV:[^:]+]]: memref<3x24x24xf32>,
// CHECK-SAME:    %[[B:[^:]+]]: index, %[[S:[^:]+]]: index, %[[WORK:[^:]+]]: memref<?xi8>)
// CHECK:         attn.check_ids %[[IDS]] below(9) name("ids") : memref<?x?xi64>
// CHECK:         %[[X:.+]] = memref.view %[[WORK]][{{.+}}][%[[B]], %[[S]]] : memref<?xi8> to memref<?x?x24xf32>
// CHECK-NEXT:    attn.call @embed_0 ins(%[[IDS]], %[[TABLE]] : {{.+}}) outs(%[[X]] :
// CHECK:         %[[ROWS:.+]] = memref.collapse_shape %[[X]]
// CHECK:         attn.call @linear_0 ins(%[[ROWS]], %[[QKV]] : {{.+}}) outs(%[[P:[^ ]+]] :
// CHECK-NOT:     memref.copy
// CHECK-COUNT-3: memref.subview
// CHECK-NOT:     memref.copy
// CHECK:         %[[O:.+]] = memref.expand_shape %[[OUT]]
// CHECK:         attn.call @attention_0 ins({{.+}}strided<[?, 72, 12, 1]>{{.+}}) outs(%[[O]] : memref<?x?x2x12xf32>)
// CHECK-NOT:     memref.copy
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @encode(%ids: tensor<?x?xi64> {attn.name = "ids", attn.dims = ["batch", "sequence"]})
    -> (tensor<?x?x24xf32> {attn.name = "encoded", attn.dims = ["batch", "sequence", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %s = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %table = attn.weight_ref @table : tensor<9x24xf32>
  %w = attn.weight_ref @qkv : tensor<72x24xf32>
  %x = attn.embedding %ids, %table : tensor<?x?xi64>, tensor<9x24xf32> -> tensor<?x?x24xf32>
  %qkv = attn.linear %x, %w : tensor<?x?x24xf32>, tensor<72x24xf32> -> tensor<?x?x72xf32>
  %q0 = tensor.extract_slice %qkv[0, 0, 0] [%b, %s, 24] [1, 1, 1] : tensor<?x?x72xf32> to tensor<?x?x24xf32>
  %k0 = tensor.extract_slice %qkv[0, 0, 24] [%b, %s, 24] [1, 1, 1] : tensor<?x?x72xf32> to tensor<?x?x24xf32>
  %v0 = tensor.extract_slice %qkv[0, 0, 48] [%b, %s, 24] [1, 1, 1] : tensor<?x?x72xf32> to tensor<?x?x24xf32>
  %q = attn.split_heads %q0 heads(2) layout(bshd) : tensor<?x?x24xf32> -> tensor<?x?x2x12xf32>
  %k = attn.split_heads %k0 heads(2) layout(bshd) : tensor<?x?x24xf32> -> tensor<?x?x2x12xf32>
  %v = attn.split_heads %v0 heads(2) layout(bshd) : tensor<?x?x24xf32> -> tensor<?x?x2x12xf32>
  %scores = attn.scores %q, %k layout(bshd) : tensor<?x?x2x12xf32>, tensor<?x?x2x12xf32> -> tensor<?x2x?x?xf32>
  %p = attn.softmax %scores : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x12xf32> -> tensor<?x?x2x12xf32>
  %y = attn.merge_heads %o layout(bshd) : tensor<?x?x2x12xf32> -> tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
}

// RUN: attn-opt %s --split-input-file --attn-fuse-linear | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-fuse-linear --remarks-filter='attn-fuse-linear' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Query, key and value of self-attention; key and value have fewer heads.
// REMARK: remark: [Passed] projections-concatenated | Category:attn-fuse-linear | Function=self_attention | Layers=3, Remark=qkv
// CHECK: attn.weight @qkv_weight_0 concat<[@wq, @wk, @wv], axis = 0> : tensor<16x8xf32>
// CHECK: attn.weight @qkv_bias_0 concat<[@bq, @bk, @bv], axis = 0> : tensor<16xf32>
// CHECK-LABEL: func.func @self_attention
// CHECK-DAG: %[[W:.*]] = attn.weight_ref @qkv_weight_0
// CHECK-DAG: %[[B:.*]] = attn.weight_ref @qkv_bias_0
// CHECK: %[[Y:.*]] = attn.fused_linear %{{.*}}, %[[W]] capture(%[[B]] : tensor<16xf32>)
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [2, 3, 16]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[WIDE]][0, 0, 0] [2, 3, 8] [1, 1, 1]
// CHECK: %[[K:.*]] = tensor.extract_slice %[[WIDE]][0, 0, 8] [2, 3, 4] [1, 1, 1]
// CHECK: %[[V:.*]] = tensor.extract_slice %[[WIDE]][0, 0, 12] [2, 3, 4] [1, 1, 1]
// CHECK: %[[QH:.*]] = tensor.expand_shape %[[Q]] {{\[}}[0], [1], [2, 3]] output_shape [2, 3, 2, 4]
// CHECK: %[[KH:.*]] = tensor.expand_shape %[[K]] {{\[}}[0], [1], [2, 3]] output_shape [2, 3, 1, 4]
// CHECK: %[[VH:.*]] = tensor.expand_shape %[[V]] {{\[}}[0], [1], [2, 3]] output_shape [2, 3, 1, 4]
// CHECK: attn.attention %[[QH]], %[[KH]], %[[VH]]
attn.weight @wq source<"m.safetensors", "q"> : tensor<8x8xf32>
attn.weight @wk source<"m.safetensors", "k"> : tensor<4x8xf32>
attn.weight @wv source<"m.safetensors", "v"> : tensor<4x8xf32>
attn.weight @bq source<"m.safetensors", "bq"> : tensor<8xf32>
attn.weight @bk source<"m.safetensors", "bk"> : tensor<4xf32>
attn.weight @bv source<"m.safetensors", "bv"> : tensor<4xf32>
func.func @self_attention(%x: tensor<2x3x8xf32>, %c: f32) -> tensor<2x3x2x4xf32> {
  %wq = attn.weight_ref @wq : tensor<8x8xf32>
  %wk = attn.weight_ref @wk : tensor<4x8xf32>
  %wv = attn.weight_ref @wv : tensor<4x8xf32>
  %bq = attn.weight_ref @bq : tensor<8xf32>
  %bk = attn.weight_ref @bk : tensor<4xf32>
  %bv = attn.weight_ref @bv : tensor<4xf32>
  %v = attn.linear %x, %wv bias(%bv) : tensor<2x3x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  %q = attn.linear %x, %wq bias(%bq) : tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32> -> tensor<2x3x8xf32>
  %k = attn.linear %x, %wk bias(%bk) : tensor<2x3x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  %qh = attn.split_heads %q heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %kh = attn.split_heads %k heads(1) layout(bshd) : tensor<2x3x4xf32> -> tensor<2x3x1x4xf32>
  %vh = attn.split_heads %v heads(1) layout(bshd) : tensor<2x3x4xf32> -> tensor<2x3x1x4xf32>
  %o = attn.attention %qh, %kh, %vh scale(%c : f32) layout(bshd) : tensor<2x3x2x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32> -> tensor<2x3x2x4xf32>
  return %o : tensor<2x3x2x4xf32>
}

// -----

// Cross-attention: key and value read the memory.
// REMARK: projections-concatenated | {{.*}}| Function=cross_attention | Layers=2, Remark=kv
// CHECK: attn.weight @kv_weight_0 concat<[@wk, @wv], axis = 0> : tensor<16x8xf32>
// CHECK-LABEL: func.func @cross_attention
// CHECK-DAG: %[[WQ:.*]] = attn.weight_ref @wq
// CHECK-DAG: %[[WKV:.*]] = attn.weight_ref @kv_weight_0
// CHECK-DAG: attn.fused_linear %{{.*}}, %[[WQ]] : tensor<6x8xf32>
// CHECK-DAG: attn.fused_linear %{{.*}}, %[[WKV]] : tensor<10x8xf32>
attn.weight @wq source<"m.safetensors", "q"> : tensor<8x8xf32>
attn.weight @wk source<"m.safetensors", "k"> : tensor<8x8xf32>
attn.weight @wv source<"m.safetensors", "v"> : tensor<8x8xf32>
func.func @cross_attention(%x: tensor<2x3x8xf32>, %memory: tensor<2x5x8xf32>, %c: f32) -> tensor<2x3x2x4xf32> {
  %wq = attn.weight_ref @wq : tensor<8x8xf32>
  %wk = attn.weight_ref @wk : tensor<8x8xf32>
  %wv = attn.weight_ref @wv : tensor<8x8xf32>
  %q = attn.linear %x, %wq : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %k = attn.linear %memory, %wk : tensor<2x5x8xf32>, tensor<8x8xf32> -> tensor<2x5x8xf32>
  %v = attn.linear %memory, %wv : tensor<2x5x8xf32>, tensor<8x8xf32> -> tensor<2x5x8xf32>
  %qh = attn.split_heads %q heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %kh = attn.split_heads %k heads(2) layout(bshd) : tensor<2x5x8xf32> -> tensor<2x5x2x4xf32>
  %vh = attn.split_heads %v heads(2) layout(bshd) : tensor<2x5x8xf32> -> tensor<2x5x2x4xf32>
  %o = attn.attention %qh, %kh, %vh scale(%c : f32) layout(bshd) : tensor<2x3x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x3x2x4xf32>
  return %o : tensor<2x3x2x4xf32>
}

// -----

// A projection with another user stays a layer of its own.
// CHECK-NOT: concat<
// CHECK-LABEL: func.func @keys_have_another_user
// CHECK-COUNT-2: attn.fused_linear
attn.weight @wk source<"m.safetensors", "k"> : tensor<8x8xf32>
attn.weight @wv source<"m.safetensors", "v"> : tensor<8x8xf32>
func.func @keys_have_another_user(%x: tensor<2x3x8xf32>, %qh: tensor<2x3x2x4xf32>, %c: f32) -> (tensor<2x3x2x4xf32>, tensor<2x3x8xf32>) {
  %wk = attn.weight_ref @wk : tensor<8x8xf32>
  %wv = attn.weight_ref @wv : tensor<8x8xf32>
  %k = attn.linear %x, %wk : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %v = attn.linear %x, %wv : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %kh = attn.split_heads %k heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %vh = attn.split_heads %v heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %o = attn.attention %qh, %kh, %vh scale(%c : f32) layout(bshd) : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32> -> tensor<2x3x2x4xf32>
  return %o, %k : tensor<2x3x2x4xf32>, tensor<2x3x8xf32>
}

// -----

// REMARK: remark: [Missed] projections-not-concatenated | {{.*}}| Function=weights_are_arguments | Reason="a weight is not an attn.weight", Remark=kv
// CHECK-LABEL: func.func @weights_are_arguments
// CHECK-COUNT-2: attn.fused_linear
func.func @weights_are_arguments(%x: tensor<2x3x8xf32>, %wk: tensor<8x8xf32>, %wv: tensor<8x8xf32>, %qh: tensor<2x3x2x4xf32>, %c: f32) -> tensor<2x3x2x4xf32> {
  %k = attn.linear %x, %wk : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %v = attn.linear %x, %wv : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %kh = attn.split_heads %k heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %vh = attn.split_heads %v heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %o = attn.attention %qh, %kh, %vh scale(%c : f32) layout(bshd) : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32> -> tensor<2x3x2x4xf32>
  return %o : tensor<2x3x2x4xf32>
}

// -----

// REMARK: remark: [Missed] projections-not-concatenated | {{.*}}| Function=one_bias | Reason="one layer has a bias and another has none", Remark=kv
// CHECK-LABEL: func.func @one_bias
// CHECK-COUNT-2: attn.fused_linear
attn.weight @wk source<"m.safetensors", "k"> : tensor<8x8xf32>
attn.weight @wv source<"m.safetensors", "v"> : tensor<8x8xf32>
attn.weight @bv source<"m.safetensors", "bv"> : tensor<8xf32>
func.func @one_bias(%x: tensor<2x3x8xf32>, %qh: tensor<2x3x2x4xf32>, %c: f32) -> tensor<2x3x2x4xf32> {
  %wk = attn.weight_ref @wk : tensor<8x8xf32>
  %wv = attn.weight_ref @wv : tensor<8x8xf32>
  %bv = attn.weight_ref @bv : tensor<8xf32>
  %k = attn.linear %x, %wk : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  %v = attn.linear %x, %wv bias(%bv) : tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32> -> tensor<2x3x8xf32>
  %kh = attn.split_heads %k heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %vh = attn.split_heads %v heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %o = attn.attention %qh, %kh, %vh scale(%c : f32) layout(bshd) : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32> -> tensor<2x3x2x4xf32>
  return %o : tensor<2x3x2x4xf32>
}

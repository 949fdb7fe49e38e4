// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// Rules that change scores, rotary positions, caches.

// CHECK-LABEL: func.func @softcap
// CHECK: attn.softcap %{{.*}} cap(%{{.*}} : f32) : tensor<?x12x?x?xf16>
func.func @softcap(%s: tensor<?x12x?x?xf16>, %cap: f32) -> tensor<?x12x?x?xf16> {
  %0 = attn.softcap %s cap(%cap : f32) : tensor<?x12x?x?xf16>
  return %0 : tensor<?x12x?x?xf16>
}

// CHECK-LABEL: func.func @alibi
// CHECK: attn.alibi %{{.*}} : tensor<2x12x7x?xf32>
// CHECK: attn.alibi %{{.*}} aligned(bottom_right) : tensor<2x12x7x?xf32>
// CHECK: attn.alibi %{{.*}} slopes(%{{.*}} : tensor<12xf32>) symmetric aligned(offset, %{{.*}} : tensor<2xi64>) : tensor<2x12x7x?xf32>
func.func @alibi(%s: tensor<2x12x7x?xf32>, %slopes: tensor<12xf32>, %past: tensor<2xi64>) -> tensor<2x12x7x?xf32> {
  %0 = attn.alibi %s : tensor<2x12x7x?xf32>
  %1 = attn.alibi %0 aligned(bottom_right) : tensor<2x12x7x?xf32>
  %2 = attn.alibi %1 slopes(%slopes : tensor<12xf32>) symmetric aligned(offset, %past : tensor<2xi64>) : tensor<2x12x7x?xf32>
  return %2 : tensor<2x12x7x?xf32>
}

// CHECK-LABEL: func.func @t5_bias
// CHECK: attn.t5_bias %{{.*}}, %{{.*}} bidirectional : tensor<2x12x7x?xf32>, tensor<32x12xf32>
// CHECK: attn.t5_bias %{{.*}}, %{{.*}} max_distance(20) aligned(offset, %{{.*}} : tensor<2xi64>) : tensor<2x12x7x?xf32>, tensor<32x12xf32>
func.func @t5_bias(%s: tensor<2x12x7x?xf32>, %table: tensor<32x12xf32>, %past: tensor<2xi64>) -> tensor<2x12x7x?xf32> {
  %0 = attn.t5_bias %s, %table bidirectional : tensor<2x12x7x?xf32>, tensor<32x12xf32>
  %1 = attn.t5_bias %0, %table max_distance(20) aligned(offset, %past : tensor<2xi64>) : tensor<2x12x7x?xf32>, tensor<32x12xf32>
  return %1 : tensor<2x12x7x?xf32>
}

// CHECK-LABEL: func.func @rotary
// CHECK: attn.rotary %{{.*}}, %{{.*}}, %{{.*}} layout(bshd)<half> : tensor<?x?x12x64xf16>, tensor<1x?x32xf32>, tensor<1x?x32xf32>
// CHECK: attn.rotary %{{.*}}, %{{.*}}, %{{.*}} positions(%{{.*}} : tensor<?x?xi64>) layout(bshd)<interleaved> : tensor<?x?x12x64xf16>, tensor<4096x16xf32>, tensor<4096x16xf32>
func.func @rotary(%x: tensor<?x?x12x64xf16>, %cos: tensor<1x?x32xf32>, %table: tensor<4096x16xf32>, %p: tensor<?x?xi64>) -> tensor<?x?x12x64xf16> {
  %0 = attn.rotary %x, %cos, %cos layout(bshd)<half> : tensor<?x?x12x64xf16>, tensor<1x?x32xf32>, tensor<1x?x32xf32>
  %1 = attn.rotary %0, %table, %table positions(%p : tensor<?x?xi64>) layout(bshd)<interleaved> : tensor<?x?x12x64xf16>, tensor<4096x16xf32>, tensor<4096x16xf32>
  return %1 : tensor<?x?x12x64xf16>
}

// CHECK-LABEL: func.func @cache_append
// CHECK: attn.cache_append %{{.*}}, %{{.*}} at(%{{.*}} : tensor<?xi32>) layout(bhsd) : tensor<?x4x2048x64xf32>, tensor<?x4x1x64xf32>
func.func @cache_append(%cache: tensor<?x4x2048x64xf32>, %k: tensor<?x4x1x64xf32>, %length: tensor<?xi32>) -> tensor<?x4x2048x64xf32> {
  %0 = attn.cache_append %cache, %k at(%length : tensor<?xi32>) layout(bhsd) : tensor<?x4x2048x64xf32>, tensor<?x4x1x64xf32>
  return %0 : tensor<?x4x2048x64xf32>
}

// CHECK-LABEL: func.func @merge_attention
// CHECK: %{{.*}}, %{{.*}} = attn.merge_attention (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) layout(bshd) : tensor<?x?x12x64xf32>, tensor<?x12x?xf32>
func.func @merge_attention(%o: tensor<?x?x12x64xf32>, %l: tensor<?x12x?xf32>) -> (tensor<?x?x12x64xf32>, tensor<?x12x?xf32>) {
  %0, %1 = attn.merge_attention (%o, %l), (%o, %l) layout(bshd) : tensor<?x?x12x64xf32>, tensor<?x12x?xf32>
  return %0, %1 : tensor<?x?x12x64xf32>, tensor<?x12x?xf32>
}

// RUN: attn-opt %s --attn-split-keys=chunk=256 --remarks-filter=attn-split-keys --remark-policy=all -o - 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: not attn-opt %s --attn-split-keys=chunk=0 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not attn-opt %s --attn-split-keys=tasks=-1 2>&1 | FileCheck %s --check-prefix=TASKS
// RUN: attn-opt %s --attn-split-keys="chunk=256 tasks=17" | FileCheck %s --check-prefix=MORE

// CHUNK: error: expected chunk >= 1, got 0
// TASKS: error: expected tasks >= 0, got -1
// With more tasks for a device 16 heads are split as well.
// MORE-LABEL: func.func @others
// MORE: chunk(256) {{.*}} -> tensor<?x2x3x16x16xf32>
// REMARK-COUNT-1: remark: [Passed] keys-split
// REMARK-NOT: keys-split

// CHECK-LABEL: func.func @few
// CHECK: %[[PARTS:.+]], %[[LSE:.+]] = attn.attention %arg0, %arg1, %arg1 {{.*}} layout(bshd) chunk(256) : {{.*}} -> tensor<?x2x3x4x16xf32>, tensor<?x2x4x3xf32>
// CHECK: %[[VALUES:.+]] = tensor.collapse_shape %[[PARTS]] {{\[}}[0], [1, 2], [3], [4]] : tensor<?x2x3x4x16xf32> into tensor<?x6x4x16xf32>
// CHECK: attn.attention %{{.*}}, %[[VALUES]], %[[VALUES]] {{.*}} capture(%[[LSE]], %c3{{.*}} layout(sbhd) score {
// CHECK: : tensor<1x6x4x16xf32>, tensor<?x6x4x16xf32>, tensor<?x6x4x16xf32> -> tensor<1x6x4x16xf32>
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x4x16xf32>
func.func @few(%q: tensor<2x3x4x16xf32>, %k: tensor<2x?x4x16xf32>, %c: f32) -> tensor<2x3x4x16xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
      : tensor<2x3x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// Many queries, many heads, few keys, sinks: nothing to split.
// CHECK-LABEL: func.func @others
// CHECK-NOT: chunk
func.func @others(%q: tensor<2x73x4x16xf32>, %k: tensor<2x?x4x16xf32>, %c: f32, %few: tensor<2x3x4x16xf32>, %short: tensor<2x256x4x16xf32>,
                  %wide: tensor<2x3x16x16xf32>, %wide_k: tensor<2x?x16x16xf32>, %t: tensor<4xf32>)
    -> (tensor<2x73x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x16x16xf32>, tensor<2x3x4x16xf32>) {
  %0 = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
      : tensor<2x73x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32> -> tensor<2x73x4x16xf32>
  %1 = attn.attention %few, %short, %short scale(%c : f32) layout(bshd)
      : tensor<2x3x4x16xf32>, tensor<2x256x4x16xf32>, tensor<2x256x4x16xf32> -> tensor<2x3x4x16xf32>
  %2 = attn.attention %wide, %wide_k, %wide_k scale(%c : f32) layout(bshd)
      : tensor<2x3x16x16xf32>, tensor<2x?x16x16xf32>, tensor<2x?x16x16xf32> -> tensor<2x3x16x16xf32>
  %3 = attn.attention %few, %k, %k scale(%c : f32) sinks(%t : tensor<4xf32>) layout(bshd)
      : tensor<2x3x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32> -> tensor<2x3x4x16xf32>
  return %0, %1, %2, %3 : tensor<2x73x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x16x16xf32>, tensor<2x3x4x16xf32>
}

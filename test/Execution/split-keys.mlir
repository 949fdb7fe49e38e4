// Few queries over many keys: chunks of 1024 keys are tasks of their own, and
// are merged by attention over chunks. In each layout, with masks that hide
// whole chunks, rows that see nothing, log-sum-exps, and f16.
//
// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=2 --dim m=0 --dim short=7 --reference
// RUN: attn-run %s --random --dim b=2 --dim m=1024 --dim short=7 --reference
// RUN: attn-run %s --random --dim b=1 --dim m=2500 --dim short=7 --threads=2 --seed=2 --reference
// RUN: attn-run %s --random --dim b=2 --dim m=2049 --dim short=7 --lowering=loops --seed=3 --reference

// CHECK-LABEL: attn.kernel @attention_0(%{{.*}}: tensor<?x2x4x16xf32>
// CHECK: attn.attention {{.*}} layout(bhsd) chunk(1024) {{.*}}-> tensor<?x?x2x4x16xf32>, tensor<?x?x2x4xf32>
// CHECK-LABEL: attn.kernel @attention_1(%{{.*}}: tensor<1x?x4x16xf32>
// CHECK: attn.attention {{.*}} layout(sbhd) score {
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: tensor.extract
// CHECK: -> tensor<1x?x4x16xf32>, tensor<?x4x1xf32>
// Parts of f16 stay f32 until they are merged.
// CHECK: attn.attention {{.*}} layout(sbhd) chunk(1024) mask {
// CHECK: -> tensor<?x2x?x1x8xf32>, tensor<?x?x1x2xf32>
// With sinks, or with few keys, nothing is split.
// CHECK-LABEL: attn.kernel @attention_6
// CHECK: sinks
// CHECK-NOT: chunk
// CHECK: attn.call @attention_6

attn.dim @b range(0, 8)
attn.dim @m range(0, 4096)
attn.dim @short range(0, 1024)

func.func @main(
    %q0: tensor<?x8x1x16xf32> {attn.name = "q0", attn.dims = ["b", "", "", ""]},
    %k0: tensor<?x2x?x16xf32> {attn.name = "k0", attn.dims = ["b", "", "m", ""]},
    %q1: tensor<?x3x2x16xf32> {attn.name = "q1", attn.dims = ["b", "", "", ""]},
    %k1: tensor<?x?x2x16xf32> {attn.name = "k1", attn.dims = ["b", "m", "", ""]},
    %q2: tensor<2x?x1x8xf16> {attn.name = "q2", attn.dims = ["", "b", "", ""]},
    %k2: tensor<?x?x1x8xf16> {attn.name = "k2", attn.dims = ["m", "b", "", ""]},
    %k3: tensor<?x?x2x16xf32> {attn.name = "k3", attn.dims = ["b", "short", "", ""]},
    %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]},
    %sinks: tensor<2xf32> {attn.name = "sinks"})
    -> (tensor<?x8x1x16xf32>, tensor<?x8x1xf32>, tensor<?x3x2x16xf32>, tensor<?x2x3xf32>, tensor<2x?x1x8xf16>,
        tensor<?x3x2x16xf32>, tensor<?x3x2x16xf32>) {
  %s0 = attn.scores %q0, %k0 layout(bhsd) : tensor<?x8x1x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x8x1x?xf32>
  %p0, %l0 = attn.softmax %s0 : tensor<?x8x1x?xf32> -> tensor<?x8x1x?xf32>, tensor<?x8x1xf32>
  %o0 = attn.mix %p0, %k0 layout(bhsd) : tensor<?x8x1x?xf32>, tensor<?x2x?x16xf32> -> tensor<?x8x1x16xf32>

  %s1 = attn.scores %q1, %k1 layout(bshd) : tensor<?x3x2x16xf32>, tensor<?x?x2x16xf32> -> tensor<?x2x3x?xf32>
  %m1 = attn.mask %s1 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x2x3x?xf32>
  %c1 = attn.mask %m1 by causal<bottom_right> : tensor<?x2x3x?xf32>
  %p1, %l1 = attn.softmax %c1 : tensor<?x2x3x?xf32> -> tensor<?x2x3x?xf32>, tensor<?x2x3xf32>
  %o1 = attn.mix %p1, %k1 layout(bshd) : tensor<?x2x3x?xf32>, tensor<?x?x2x16xf32> -> tensor<?x3x2x16xf32>

  %s2 = attn.scores %q2, %k2 layout(sbhd) : tensor<2x?x1x8xf16>, tensor<?x?x1x8xf16> -> tensor<?x1x2x?xf16>
  %m2 = attn.mask %s2 by window<left = 700, right = 0, alignment = bottom_right> : tensor<?x1x2x?xf16>
  %p2 = attn.softmax %m2 : tensor<?x1x2x?xf16> -> tensor<?x1x2x?xf16>
  %o2 = attn.mix %p2, %k2 layout(sbhd) : tensor<?x1x2x?xf16>, tensor<?x?x1x8xf16> -> tensor<2x?x1x8xf16>

  %p3 = attn.softmax %s1 sinks(%sinks : tensor<2xf32>) : tensor<?x2x3x?xf32> -> tensor<?x2x3x?xf32>
  %o3 = attn.mix %p3, %k1 layout(bshd) : tensor<?x2x3x?xf32>, tensor<?x?x2x16xf32> -> tensor<?x3x2x16xf32>

  %s4 = attn.scores %q1, %k3 layout(bshd) : tensor<?x3x2x16xf32>, tensor<?x?x2x16xf32> -> tensor<?x2x3x?xf32>
  %p4 = attn.softmax %s4 : tensor<?x2x3x?xf32> -> tensor<?x2x3x?xf32>
  %o4 = attn.mix %p4, %k3 layout(bshd) : tensor<?x2x3x?xf32>, tensor<?x?x2x16xf32> -> tensor<?x3x2x16xf32>
  return %o0, %l0, %o1, %l1, %o2, %o3, %o4 : tensor<?x8x1x16xf32>, tensor<?x8x1xf32>, tensor<?x3x2x16xf32>, tensor<?x2x3xf32>, tensor<2x?x1x8xf16>, tensor<?x3x2x16xf32>, tensor<?x3x2x16xf32>
}

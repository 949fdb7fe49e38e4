// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=2 --dim n=5 --dim m=9 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=33 --dim m=17 --seed=2 --reference

// Fused and unfused attention with grouped heads give what the definition says:
// a bias and a mask with the log-sum-exp, a soft-cap in front of a window, and
// one behind it, which cannot be fused.

// CHECK-LABEL: func.func @rules
// CHECK-COUNT-2: attn.call @attention_
// CHECK-NOT: attn.call @attention_
// CHECK: attn.call @softmax_0

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 64)
func.func @rules(%q: tensor<?x?x4x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                 %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                 %v: tensor<?x?x2x6xf32> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                 %bias: tensor<4x?x?xf32> {attn.name = "bias", attn.dims = ["", "n", "m"]})
    -> (tensor<?x?x4x6xf32>, tensor<?x4x?xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4x6xf32>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %b0 = attn.bias %s0, %bias : tensor<?x4x?x?xf32>, tensor<4x?x?xf32>
  %m0 = attn.mask %b0 by causal<bottom_right> : tensor<?x4x?x?xf32>
  %p0, %lse = attn.softmax %m0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %v layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x6xf32> -> tensor<?x?x4x6xf32>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %t1 = math.tanh %s1 : tensor<?x4x?x?xf32>
  %m1 = attn.mask %t1 by window<left = 3, right = 2> : tensor<?x4x?x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o1 = attn.mix %p1, %v layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x6xf32> -> tensor<?x?x4x6xf32>
  %s2 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %m2 = attn.mask %s2 by window<left = 3, right = 2> : tensor<?x4x?x?xf32>
  %t2 = math.tanh %m2 : tensor<?x4x?x?xf32>
  %p2 = attn.softmax %t2 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o2 = attn.mix %p2, %v layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x6xf32> -> tensor<?x?x4x6xf32>
  return %o0, %lse, %o1, %o2 : tensor<?x?x4x6xf32>, tensor<?x4x?xf32>, tensor<?x?x4x6xf32>, tensor<?x?x4x6xf32>
}

// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=2 --dim n=5 --dim m=9 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=40 --dim m=17 --seed=2 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=7 --dim m=300 --seed=3 --reference

// A sink of each head joins the sum of a row and nothing else. Rows that see no
// key are zero, and their log-sum-exp is the sink. With a formula of the score,
// and without, which count exponents in different ways.

// CHECK-LABEL: func.func @sinks
// CHECK-COUNT-2: attn.call @attention_
// CHECK-NOT: attn.call @softmax_

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @sinks(%q: tensor<?x?x4x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                 %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                 %t: tensor<4xf32> {attn.name = "t"})
    -> (tensor<?x?x4x8xf32>, tensor<?x4x?xf32>, tensor<?x?x4x8xf32>, tensor<?x4x?xf32>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %m0 = attn.mask %s0 by causal<bottom_right> : tensor<?x4x?x?xf32>
  %p0, %lse0 = attn.softmax %m0 sinks(%t : tensor<4xf32>) : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %t1 = math.tanh %s1 : tensor<?x4x?x?xf32>
  %p1, %lse1 = attn.softmax %t1 sinks(%t : tensor<4xf32>) : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  return %o0, %lse0, %o1, %lse1 : tensor<?x?x4x8xf32>, tensor<?x4x?xf32>, tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
}

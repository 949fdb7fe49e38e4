// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=3 --dim n=5 --dim m=9 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=40 --dim m=3 --reference
// RUN: attn-run %s --random --dim b=2 --dim n=30 --dim m=300 --reference

// Layout sbhd, the sequence in front of the batch: splitting and merging heads
// are views, and no data are moved for the result. The sizes are declared in another
// order than the one in which the arguments use them.

// CHECK-LABEL: func.func @sbhd
// CHECK-NOT: attn.call @generic_
// CHECK: attn.call @attention_
// CHECK-NOT: attn.call @generic_

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @sbhd(%x: tensor<?x?x16xf32> {attn.name = "x", attn.dims = ["n", "b", ""]}, %y: tensor<?x?x8xf32> {attn.name = "y", attn.dims = ["m", "b", ""]}) -> (tensor<?x?x16xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>) {
  %q = attn.split_heads %x heads(2) layout(sbhd) : tensor<?x?x16xf32> -> tensor<?x?x2x8xf32>
  %k = attn.split_heads %y heads(1) layout(sbhd) : tensor<?x?x8xf32> -> tensor<?x?x1x8xf32>
  %s = attn.scores %q, %k layout(sbhd) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x2x?x?xf32>
  %m = attn.mask %s by causal<bottom_right> : tensor<?x2x?x?xf32>
  %p, %lse = attn.softmax %m : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o = attn.mix %p, %k layout(sbhd) : tensor<?x2x?x?xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
  %c = attn.merge_heads %o layout(sbhd) : tensor<?x?x2x8xf32> -> tensor<?x?x16xf32>
  %s1 = attn.scores %q, %k layout(sbhd) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x2x?x?xf32>
  %p1 = attn.softmax %s1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o1 = attn.mix %p1, %k layout(sbhd) : tensor<?x2x?x?xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
  return %c, %lse, %o1 : tensor<?x?x16xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>
}

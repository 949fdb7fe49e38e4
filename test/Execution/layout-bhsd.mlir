// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=2 --dim n=5 --dim m=9 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=17 --dim m=3 --reference

// Layout bhsd between split and merged heads is a view; where the result is to
// have it, data are moved.

// CHECK-LABEL: func.func @bhsd
// CHECK: attn.call @generic_0
// CHECK: attn.call @attention_

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 64)
func.func @bhsd(%x: tensor<?x?x16xf32> {attn.name = "x", attn.dims = ["b", "n", ""]}, %y: tensor<?x?x16xf32> {attn.name = "y", attn.dims = ["b", "m", ""]}) -> (tensor<?x?x16xf32>, tensor<?x2x?x8xf32>) {
  %q = attn.split_heads %x heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %k = attn.split_heads %y heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %s = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x?xf32>
  %m = attn.mask %s by causal<bottom_right> : tensor<?x2x?x?xf32>
  %p = attn.softmax %m : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o = attn.mix %p, %k layout(bhsd) : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %c = attn.merge_heads %o layout(bhsd) : tensor<?x2x?x8xf32> -> tensor<?x?x16xf32>
  %s1 = attn.scores %q, %k layout(bhsd) : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x?xf32>
  %p1 = attn.softmax %s1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o1 = attn.mix %p1, %k layout(bhsd) : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  return %c, %o1 : tensor<?x?x16xf32>, tensor<?x2x?x8xf32>
}

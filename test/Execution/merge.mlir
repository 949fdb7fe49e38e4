// RUN: attn-run %s --random --dim b=2 --dim n=5 --dim m=9 --dim p=300 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=40 --dim m=40 --dim p=0 --seed=2 --reference
// RUN: attn-run %s --random --dim b=2 --dim n=3 --dim m=0 --dim p=0 --seed=3 --reference
// RUN: attn-run %s --random --dim b=2 --dim n=1 --dim m=1 --dim p=7 --seed=4 --reference

// Attention over past keys and over new ones, merged, with rotary positions. A part
// without keys, or whose keys a row does not see, leaves the other one as it is.

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(0, 64)
attn.dim @p range(0, 512)
func.func @merge(%x: tensor<?x?x4x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                 %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                 %past: tensor<?x?x2x8xf32> {attn.name = "past", attn.dims = ["b", "p", "", ""]},
                 %cos: tensor<?x?x3xf32> {attn.name = "cos", attn.dims = ["b", "n", ""]},
                 %sin: tensor<?x?x3xf32> {attn.name = "sin", attn.dims = ["b", "n", ""]})
    -> (tensor<?x?x4x8xf32>, tensor<?x4x?xf32>) {
  %q = attn.rotary %x, %cos, %sin layout(bshd)<half> : tensor<?x?x4x8xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>
  %s0 = attn.scores %q, %past layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %p0, %lse0 = attn.softmax %s0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %past layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %m1 = attn.mask %s1 by causal<bottom_right> : tensor<?x4x?x?xf32>
  %p1, %lse1 = attn.softmax %m1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  %o, %lse = attn.merge_attention (%o0, %lse0), (%o1, %lse1) layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
}

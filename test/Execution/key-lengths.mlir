// RUN: attn-run %s --random --dim b=3 --dim n=5 --dim m=300 --reference
// RUN: attn-run %s --random --dim b=2 --dim n=150 --dim m=150 --reference

// Where a loop ends is read from memory: the lengths of the keys of each batch
// row, and the position of its first query.

attn.dim @b range(1, 4)
attn.dim @n range(1, 512)
attn.dim @m range(1, 512)
func.func @key_lengths(%q: tensor<?x?x2x32xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                       %k: tensor<?x?x2x32xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                       %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]})
    -> (tensor<?x?x2x32xf32>, tensor<?x2x?xf32>, tensor<?x?x2x32xf32>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32> -> tensor<?x2x?x?xf32>
  %m0 = attn.mask %s0 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p0, %lse = attn.softmax %m0 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x32xf32> -> tensor<?x?x2x32xf32>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32> -> tensor<?x2x?x?xf32>
  %m1 = attn.mask %s1 by causal<offset>(%lengths : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x32xf32> -> tensor<?x?x2x32xf32>
  return %o0, %lse, %o1 : tensor<?x?x2x32xf32>, tensor<?x2x?xf32>, tensor<?x?x2x32xf32>
}

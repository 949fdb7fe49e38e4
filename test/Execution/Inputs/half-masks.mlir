// Masks of which none is full and none is empty, on numbers of 16 bits.
attn.dim @b range(0, 8)
attn.dim @n range(0, 512)
attn.dim @m range(0, 512)

func.func @main(%q: tensor<?x?x2x20xHALF> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x20xHALF> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %v: tensor<?x?x2x12xHALF> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]})
    -> (tensor<?x?x2x12xHALF> {attn.name = "chunks"},
        tensor<?x?x2x12xHALF> {attn.name = "causal"},
        tensor<?x?x2x12xHALF> {attn.name = "padded"}) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x20xHALF>, tensor<?x?x2x20xHALF> -> tensor<?x2x?x?xHALF>
  %s0 = attn.mask %s by all_of<[chunked<size = 51, alignment = top_left>]> : tensor<?x2x?x?xHALF>
  %p0 = attn.softmax %s0 : tensor<?x2x?x?xHALF> -> tensor<?x2x?x?xHALF>
  %o0 = attn.mix %p0, %v layout(bshd) : tensor<?x2x?x?xHALF>, tensor<?x?x2x12xHALF> -> tensor<?x?x2x12xHALF>
  %s1 = attn.mask %s by causal<bottom_right> : tensor<?x2x?x?xHALF>
  %p1 = attn.softmax %s1 : tensor<?x2x?x?xHALF> -> tensor<?x2x?x?xHALF>
  %o1 = attn.mix %p1, %v layout(bshd) : tensor<?x2x?x?xHALF>, tensor<?x?x2x12xHALF> -> tensor<?x?x2x12xHALF>
  %s2 = attn.mask %s by key_lengths(%lengths : tensor<?xi64>) : tensor<?x2x?x?xHALF>
  %p2 = attn.softmax %s2 : tensor<?x2x?x?xHALF> -> tensor<?x2x?x?xHALF>
  %o2 = attn.mix %p2, %v layout(bshd) : tensor<?x2x?x?xHALF>, tensor<?x?x2x12xHALF> -> tensor<?x?x2x12xHALF>
  return %o0, %o1, %o2 : tensor<?x?x2x12xHALF>, tensor<?x?x2x12xHALF>, tensor<?x?x2x12xHALF>
}

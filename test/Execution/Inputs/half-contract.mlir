// HALF stands for f16 or bf16, D for the size of a head.
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @attend(%q: tensor<1x?x2xDxHALF> {attn.name = "q", attn.dims = ["", "n", "", ""]},
                  %k: tensor<1x?x2xDxHALF> {attn.name = "k", attn.dims = ["", "m", "", ""]},
                  %v: tensor<1x?x2xDxHALF> {attn.name = "v", attn.dims = ["", "m", "", ""]},
                  %mask: tensor<?x?xHALF> {attn.name = "mask", attn.dims = ["n", "m"]})
    -> (tensor<1x?x2xDxHALF> {attn.name = "o"}) {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x?x2xDxHALF>, tensor<1x?x2xDxHALF> -> tensor<1x2x?x?xHALF>
  %x = attn.mask %s by dense(%mask : tensor<?x?xHALF>) : tensor<1x2x?x?xHALF>
  %p = attn.softmax %x : tensor<1x2x?x?xHALF> -> tensor<1x2x?x?xHALF>
  %o = attn.mix %p, %v layout(bshd) : tensor<1x2x?x?xHALF>, tensor<1x?x2xDxHALF> -> tensor<1x?x2xDxHALF>
  return %o : tensor<1x?x2xDxHALF>
}

// A projection and attention of its rows with themselves.
attn.dim @n range(1, 64)
func.func @tune(%x: tensor<1x?x32xf32> {attn.name = "x", attn.dims = ["", "n", ""]},
                %w: tensor<32x32xf32> {attn.name = "w"}) -> (tensor<1x?x4x8xf32> {attn.name = "y"}) {
  %y = attn.linear %x, %w : tensor<1x?x32xf32>, tensor<32x32xf32> -> tensor<1x?x32xf32>
  %q = attn.split_heads %y heads(4) layout(bshd) : tensor<1x?x32xf32> -> tensor<1x?x4x8xf32>
  %s = attn.scores %q, %q layout(bshd) : tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32> -> tensor<1x4x?x?xf32>
  %p = attn.softmax %s : tensor<1x4x?x?xf32> -> tensor<1x4x?x?xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x4x?x?xf32>, tensor<1x?x4x8xf32> -> tensor<1x?x4x8xf32>
  return %o : tensor<1x?x4x8xf32>
}

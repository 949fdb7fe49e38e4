// A model without attention.
func.func @linear(%x: tensor<2x8xf32> {attn.name = "x"}, %w: tensor<8x8xf32> {attn.name = "w"})
    -> (tensor<2x8xf32> {attn.name = "y"}) {
  %y = attn.linear %x, %w : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

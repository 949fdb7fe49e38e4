attn.dim @unused range(1, 4)
func.func @f(%x: tensor<4xf32> {attn.name = "x"}) -> (tensor<4xf32> {attn.name = "y"}) {
  %0 = attn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

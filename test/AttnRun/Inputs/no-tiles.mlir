func.func @activate(%x: tensor<8xf32> {attn.name = "x"}) -> (tensor<8xf32> {attn.name = "y"}) {
  %y = attn.relu %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

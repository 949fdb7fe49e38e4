attn.weight @w source<"none.safetensors", "w"> : tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = attn.weight_ref @w : tensor<4xf32>
  %0 = arith.addf %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

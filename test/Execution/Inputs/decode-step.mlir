// One step of a decoder block of width 256: a new position behind those that a cache of keys and values holds, a number of
// its own for each batch row; 4 query heads and 2 heads of keys and values.
attn.dim @batch range(1, 64)
attn.dim @room range(1, 4096)
attn.weight @query_weight source<"weights.safetensors", "query.weight"> : tensor<256x256xf32>
attn.weight @query_bias source<"weights.safetensors", "query.bias"> : tensor<256xf32>
attn.weight @key_weight source<"weights.safetensors", "key.weight"> : tensor<128x256xf32>
attn.weight @key_bias source<"weights.safetensors", "key.bias"> : tensor<128xf32>
attn.weight @value_weight source<"weights.safetensors", "value.weight"> : tensor<128x256xf32>
attn.weight @value_bias source<"weights.safetensors", "value.bias"> : tensor<128xf32>
attn.weight @output_weight source<"weights.safetensors", "output.weight"> : tensor<256x256xf32>
attn.weight @output_bias source<"weights.safetensors", "output.bias"> : tensor<256xf32>
attn.weight @up_weight source<"weights.safetensors", "up.weight"> : tensor<1024x256xf32>
attn.weight @up_bias source<"weights.safetensors", "up.bias"> : tensor<1024xf32>
attn.weight @down_weight source<"weights.safetensors", "down.weight"> : tensor<256x1024xf32>
attn.weight @down_bias source<"weights.safetensors", "down.bias"> : tensor<256xf32>
attn.weight @norm1_gamma source<"weights.safetensors", "norm1.gamma"> : tensor<256xf32>
attn.weight @norm1_beta source<"weights.safetensors", "norm1.beta"> : tensor<256xf32>
attn.weight @norm2_gamma source<"weights.safetensors", "norm2.gamma"> : tensor<256xf32>
attn.weight @norm2_beta source<"weights.safetensors", "norm2.beta"> : tensor<256xf32>

func.func @step(%x: tensor<?x1x256xf32> {attn.name = "x", attn.dims = ["batch", "", ""]},
                %cache_k: tensor<?x?x2x64xf32> {attn.name = "cache_k", attn.dims = ["batch", "room", "", ""]},
                %cache_v: tensor<?x?x2x64xf32> {attn.name = "cache_v", attn.dims = ["batch", "room", "", ""]},
                %length: tensor<?xi64> {attn.name = "length", attn.dims = ["batch"]})
    -> (tensor<?x1x256xf32> {attn.name = "y", attn.dims = ["batch", "", ""]},
        tensor<?x?x2x64xf32> {attn.name = "k", attn.dims = ["batch", "room", "", ""]},
        tensor<?x?x2x64xf32> {attn.name = "v", attn.dims = ["batch", "room", "", ""]}) {
  %w_query = attn.weight_ref @query_weight : tensor<256x256xf32>
  %b_query = attn.weight_ref @query_bias : tensor<256xf32>
  %w_key = attn.weight_ref @key_weight : tensor<128x256xf32>
  %b_key = attn.weight_ref @key_bias : tensor<128xf32>
  %w_value = attn.weight_ref @value_weight : tensor<128x256xf32>
  %b_value = attn.weight_ref @value_bias : tensor<128xf32>
  %w_output = attn.weight_ref @output_weight : tensor<256x256xf32>
  %b_output = attn.weight_ref @output_bias : tensor<256xf32>
  %w_up = attn.weight_ref @up_weight : tensor<1024x256xf32>
  %b_up = attn.weight_ref @up_bias : tensor<1024xf32>
  %w_down = attn.weight_ref @down_weight : tensor<256x1024xf32>
  %b_down = attn.weight_ref @down_bias : tensor<256xf32>
  %norm1_gamma = attn.weight_ref @norm1_gamma : tensor<256xf32>
  %norm1_beta = attn.weight_ref @norm1_beta : tensor<256xf32>
  %norm2_gamma = attn.weight_ref @norm2_gamma : tensor<256xf32>
  %norm2_beta = attn.weight_ref @norm2_beta : tensor<256xf32>
  %a = attn.layer_norm %x, %norm1_gamma, %norm1_beta epsilon(1.0e-5) : tensor<?x1x256xf32>, tensor<256xf32>, tensor<256xf32>
  %query = attn.linear %a, %w_query bias(%b_query) : tensor<?x1x256xf32>, tensor<256x256xf32>, tensor<256xf32> -> tensor<?x1x256xf32>
  %query_heads = attn.split_heads %query heads(4) layout(bshd) : tensor<?x1x256xf32> -> tensor<?x1x4x64xf32>
  %key = attn.linear %a, %w_key bias(%b_key) : tensor<?x1x256xf32>, tensor<128x256xf32>, tensor<128xf32> -> tensor<?x1x128xf32>
  %key_heads = attn.split_heads %key heads(2) layout(bshd) : tensor<?x1x128xf32> -> tensor<?x1x2x64xf32>
  %k = attn.cache_append %cache_k, %key_heads at(%length : tensor<?xi64>) layout(bshd) : tensor<?x?x2x64xf32>, tensor<?x1x2x64xf32>
  %value = attn.linear %a, %w_value bias(%b_value) : tensor<?x1x256xf32>, tensor<128x256xf32>, tensor<128xf32> -> tensor<?x1x128xf32>
  %value_heads = attn.split_heads %value heads(2) layout(bshd) : tensor<?x1x128xf32> -> tensor<?x1x2x64xf32>
  %v = attn.cache_append %cache_v, %value_heads at(%length : tensor<?xi64>) layout(bshd) : tensor<?x?x2x64xf32>, tensor<?x1x2x64xf32>
  %scores = attn.scores %query_heads, %k layout(bshd) : tensor<?x1x4x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x4x1x?xf32>
  %visible = attn.mask %scores by causal<offset>(%length : tensor<?xi64>) : tensor<?x4x1x?xf32>
  %weights = attn.softmax %visible : tensor<?x4x1x?xf32> -> tensor<?x4x1x?xf32>
  %heads = attn.mix %weights, %v layout(bshd) : tensor<?x4x1x?xf32>, tensor<?x?x2x64xf32> -> tensor<?x1x4x64xf32>
  %merged = attn.merge_heads %heads layout(bshd) : tensor<?x1x4x64xf32> -> tensor<?x1x256xf32>
  %projected = attn.linear %merged, %w_output bias(%b_output) : tensor<?x1x256xf32>, tensor<256x256xf32>, tensor<256xf32> -> tensor<?x1x256xf32>
  %sum1 = arith.addf %x, %projected : tensor<?x1x256xf32>
  %c = attn.layer_norm %sum1, %norm2_gamma, %norm2_beta epsilon(1.0e-5) : tensor<?x1x256xf32>, tensor<256xf32>, tensor<256xf32>
  %up = attn.linear %c, %w_up bias(%b_up) : tensor<?x1x256xf32>, tensor<1024x256xf32>, tensor<1024xf32> -> tensor<?x1x1024xf32>
  %active = attn.gelu %up<erf> : tensor<?x1x1024xf32>
  %down = attn.linear %active, %w_down bias(%b_down) : tensor<?x1x1024xf32>, tensor<256x1024xf32>, tensor<256xf32> -> tensor<?x1x256xf32>
  %sum2 = arith.addf %sum1, %down : tensor<?x1x256xf32>
  return %sum2, %k, %v : tensor<?x1x256xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>
}

// Multi-head self-attention: every token sees every token.
// Model width 512, 8 heads of 64; projections with bias, as in "Attention Is All You Need", section 3.2.2.
// The weights come from weights.safetensors beside this file (make_weights.py writes one).
attn.dim @batch range(1, 64)
attn.dim @sequence range(1, 16384)
attn.weight @query_weight source<"weights.safetensors", "query.weight"> : tensor<512x512xf32>
attn.weight @query_bias source<"weights.safetensors", "query.bias"> : tensor<512xf32>
attn.weight @key_weight source<"weights.safetensors", "key.weight"> : tensor<512x512xf32>
attn.weight @key_bias source<"weights.safetensors", "key.bias"> : tensor<512xf32>
attn.weight @value_weight source<"weights.safetensors", "value.weight"> : tensor<512x512xf32>
attn.weight @value_bias source<"weights.safetensors", "value.bias"> : tensor<512xf32>
attn.weight @output_weight source<"weights.safetensors", "output.weight"> : tensor<512x512xf32>
attn.weight @output_bias source<"weights.safetensors", "output.bias"> : tensor<512xf32>

func.func @self_attention(
    %x: tensor<?x?x512xf32> {attn.name = "x", attn.dims = ["batch", "sequence", ""]})
    -> (tensor<?x?x512xf32> {attn.name = "y", attn.dims = ["batch", "sequence", ""]}) {
  %wq = attn.weight_ref @query_weight : tensor<512x512xf32>
  %bq = attn.weight_ref @query_bias : tensor<512xf32>
  %wk = attn.weight_ref @key_weight : tensor<512x512xf32>
  %bk = attn.weight_ref @key_bias : tensor<512xf32>
  %wv = attn.weight_ref @value_weight : tensor<512x512xf32>
  %bv = attn.weight_ref @value_bias : tensor<512xf32>
  %wo = attn.weight_ref @output_weight : tensor<512x512xf32>
  %bo = attn.weight_ref @output_bias : tensor<512xf32>
  %q = attn.linear %x, %wq bias(%bq) : tensor<?x?x512xf32>, tensor<512x512xf32>, tensor<512xf32> -> tensor<?x?x512xf32>
  %qh = attn.split_heads %q heads(8) layout(bshd) : tensor<?x?x512xf32> -> tensor<?x?x8x64xf32>
  %k = attn.linear %x, %wk bias(%bk) : tensor<?x?x512xf32>, tensor<512x512xf32>, tensor<512xf32> -> tensor<?x?x512xf32>
  %kh = attn.split_heads %k heads(8) layout(bshd) : tensor<?x?x512xf32> -> tensor<?x?x8x64xf32>
  %v = attn.linear %x, %wv bias(%bv) : tensor<?x?x512xf32>, tensor<512x512xf32>, tensor<512xf32> -> tensor<?x?x512xf32>
  %vh = attn.split_heads %v heads(8) layout(bshd) : tensor<?x?x512xf32> -> tensor<?x?x8x64xf32>
  %scores = attn.scores %qh, %kh layout(bshd) : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x8x?x?xf32>
  %weights = attn.softmax %scores : tensor<?x8x?x?xf32> -> tensor<?x8x?x?xf32>
  %heads = attn.mix %weights, %vh layout(bshd) : tensor<?x8x?x?xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32>
  %merged = attn.merge_heads %heads layout(bshd) : tensor<?x?x8x64xf32> -> tensor<?x?x512xf32>
  %y = attn.linear %merged, %wo bias(%bo) : tensor<?x?x512xf32>, tensor<512x512xf32>, tensor<512xf32> -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

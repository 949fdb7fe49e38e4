attn.dim @n range(1, 4096)
attn.kernel @linear_0(%x: tensor<?x96xbf16>, %w: tensor<64x96xbf16>, %b: tensor<64xbf16>) -> tensor<?x64xbf16> {
  %y = attn.fused_linear %x, %w capture(%b : tensor<64xbf16>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %bias: tensor<64xbf16>):
    %0 = tensor.extract %bias[%n] : tensor<64xbf16>
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.addf %acc, %1 : f32
    attn.yield %2 : f32
  } : tensor<?x96xbf16>, tensor<64x96xbf16> -> tensor<?x64xbf16>
  attn.yield %y : tensor<?x64xbf16>
}
func.func @main(%x: tensor<?x96xbf16> {attn.dims = ["n", ""]}, %w: tensor<64x96xbf16>, %b: tensor<64xbf16>) -> (tensor<?x64xbf16> {attn.dims = ["n", ""]}) {
  %n = attn.dim_size @n
  %init = tensor.empty(%n) : tensor<?x64xbf16>
  %y = attn.call @linear_0 ins(%x, %w, %b : tensor<?x96xbf16>, tensor<64x96xbf16>, tensor<64xbf16>) outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

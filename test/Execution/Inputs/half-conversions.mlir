// Kernels that do nothing but convert.
attn.dim @n range(1, 131072)
func.func @convert(%f16: tensor<?xf16> {attn.name = "f16", attn.dims = ["n"]},
                   %bf16: tensor<?xbf16> {attn.name = "bf16", attn.dims = ["n"]},
                   %f32: tensor<?xf32> {attn.name = "f32", attn.dims = ["n"]})
    -> (tensor<?xf32> {attn.name = "from_f16"}, tensor<?xf32> {attn.name = "from_bf16"},
        tensor<?xf16> {attn.name = "to_f16"}, tensor<?xbf16> {attn.name = "to_bf16"}) {
  %0 = arith.extf %f16 : tensor<?xf16> to tensor<?xf32>
  %1 = arith.extf %bf16 : tensor<?xbf16> to tensor<?xf32>
  %2 = arith.truncf %f32 : tensor<?xf32> to tensor<?xf16>
  %3 = arith.truncf %f32 : tensor<?xf32> to tensor<?xbf16>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf16>, tensor<?xbf16>
}

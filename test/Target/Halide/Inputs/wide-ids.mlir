// Token ids of 64 bits.
func.func @main(%ids: tensor<?xi64> {attn.dims = ["n"]}, %table: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.embedding %ids, %table : tensor<?xi64>, tensor<10x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

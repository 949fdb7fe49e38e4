// RUN: attn-run %s --random --dim b=2 --dim n=30 --dim m=150 --reference
// RUN: attn-run %s --random --dim b=3 --dim n=1 --dim m=7 --reference

// Masks that do not ask which key it is: of rows, of heads, of a batch row.

attn.dim @b range(0, 8)
attn.dim @n range(0, 512)
attn.dim @m range(0, 512)
func.func @main(%q: tensor<?x?x2x4xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x4xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %rows: tensor<?x1x?x1xf32> {attn.name = "rows", attn.dims = ["b", "", "n", ""]},
                %heads: tensor<2x1x1xi1> {attn.name = "heads", attn.dims = ["", "", ""]},
                %batch: tensor<?x1x1x1xi1> {attn.name = "batch", attn.dims = ["b", "", "", ""]})
    -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x2x?x?xf32>
  %m0 = attn.mask %s by dense(%rows : tensor<?x1x?x1xf32>) : tensor<?x2x?x?xf32>
  %p0 = attn.softmax %m0 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %m1 = attn.mask %s by dense(%heads : tensor<2x1x1xi1>) : tensor<?x2x?x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %m2 = attn.mask %s by not<dense>(%batch : tensor<?x1x1x1xi1>) : tensor<?x2x?x?xf32>
  %p2 = attn.softmax %m2 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o2 = attn.mix %p2, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o0, %o1, %o2 : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}

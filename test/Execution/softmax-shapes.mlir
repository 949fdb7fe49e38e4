// RUN: attn-run %s --random --dim b=3 --dim m=37 --reference
// RUN: attn-run %s --random --dim b=1 --dim m=2100 --reference
// RUN: attn-run %s --random --dim b=0 --dim m=5 --reference

// A softmax asks for the lines of its result and of the rows that follow, which
// dimensions of one element, and rows that are the last, have not.

attn.dim @b range(0, 8)
attn.dim @m range(1, 4096)
func.func @softmax(%x: tensor<?x1x1x?xf32> {attn.name = "x", attn.dims = ["b", "", "", "m"]},
                   %y: tensor<1x?xf32> {attn.name = "y", attn.dims = ["", "m"]},
                   %z: tensor<?xf32> {attn.name = "z", attn.dims = ["m"]},
                   %w: tensor<?x5x7x16xf32> {attn.name = "w", attn.dims = ["b", "", "", ""]},
                   %h: tensor<?x3x?xf16> {attn.name = "h", attn.dims = ["b", "", "m"]})
    -> (tensor<?x1x1x?xf32>, tensor<1x?xf32>, tensor<?xf32>, tensor<?x5x7x16xf32>, tensor<?x3x?xf16>) {
  %0 = attn.softmax %x : tensor<?x1x1x?xf32> -> tensor<?x1x1x?xf32>
  %1 = attn.softmax %y : tensor<1x?xf32> -> tensor<1x?xf32>
  %2 = attn.softmax %z : tensor<?xf32> -> tensor<?xf32>
  %3 = attn.softmax %w : tensor<?x5x7x16xf32> -> tensor<?x5x7x16xf32>
  %4 = attn.softmax %h : tensor<?x3x?xf16> -> tensor<?x3x?xf16>
  return %0, %1, %2, %3, %4 : tensor<?x1x1x?xf32>, tensor<1x?xf32>, tensor<?xf32>, tensor<?x5x7x16xf32>, tensor<?x3x?xf16>
}

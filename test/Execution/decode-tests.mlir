// Few queries whose tiles are tested when the kernel runs. Five rows fill no
// whole number of vectors of four: in each output one row is the only one that
// sees a key, and none may be forgotten.
//
// RUN: attn-opt %s --emit=tiled --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --random --dim b=3 --dim m=1 --reference --tolerance=2e-6,2e-5
// RUN: attn-run %s --target=x86-64-v2 --random --dim b=2 --dim m=9 --reference --tolerance=2e-6,2e-5
// RUN: attn-run %s --target=x86-64-v3 --random --dim b=2 --dim m=1 --seed=2 --reference --tolerance=2e-6,2e-5

// CHECK: attn.tile_any
// CHECK: attn.tile_any

attn.dim @b range(0, 8)
attn.dim @m range(0, 512)

func.func @main(
    %q: tensor<?x5x1x8xf32> {attn.name = "q", attn.dims = ["b", "", "", ""]},
    %k: tensor<?x?x1x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
    %rows: tensor<?x1x5x1xi1> {attn.name = "rows", attn.dims = ["b", "", "", ""]})
    -> (tensor<?x5x1x8xf32>, tensor<?x5x1x8xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x5x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x1x5x?xf32>
  %m0 = attn.mask %s by dense(%rows : tensor<?x1x5x1xi1>) : tensor<?x1x5x?xf32>
  %p0 = attn.softmax %m0 : tensor<?x1x5x?xf32> -> tensor<?x1x5x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x1x5x?xf32>, tensor<?x?x1x8xf32> -> tensor<?x5x1x8xf32>
  %m1 = attn.mask %m0 by causal<bottom_right> : tensor<?x1x5x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x1x5x?xf32> -> tensor<?x1x5x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x1x5x?xf32>, tensor<?x?x1x8xf32> -> tensor<?x5x1x8xf32>
  return %o0, %o1 : tensor<?x5x1x8xf32>, tensor<?x5x1x8xf32>
}

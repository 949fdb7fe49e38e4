// Chunks whose sizes share no factor meet in a different way in each of many
// tiles. The bounds of loops do not list them all: tiles become more, and what
// is compiled stays short.
//
// RUN: attn-opt %s --emit=tiled --target=x86-64-v3 -o %t
// RUN: %python -c "import sys; longest = max(map(len, open(sys.argv[1]))); assert 200 < longest < 2500, longest" %t
// RUN: attn-run %s --random --dim b=2 --dim n=150 --dim m=200 --reference --tolerance=2e-6,2e-5

attn.dim @b range(0, 8)
attn.dim @n range(0, 512)
attn.dim @m range(0, 512)

func.func @main(%q: tensor<?x?x2x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %x: tensor<?xi64> {attn.name = "x", attn.dims = ["b"]},
                %y: tensor<?xi64> {attn.name = "y", attn.dims = ["b"]})
    -> (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m0 = attn.mask %s by not<any_of<[chunked<size = 2, alignment = bottom_right>, window<left = 136, right = 38, alignment = offset>]>>(%x : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %m1 = attn.mask %m0 by chunked<size = 12, alignment = offset>(%y : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p0 = attn.softmax %m1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %m2 = attn.mask %s by chunked<size = 13, alignment = bottom_right> : tensor<?x2x?x?xf32>
  %m3 = attn.mask %m2 by any_of<[chunked<size = 42, alignment = offset>, window<left = 5, right = 3, alignment = top_left>]>(%x : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p1 = attn.softmax %m3 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  return %o0, %o1 : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>
}

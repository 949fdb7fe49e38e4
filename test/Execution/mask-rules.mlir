// REQUIRES: python-numpy, avx2
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/mask_cases.py %t
// RUN: attn-run %s --target=x86-64-v3 --reference --case=%t/one.npz --case=%t/tile.npz --case=%t/tile-plus-1.npz --case=%t/tile-minus-1.npz --case=%t/no-queries.npz --case=%t/no-keys.npz --case=%t/many-queries.npz --case=%t/many-keys.npz --case=%t/bad-keys.npz --case=%t/bad-scattered.npz
// RUN: attn-run %s --lowering=loops --reference --case=%t/tile-plus-1.npz --case=%t/no-keys.npz --case=%t/bad-scattered.npz
// RUN: attn-run %s --target=x86-64-v2 --reference --case=%t/tile-plus-1.npz --case=%t/many-keys.npz --case=%t/bad-keys.npz
// RUN: attn-run %s --lowering=loops --reference --case=%t/one.npz --case=%t/tile-minus-1.npz --case=%t/no-keys.npz --case=%t/bad-keys.npz

// Rules of every kind, compiled, give what the definition says: one range of keys or
// several, tiles that are tested by arithmetic or by asking the mask, rows that see
// nothing (their log-sum-exp is -inf).

attn.dim @b range(0, 4)
attn.dim @n range(0, 1024)
attn.dim @m range(0, 1024)
func.func @mask_rules(%q: tensor<?x?x2x8xf32> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                      %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                      %query_ids: tensor<?x?xi64> {attn.name = "query_ids", attn.dims = ["b", "n"]},
                      %key_ids: tensor<?x?xi64> {attn.name = "key_ids", attn.dims = ["b", "m"]},
                      %query_flags: tensor<?x?xi1> {attn.name = "query_flags", attn.dims = ["b", "n"]},
                      %key_flags: tensor<?x?xi1> {attn.name = "key_flags", attn.dims = ["b", "m"]},
                      %prefix: tensor<?xi64> {attn.name = "prefix", attn.dims = ["b"]},
                      %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]})
    -> (
      tensor<?x?x2x8xf32> {attn.name = "documents"},
      tensor<?x2x?xf32> {attn.name = "documents_lse"},
      tensor<?x?x2x8xf32> {attn.name = "causal_documents"},
      tensor<?x2x?xf32> {attn.name = "causal_documents_lse"},
      tensor<?x?x2x8xf32> {attn.name = "window_and_prefix"},
      tensor<?x2x?xf32> {attn.name = "window_and_prefix_lse"},
      tensor<?x?x2x8xf32> {attn.name = "longformer"},
      tensor<?x2x?xf32> {attn.name = "longformer_lse"},
      tensor<?x?x2x8xf32> {attn.name = "dilated"},
      tensor<?x2x?xf32> {attn.name = "dilated_lse"},
      tensor<?x?x2x8xf32> {attn.name = "blocks"},
      tensor<?x2x?xf32> {attn.name = "blocks_lse"},
      tensor<?x?x2x8xf32> {attn.name = "chunked"},
      tensor<?x2x?xf32> {attn.name = "chunked_lse"},
      tensor<?x?x2x8xf32> {attn.name = "far"},
      tensor<?x2x?xf32> {attn.name = "far_lse"},
      tensor<?x?x2x8xf32> {attn.name = "prefix_model"},
      tensor<?x2x?xf32> {attn.name = "prefix_model_lse"},
      tensor<?x?x2x8xf32> {attn.name = "lengths_and_padding"},
      tensor<?x2x?xf32> {attn.name = "lengths_and_padding_lse"},
      tensor<?x?x2x8xf32> {attn.name = "neither"},
      tensor<?x2x?xf32> {attn.name = "neither_lse"},
      tensor<?x?x2x8xf32> {attn.name = "stripes"},
      tensor<?x2x?xf32> {attn.name = "stripes_lse"}) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m0 = attn.mask %s0 by segments(%query_ids, %key_ids : tensor<?x?xi64>, tensor<?x?xi64>) : tensor<?x2x?x?xf32>
  %p0, %l0 = attn.softmax %m0 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o0 = attn.mix %p0, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m1 = attn.mask %s1 by all_of<[causal<bottom_right>, segments]>(%query_ids, %key_ids : tensor<?x?xi64>, tensor<?x?xi64>) : tensor<?x2x?x?xf32>
  %p1, %l1 = attn.softmax %m1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o1 = attn.mix %p1, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s2 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m2 = attn.mask %s2 by any_of<[window<left = 40, right = 8>, prefix]>(%prefix : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p2, %l2 = attn.softmax %m2 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o2 = attn.mix %p2, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s3 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m3 = attn.mask %s3 by any_of<[window<left = 20, right = 20>, global]>(%query_flags, %key_flags : tensor<?x?xi1>, tensor<?x?xi1>) : tensor<?x2x?x?xf32>
  %p3, %l3 = attn.softmax %m3 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o3 = attn.mix %p3, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s4 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m4 = attn.mask %s4 by all_of<[window<left = 150, right = 150>, dilated<step = 4>]> : tensor<?x2x?x?xf32>
  %p4, %l4 = attn.softmax %m4 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o4 = attn.mix %p4, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s5 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m5 = attn.mask %s5 by blocks<query = 16, key = 48> : tensor<?x2x?x?xf32>
  %p5, %l5 = attn.softmax %m5 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o5 = attn.mix %p5, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s6 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m6 = attn.mask %s6 by all_of<[causal<top_left>, chunked<size = 100>]> : tensor<?x2x?x?xf32>
  %p6, %l6 = attn.softmax %m6 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o6 = attn.mix %p6, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s7 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m7 = attn.mask %s7 by not<window<left = 30, right = 100>> : tensor<?x2x?x?xf32>
  %p7, %l7 = attn.softmax %m7 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o7 = attn.mix %p7, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s8 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m8 = attn.mask %s8 by any_of<[causal<top_left>, prefix]>(%prefix : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p8, %l8 = attn.softmax %m8 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o8 = attn.mix %p8, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s9 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m9 = attn.mask %s9 by all_of<[query_lengths, key_padding]>(%lengths, %key_flags : tensor<?xi64>, tensor<?x?xi1>) : tensor<?x2x?x?xf32>
  %p9, %l9 = attn.softmax %m9 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o9 = attn.mix %p9, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  %s10 = attn.scores %q, %k layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x2x?x?xf32>
  %m10 = attn.mask %s10 by not<any_of<[segments, prefix]>>(%query_ids, %key_ids, %prefix : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p10, %l10 = attn.softmax %m10 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>, tensor<?x2x?xf32>
  %o10 = attn.mix %p10, %k layout(bshd) : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  // Every third block of 128 keys, shifted by blocks of 48 queries: no range, but
  // arithmetic tells the tiles.
  %scale = arith.constant 0.35 : f32
  %stripes, %stripes_lse = attn.attention %q, %k, %k scale(%scale : f32) layout(bshd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c48 = arith.constant 48 : index
    %c128 = arith.constant 128 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %i_block = arith.floordivsi %i, %c48 : index
    %j_block = arith.floordivsi %j, %c128 : index
    %sum = arith.addi %i_block, %j_block : index
    %rest = arith.remsi %sum, %c3 : index
    %visible = arith.cmpi eq, %rest, %c0 : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>, tensor<?x2x?xf32>
  return %o0, %l0, %o1, %l1, %o2, %l2, %o3, %l3, %o4, %l4, %o5, %l5, %o6, %l6, %o7, %l7, %o8, %l8, %o9, %l9, %o10, %l10, %stripes, %stripes_lse :
      tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>, tensor<?x?x2x8xf32>, tensor<?x2x?xf32>
}

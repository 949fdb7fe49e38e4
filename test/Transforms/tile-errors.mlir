// RUN: attn-opt %s --attn-tile --split-input-file --verify-diagnostics
// RUN: not attn-opt %s --attn-tile=key-tile=-1 --split-input-file 2>&1 | FileCheck %s
// CHECK: error: expected key-tile >= 0 (because 0 leaves the choice to the target), got -1

module attributes {attn.target = "x86-64-v3"} {
attn.kernel @stale_ranges(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  // expected-error@+1 {{expected key_ranges with 2 symbols (N, M and 0 leaves of the mask), got 3: remove key_ranges and run attn-analyze-masks}}
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1, s2] -> (0)>, full_begin = affine_map<(d0, d1)[s0, s1, s2] -> (0)>,
                full_end = affine_map<(d0, d1)[s0, s1, s2] -> (0)>, end = affine_map<(d0, d1)[s0, s1, s2] -> (s1)>>] exact = false, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}
}

// -----

module attributes {attn.target = "x86-64-v3"} {
attn.kernel @ranges_without_mask(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  // expected-error@+1 {{expected no key_ranges (because there is no mask region), got #attn.key_ranges<}}
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0)>, full_begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                full_end = affine_map<(d0, d1)[s0, s1] -> (0)>, end = affine_map<(d0, d1)[s0, s1] -> (s1)>>] exact = false, opaque = false>
  : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}
}

// -----

module attributes {attn.target = "x86-64-v3"} {
attn.kernel @chunk(%q: tensor<?x4x2x16xf32>, %k: tensor<?x?x2x16xf32>) -> (tensor<?x?x4x2x16xf32>, tensor<?x?x2x4xf32>) {
  %c = arith.constant 0.25 : f32
  // expected-error@+1 {{expected chunk to be a multiple of the key tile (256 keys), got 1000}}
  %o, %l = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) chunk(1000)
      : tensor<?x4x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32> -> tensor<?x?x4x2x16xf32>, tensor<?x?x2x4xf32>
  attn.yield %o, %l : tensor<?x?x4x2x16xf32>, tensor<?x?x2x4xf32>
}
}

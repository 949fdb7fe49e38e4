// RUN: attn-opt %s --attn-analyze-masks | FileCheck %s
// RUN: attn-opt %s --attn-analyze-masks --remarks-filter=attn-analyze-masks --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: attn-opt %s --attn-analyze-masks -o %t.mlir
// RUN: attn-opt %t.mlir --attn-analyze-masks | diff %t.mlir -

// Maps are (i0, i1)[N, M, leaves...].
// CHECK-DAG: #[[$ZERO:.+]] = affine_map<(d0, d1)[s0, s1] -> (0)>
// CHECK-DAG: #[[$M:.+]] = affine_map<(d0, d1)[s0, s1] -> (s1)>
// CHECK-DAG: #[[$CAUSAL_FULL:.+]] = affine_map<(d0, d1)[s0, s1] -> (s1, d0 + 1)>
// CHECK-DAG: #[[$CAUSAL_END:.+]] = affine_map<(d0, d1)[s0, s1] -> (s1, d1)>
// CHECK-DAG: #[[$RIGHT_FULL:.+]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s1 - s0 + 1)>
// CHECK-DAG: #[[$RIGHT_END:.+]] = affine_map<(d0, d1)[s0, s1] -> (d1 + s1 - s0)>
// CHECK-DAG: #[[$ZERO_LEAF:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (0)>
// CHECK-DAG: #[[$LENGTH:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (s1, s2)>
// CHECK-DAG: #[[$HEAD_BEGIN:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (0, d0 - s2 * 64)>
// CHECK-DAG: #[[$HEAD_FULL:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (0, d1 - s2 * 64 - 1)>
// CHECK-DAG: #[[$HEAD_FULL_END:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (s1, d0 + 1)>
// CHECK-DAG: #[[$HEAD_END:.+]] = affine_map<(d0, d1)[s0, s1, s2] -> (s1, d1)>
// CHECK-DAG: #[[$WINDOW_BEGIN:.+]] = affine_map<(d0, d1)[s0, s1] -> (0, d0 - 256)>
// CHECK-DAG: #[[$WINDOW_FULL:.+]] = affine_map<(d0, d1)[s0, s1] -> (0, d1 - 257)>
// CHECK-DAG: #[[$BLOCK_BEGIN:.+]] = affine_map<(d0, d1)[s0, s1] -> (0, (d0 floordiv 512) * 512)>
// CHECK-DAG: #[[$BLOCK_END:.+]] = affine_map<(d0, d1)[s0, s1] -> (s1, ((d1 + 511) floordiv 512) * 512)>
// CHECK-DAG: #[[$HEAD_WHERE:.+]] = affine_set<(d0, d1)[s0, s1, s2] : (s2 >= 0, -d0 + s1 + s2 * 64 - 1 >= 0)>
// CHECK-DAG: #[[$WINDOW_WHERE:.+]] = affine_set<(d0, d1)[s0, s1] : (-d0 + s1 + 255 >= 0)>
// CHECK-DAG: #[[$BLOCK_WHERE:.+]] = affine_set<(d0, d1)[s0, s1] : ((d0 floordiv 512) * -512 + s1 - 1 >= 0)>
// CHECK-DAG: #[[$BLOCK_LEFT:.+]] = affine_set<(d0, d1, d2, d3)[s0, s1] : (-d0 + ((d3 + 511) floordiv 512) * 512 - 513 >= 0)>
// CHECK-DAG: #[[$BLOCK_RIGHT:.+]] = affine_set<(d0, d1, d2, d3)[s0, s1] : (-d2 + ((d1 + 511) floordiv 512) * 512 - 513 >= 0)>

// CHECK-LABEL: @no_mask
// CHECK-NOT: key_ranges
attn.kernel @no_mask(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// CHECK-LABEL: @causal_top_left
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$CAUSAL_FULL]], end = #[[$CAUSAL_END]]>] exact = true, opaque = false>
// REMARK: remark: [Analysis] MaskAnalyzed | Category:attn-analyze-masks | Function=causal_top_left | AffineAtoms=1, Exact=true, OpaqueAtoms=0, Ranges=1
attn.kernel @causal_top_left(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Captures that are sizes of the query and the key are N and M.
// CHECK-LABEL: @causal_bottom_right
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$RIGHT_FULL]], end = #[[$RIGHT_END]]>] exact = true, opaque = false>
attn.kernel @causal_bottom_right(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<?x?x2x8xf32>
  %m = tensor.dim %k, %c1 : tensor<?x?x2x8xf32>
  %r = attn.attention %q, %k, %k scale(%c : f32) capture(%n, %m : index, index) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
    %shift = arith.subi %keys, %queries : index
    %last = arith.addi %i, %shift : index
    %visible = arith.cmpi sle, %j, %last : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// What depends on neither i nor j is a symbol, a leaf: here a window that grows with
// the head. Where a window ends before its begin nothing is there.
// CHECK-LABEL: @window_by_head
// CHECK: key_ranges <[<where = #[[$HEAD_WHERE]], begin = #[[$HEAD_BEGIN]], full_begin = #[[$HEAD_FULL]], full_end = #[[$HEAD_FULL_END]], end = #[[$HEAD_END]]>] exact = true, opaque = false>
attn.kernel @window_by_head(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi sle, %j, %i : index
    %step = arith.constant 64 : index
    %width = arith.muli %h, %step : index
    %first = arith.subi %i, %width : index
    %1 = arith.cmpi sge, %j, %first : index
    %visible = arith.andi %0, %1 : i1
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// So is a load that depends on neither: key lengths bound loops.
// CHECK-LABEL: @key_lengths
// CHECK: key_ranges <[<begin = #[[$ZERO_LEAF]], full_begin = #[[$ZERO_LEAF]], full_end = #[[$LENGTH]], end = #[[$LENGTH]]>] exact = true, opaque = false>
attn.kernel @key_lengths(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %lengths: tensor<?xi64>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) capture(%lengths : tensor<?xi64>) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %l: tensor<?xi64>):
    %0 = tensor.extract %l[%b] : tensor<?xi64>
    %1 = arith.index_cast %0 : i64 to index
    %visible = arith.cmpi slt, %j, %1 : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Two-sided distance, by abs: two cases of an integer.
// CHECK-LABEL: @window
// CHECK: key_ranges <[<where = #[[$WINDOW_WHERE]], begin = #[[$WINDOW_BEGIN]], full_begin = #[[$WINDOW_FULL]], full_end = #{{.+}}, end = #{{.+}}>] exact = {{true|false}}, opaque = false>
// REMARK: Function=window | AffineAtoms=1, Exact={{.+}}, OpaqueAtoms=0
attn.kernel @window(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %radius = arith.constant 256 : index
    %0 = arith.subi %i, %j : index
    %distance = math.absi %0 : index
    %visible = arith.cmpi sle, %distance, %radius : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Blocks of 512 that see themselves, by division. Full tiles are tested.
// CHECK-LABEL: @block_local
// CHECK: key_ranges <[<where = #[[$BLOCK_WHERE]], begin = #[[$BLOCK_BEGIN]], full_begin = #[[$ZERO]], full_end = #[[$ZERO]], end = #[[$BLOCK_END]]>] hidden[#[[$BLOCK_LEFT]], #[[$BLOCK_RIGHT]]] exact = true, opaque = false>
attn.kernel @block_local(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %size = arith.constant 512 : index
    %0 = arith.divsi %i, %size : index
    %1 = arith.divsi %j, %size : index
    %visible = arith.cmpi eq, %0, %1 : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// A load that depends on j says nothing: all keys, none full. The causal part of the
// conjunction still bounds the range.
// CHECK-LABEL: @padded_causal
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$ZERO]], end = #[[$CAUSAL_END]]>] exact = false, opaque = true>
// REMARK: Function=padded_causal | AffineAtoms=1, Exact=false, OpaqueAtoms=1
attn.kernel @padded_causal(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %padding: tensor<?x?xi1>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) capture(%padding : tensor<?x?xi1>) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %p: tensor<?x?xi1>):
    %0 = tensor.extract %p[%b, %j] : tensor<?x?xi1>
    %1 = arith.cmpi sle, %j, %i : index
    %visible = arith.andi %0, %1 : i1
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// A product of i and j is not affine.
// CHECK-LABEL: @not_affine
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$ZERO]], end = #[[$M]]>] exact = false, opaque = true>
attn.kernel @not_affine(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.muli %i, %j : index
    %1 = arith.constant 100 : index
    %visible = arith.cmpi sle, %0, %1 : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Ranges that are there are kept: they may have been edited.
// CHECK-LABEL: @keeps_ranges
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$ZERO]], end = #[[$M]]>] exact = false, opaque = false>
attn.kernel @keeps_ranges(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
    key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0)>, full_begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                full_end = affine_map<(d0, d1)[s0, s1] -> (0)>, end = affine_map<(d0, d1)[s0, s1] -> (s1)>>] exact = false, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

// Nine differences of two-sided holes have too many cases: safe, and said. Some of the
// tiles are told by arithmetic.
// CHECK-LABEL: @too_large
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$ZERO]], end = #[[$M]]>] visible[{{.*}}] exact = false, opaque = false>
// REMARK: remark: [Missed] MaskAnalyzed | Category:attn-analyze-masks | Function=too_large | AffineAtoms=9, OpaqueAtoms=0, Ranges=1, Reason="the mask has too many cases to be analyzed exactly, so that tiles are tested when the kernel runs", Suggestion="write it with fewer comparisons, min, max and abs"
attn.kernel @too_large(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c0 = arith.constant 3 : index
    %p0 = arith.addi %j, %c0 : index
    %s0 = arith.subi %i, %p0 : index
    %a0 = math.absi %s0 : index
    %v0 = arith.cmpi ne, %a0, %c0 : index
    %c1 = arith.constant 10 : index
    %p1 = arith.addi %j, %c1 : index
    %s1 = arith.subi %i, %p1 : index
    %a1 = math.absi %s1 : index
    %v1 = arith.cmpi ne, %a1, %c1 : index
    %c2 = arith.constant 17 : index
    %p2 = arith.addi %j, %c2 : index
    %s2 = arith.subi %i, %p2 : index
    %a2 = math.absi %s2 : index
    %v2 = arith.cmpi ne, %a2, %c2 : index
    %c3 = arith.constant 24 : index
    %p3 = arith.addi %j, %c3 : index
    %s3 = arith.subi %i, %p3 : index
    %a3 = math.absi %s3 : index
    %v3 = arith.cmpi ne, %a3, %c3 : index
    %c4 = arith.constant 31 : index
    %p4 = arith.addi %j, %c4 : index
    %s4 = arith.subi %i, %p4 : index
    %a4 = math.absi %s4 : index
    %v4 = arith.cmpi ne, %a4, %c4 : index
    %c5 = arith.constant 38 : index
    %p5 = arith.addi %j, %c5 : index
    %s5 = arith.subi %i, %p5 : index
    %a5 = math.absi %s5 : index
    %v5 = arith.cmpi ne, %a5, %c5 : index
    %c6 = arith.constant 45 : index
    %p6 = arith.addi %j, %c6 : index
    %s6 = arith.subi %i, %p6 : index
    %a6 = math.absi %s6 : index
    %v6 = arith.cmpi ne, %a6, %c6 : index
    %c7 = arith.constant 52 : index
    %p7 = arith.addi %j, %c7 : index
    %s7 = arith.subi %i, %p7 : index
    %a7 = math.absi %s7 : index
    %v7 = arith.cmpi ne, %a7, %c7 : index
    %c8 = arith.constant 59 : index
    %p8 = arith.addi %j, %c8 : index
    %s8 = arith.subi %i, %p8 : index
    %a8 = math.absi %s8 : index
    %v8 = arith.cmpi ne, %a8, %c8 : index
    %x1 = arith.xori %v0, %v1 : i1
    %x2 = arith.xori %x1, %v2 : i1
    %x3 = arith.xori %x2, %v3 : i1
    %x4 = arith.xori %x3, %v4 : i1
    %x5 = arith.xori %x4, %v5 : i1
    %x6 = arith.xori %x5, %v6 : i1
    %x7 = arith.xori %x6, %v7 : i1
    %x8 = arith.xori %x7, %v8 : i1
    attn.yield %x8 : i1
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}

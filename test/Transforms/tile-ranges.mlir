// RUN: attn-opt %s --attn-analyze-masks --attn-tile --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: attn-opt %s --attn-analyze-masks --attn-tile --remarks-filter=attn-tile --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Masks whose visible keys are no single range.
module attributes {attn.target = "x86-64-v3"} {

// A window and 16 keys that all queries see: two ranges. The second begins after
// the tile of the first, and both loops walk over the tiles of both.
// CHECK-LABEL: attn.kernel @two_ranges
// CHECK: %there = arith.cmpi sge, %where, %c0 : index
// CHECK: %[[END:.+]] = arith.select %there, %end, %c0 : index
// CHECK: %begin = affine.max #{{.+}}(%first)
// CHECK: %head_end = affine.min #{{.+}}(%full_begin, %[[END]])
// CHECK: %last_end = affine.max #{{.+}}(%[[END]])
// CHECK: %full:3 = scf.for %t0 =
// CHECK-NOT: attn.tile_mask
// CHECK: %partial:3 = scf.for %t0 =
// CHECK-COUNT-2: arith.select
// CHECK: %keys = affine.min #{{.+}}(%j0, %last_end)
// CHECK: attn.tile_mask
// REMARK: Function=two_ranges | FullTiles=31, Keys=64, PartialTiles=139, Queries=24, RunTimeTiles=0, SkippedTiles=518
attn.kernel @two_ranges(%q: tensor<1x1024x2x64xf32>) -> tensor<1x1024x2x64xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %width = arith.constant 64 : index
    %global = arith.constant 16 : index
    %apart = arith.subi %i, %j : index
    %distance = math.absi %apart : index
    %near = arith.cmpi sle, %distance, %width : index
    %sink = arith.cmpi slt, %j, %global : index
    %visible = arith.ori %near, %sink : i1
    attn.yield %visible : i1
  } : tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32> -> tensor<1x1024x2x64xf32>
  attn.yield %r : tensor<1x1024x2x64xf32>
}

// Every third block: tiles are tested by arithmetic. Each is in one of the two loops.
// CHECK-LABEL: attn.kernel @stripes
// CHECK: %full:3 = scf.for %j0 = %c0 to %c768 step %c64
// CHECK: %hides = arith.cmpi sge, %slack, %c0 : index
// CHECK: %[[FULL:full_.+]] = arith.xori %hides, %true : i1
// CHECK: scf.if %[[FULL]]
// CHECK-NOT: attn.tile_mask
// CHECK: %partial:3 = scf.for %j0 = %c0 to %c768 step %c64
// CHECK: %sees = arith.cmpi sge, %slack, %c0 : index
// CHECK: %hides = arith.cmpi sge, %slack_{{.+}}, %c0 : index
// CHECK: %visit = arith.andi %sees, %hides : i1
// CHECK: scf.if %visit
// CHECK: attn.tile_mask
// REMARK: Function=stripes | FullTiles=112, Keys=64, PartialTiles=32, Queries=24, RunTimeTiles=0, SkippedTiles=240
attn.kernel @stripes(%q: tensor<1x768x2x64xf32>) -> tensor<1x768x2x64xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c128 = arith.constant 128 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %i_block = arith.floordivsi %i, %c128 : index
    %j_block = arith.floordivsi %j, %c128 : index
    %sum = arith.addi %i_block, %j_block : index
    %rest = arith.remsi %sum, %c3 : index
    %visible = arith.cmpi eq, %rest, %c0 : index
    attn.yield %visible : i1
  } : tensor<1x768x2x64xf32>, tensor<1x768x2x64xf32>, tensor<1x768x2x64xf32> -> tensor<1x768x2x64xf32>
  attn.yield %r : tensor<1x768x2x64xf32>
}

// Documents, causal: the mask itself is asked about each tile of the range.
// CHECK-LABEL: attn.kernel @documents
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<1x768xi64>)
// CHECK: %partial:3 = scf.for %j0 = %c0 to %end step %c64
// CHECK: %any = attn.tile_any at(%b, %h, %i0, %j0) rows(%rows) keys(%keys) sizes [24, 64] capture(%[[IDS]] : tensor<1x768xi64>) {
// CHECK: scf.if %any
// CHECK: attn.tile_mask
// REMARK: Function=documents | FullTiles=0, Keys=64, PartialTiles=0, Queries=24, RunTimeTiles=212, SkippedTiles=172
attn.kernel @documents(%q: tensor<1x768x2x64xf32>, %ids: tensor<1x768xi64>) -> tensor<1x768x2x64xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %q, %q scale(%c : f32) capture(%ids : tensor<1x768xi64>) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %id: tensor<1x768xi64>):
    %query = tensor.extract %id[%b, %i] : tensor<1x768xi64>
    %key = tensor.extract %id[%b, %j] : tensor<1x768xi64>
    %same = arith.cmpi eq, %query, %key : i64
    %before = arith.cmpi sle, %j, %i : index
    %visible = arith.andi %same, %before : i1
    attn.yield %visible : i1
  } : tensor<1x768x2x64xf32>, tensor<1x768x2x64xf32>, tensor<1x768x2x64xf32> -> tensor<1x768x2x64xf32>
  attn.yield %r : tensor<1x768x2x64xf32>
}
}

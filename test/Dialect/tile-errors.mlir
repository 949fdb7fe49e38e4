// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @tile_type_rank() {
  // expected-error @+1 {{expected a tile of rank 1 or 2, got rank 3}}
  %0 = attn.tile_fill 0.0 : !attn.tile<2x3x4xf32>
  return
}

// -----

func.func @tile_type_size() {
  // expected-error @+1 {{expected tile sizes of at least 1, got a size of 0}}
  %0 = attn.tile_fill 0.0 : !attn.tile<0x4xf32>
  return
}

// -----

func.func @tile_type_element() {
  // expected-error @+1 {{expected a tile of f32 or f64 (because maxima, sums and products are kept in one of them), got 'f16'}}
  %0 = attn.tile_fill 0.0 : !attn.tile<4xf16>
  return
}

// -----

func.func @tile_load_c1(%x: tensor<?x?xf32>, %i: index) {
  // expected-error @+1 {{expected 2 indices (because tensor has that rank), got 1}}
  %0 = attn.tile_load %x[%i] dims [0, 1] rows(%i) : tensor<?x?xf32> -> !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_load_c2_range(%x: tensor<?x?xf32>, %i: index) {
  // expected-error @+1 {{expected dims to be two different dimensions of a tensor of rank 2, got [0, 2]}}
  %0 = attn.tile_load %x[%i, %i] dims [0, 2] rows(%i) : tensor<?x?xf32> -> !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_load_c2_equal(%x: tensor<?x?xf32>, %i: index) {
  // expected-error @+1 {{expected dims to be two different dimensions of a tensor of rank 2, got [1, 1]}}
  %0 = attn.tile_load %x[%i, %i] dims [1, 1] rows(%i) : tensor<?x?xf32> -> !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_load_c3(%x: tensor<?x?xi32>, %i: index) {
  // expected-error @+1 {{expected a tensor of a float type, got 'i32'}}
  %0 = attn.tile_load %x[%i, %i] dims [0, 1] rows(%i) : tensor<?x?xi32> -> !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_scores_c1(%q: !attn.tile<4x8xf32>, %k: !attn.tile<16x9xf32>, %c: f32) {
  // expected-error @+2 {{'attn.tile_scores' op expected D = 8 in key (because query has D = 8), got 9}}
  // expected-error @+1 {{expected C = 16 in result (because key has C = 16), got 17}}
  %0 = attn.tile_scores %q, %k scale(%c : f32) : !attn.tile<4x8xf32>, !attn.tile<16x9xf32> -> !attn.tile<4x17xf32>
  return
}

// -----

func.func @tile_scores_c2(%q: !attn.tile<4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected four indices in at (because they are b, h, i of row 0 and j of column 0), got 0}}
  %0 = attn.tile_scores %q, %q scale(%c : f32) combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index):
    attn.yield %x : f32
  } : !attn.tile<4x8xf32>, !attn.tile<4x8xf32> -> !attn.tile<4x4xf32>
  return
}

// -----

func.func @tile_scores_c3(%q: !attn.tile<4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected no captures (because there is no region that reads them), got 1}}
  %0 = attn.tile_scores %q, %q scale(%c : f32) capture(%c : f32) : !attn.tile<4x8xf32>, !attn.tile<4x8xf32> -> !attn.tile<4x4xf32>
  return
}

// -----

func.func @tile_scores_c4(%q: !attn.tile<4x8xf32>, %c: f32, %i: index) {
  // expected-error @+1 {{expected 7 arguments in region combine (because it takes q, k, b, h, i, j, d, and 0 captures), got 2}}
  %0 = attn.tile_scores %q, %q scale(%c : f32) at(%i, %i, %i, %i) combine {
  ^bb0(%x: f32, %y: f32):
    attn.yield %x : f32
  } : !attn.tile<4x8xf32>, !attn.tile<4x8xf32> -> !attn.tile<4x4xf32>
  return
}

// -----

func.func @tile_score_c1(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{expected four indices in at (because they are b, h, i of row 0 and j of column 0), got 3}}
  %0 = attn.tile_score %s at(%i, %i, %i) {
  ^bb0(%x: f32, %b: index, %h: index, %n: index, %m: index):
    attn.yield %x : f32
  } : !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_score_c2_empty(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{expected one block in region body, got 0}}
  %0 = attn.tile_score %s at(%i, %i, %i, %i) {
  } : !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_mask_c1(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{expected four indices in at (because they are b, h, i of row 0 and j of column 0), got 5}}
  %0 = attn.tile_mask %s at(%i, %i, %i, %i, %i) {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    %true = arith.constant true
    attn.yield %true : i1
  } : !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_mask_c2_yields(%s: !attn.tile<4x8xf32>, %i: index) {
  %0 = attn.tile_mask %s at(%i, %i, %i, %i) {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    // expected-error @+1 {{expected one value of type 'i1' (because region body yields that), got 'index'}}
    attn.yield %n : index
  } : !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_mask_c2_empty(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{expected one block in region body, got 0}}
  %0 = attn.tile_mask %s at(%i, %i, %i, %i) {
  } : !attn.tile<4x8xf32>
  return
}

// -----

func.func @tile_any_c1(%i: index) {
  // expected-error @+1 {{expected four indices in at (because they are b, h, i of row 0 and j of column 0), got 3}}
  %0 = attn.tile_any at(%i, %i, %i) rows(%i) keys(%i) sizes [4, 8] {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    %true = arith.constant true
    attn.yield %true : i1
  }
  return
}

// -----

func.func @tile_any_c2_yields(%i: index) {
  %0 = attn.tile_any at(%i, %i, %i, %i) rows(%i) keys(%i) sizes [4, 8] {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    // expected-error @+1 {{expected one value of type 'i1' (because region body yields that), got 'index'}}
    attn.yield %n : index
  }
  return
}

// -----

func.func @tile_any_c2_empty(%i: index) {
  // expected-error @+1 {{expected one block in region body, got 0}}
  %0 = attn.tile_any at(%i, %i, %i, %i) rows(%i) keys(%i) sizes [4, 8] {
  }
  return
}

// -----

func.func @tile_any_c3_number(%i: index) {
  // expected-error @+1 {{expected two positive sizes (because they are the rows and keys of a tile), got [4]}}
  %0 = attn.tile_any at(%i, %i, %i, %i) rows(%i) keys(%i) sizes [4] {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    %true = arith.constant true
    attn.yield %true : i1
  }
  return
}

// -----

func.func @tile_any_c3_zero(%i: index) {
  // expected-error @+1 {{expected two positive sizes (because they are the rows and keys of a tile), got [4, 0]}}
  %0 = attn.tile_any at(%i, %i, %i, %i) rows(%i) keys(%i) sizes [4, 0] {
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    %true = arith.constant true
    attn.yield %true : i1
  }
  return
}

// -----

func.func @tile_max_c1(%s: !attn.tile<4x8xf32>, %m: !attn.tile<8xf32>) {
  // expected-error @+1 {{expected R = 4 in carry (because scores has R = 4), got 8}}
  %0 = attn.tile_max %s, %m : !attn.tile<4x8xf32>, !attn.tile<8xf32>
  return
}

// -----

func.func @tile_exp_c1(%s: !attn.tile<4x8xf32>, %m: !attn.tile<8xf32>) {
  // expected-error @+1 {{expected R = 4 in maximum (because scores has R = 4), got 8}}
  %0 = attn.tile_exp %s, %m scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<8xf32>
  return
}

// -----

func.func @tile_rescale_c1(%a: !attn.tile<4x8xf32>, %m: !attn.tile<8xf32>, %n: !attn.tile<8xf32>) {
  // expected-error @+1 {{expected R = 4 in before (because input has R = 4), got 8}}
  %0 = attn.tile_rescale %a from %m to %n scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<8xf32>
  return
}

// -----

func.func @tile_sum_c1(%p: !attn.tile<4x8xf32>, %l: !attn.tile<8xf32>) {
  // expected-error @+1 {{expected R = 4 in carry (because weights has R = 4), got 8}}
  %0 = attn.tile_sum %p, %l : !attn.tile<4x8xf32>, !attn.tile<8xf32>
  return
}

// -----

func.func @tile_mix_c1(%p: !attn.tile<4x8xf32>, %v: !attn.tile<7x16xf32>, %a: !attn.tile<4x15xf32>) {
  // expected-error @+2 {{expected C = 8 in value (because weights has C = 8), got 7}}
  // expected-error @+1 {{expected Dv = 16 in carry (because value has Dv = 16), got 15}}
  %0 = attn.tile_mix %p, %v, %a : !attn.tile<4x8xf32>, !attn.tile<7x16xf32>, !attn.tile<4x15xf32>
  return
}

// -----

func.func @tile_mix_c2(%p: !attn.tile<4x8xf32>, %v: !attn.tile<8x16xf32>, %a: !attn.tile<4x16xf32>, %i: index) {
  // expected-error @+1 {{expected four indices in at (because they are b, h, i of row 0 and j of column 0), got 1}}
  %0 = attn.tile_mix %p, %v, %a at(%i) : !attn.tile<4x8xf32>, !attn.tile<8x16xf32>, !attn.tile<4x16xf32>
  return
}

// -----

func.func @tile_mix_c3(%p: !attn.tile<4x8xf32>, %v: !attn.tile<8x16xf32>, %a: !attn.tile<4x16xf32>, %i: index) {
  // expected-error @+1 {{expected no captures (because there is no region that reads them), got 1}}
  %0 = attn.tile_mix %p, %v, %a capture(%i : index) : !attn.tile<4x8xf32>, !attn.tile<8x16xf32>, !attn.tile<4x16xf32>
  return
}

// -----

func.func @tile_mix_c4(%p: !attn.tile<4x8xf32>, %v: !attn.tile<8x16xf32>, %a: !attn.tile<4x16xf32>, %i: index) {
  // expected-error @+1 {{expected type 'f32' for argument v in region value, got 'f64'}}
  %0 = attn.tile_mix %p, %v, %a at(%i, %i, %i, %i) value {
  ^bb0(%x: f64, %b: index, %h: index, %n: index, %m: index, %d: index):
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } : !attn.tile<4x8xf32>, !attn.tile<8x16xf32>, !attn.tile<4x16xf32>
  return
}

// -----

func.func @tile_finish_c1_c2(%a: !attn.tile<4x8xf32>, %l: !attn.tile<5xf32>, %i: index) {
  // expected-error @+3 {{expected R = 4 in sum (because accumulator has R = 4), got 5}}
  // expected-error @+2 {{expected Dv = 8 in result (because accumulator has Dv = 8), got 7}}
  // expected-error @+1 {{expected at most R = 4 rows in result (because the tile has that many), got 6}}
  %0 = attn.tile_finish %a, %l, %l rows(%i) scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<5xf32> -> tensor<6x7xf32>
  return
}

// -----

func.func @tile_finish_c2_dynamic(%a: !attn.tile<4x8xf32>, %l: !attn.tile<4xf32>, %i: index) {
  // expected-error @+2 {{expected a static Dv in result (because the tile's is), got a dynamic one}}
  // expected-error @+1 {{expected lse of rank 1 (because it is (rows)), got rank 2}}
  %0, %1 = attn.tile_finish %a, %l, %l rows(%i) scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<?x?xf32>, tensor<?x1xf32>
  return
}

// -----

func.func @tile_finish_c3(%a: !attn.tile<4x8xf32>, %l: !attn.tile<4xf32>, %i: index) {
  // expected-error @+2 {{expected a float element type in result, got 'i32'}}
  // expected-error @+1 {{expected a float element type in lse, got 'i64'}}
  %0, %1 = attn.tile_finish %a, %l, %l rows(%i) scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<?x8xi32>, tensor<?xi64>
  return
}

// -----

func.func @tile_score_c3_type(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.tile_score"(%s, %i, %i, %i, %i) <{operandSegmentSizes = array<i32: 1, 4, 0>}> ({
  ^bb0(%x: f32, %b: index, %h: index, %n: index, %m: index):
    attn.yield %x : f32
  }) : (!attn.tile<4x8xf32>, index, index, index, index) -> !attn.tile<4x9xf32>
  return
}

// -----

func.func @tile_mask_c3_type(%s: !attn.tile<4x8xf32>, %i: index) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.tile_mask"(%s, %i, %i, %i, %i) <{operandSegmentSizes = array<i32: 1, 4, 0>}> ({
  ^bb0(%b: index, %h: index, %n: index, %m: index):
    %t = arith.constant true
    attn.yield %t : i1
  }) : (!attn.tile<4x8xf32>, index, index, index, index) -> !attn.tile<4x9xf32>
  return
}

// -----

func.func @tile_max_c2_type(%s: !attn.tile<4x8xf32>, %m: !attn.tile<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {carry, result} have same type}}
  %0 = "attn.tile_max"(%s, %m) : (!attn.tile<4x8xf32>, !attn.tile<4xf32>) -> !attn.tile<5xf32>
  return
}

// -----

func.func @tile_exp_c2_type(%s: !attn.tile<4x8xf32>, %m: !attn.tile<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.tile_exp"(%s, %m) <{scale = 1.0 : f32}> : (!attn.tile<4x8xf32>, !attn.tile<4xf32>) -> !attn.tile<4x9xf32>
  return
}

// -----

func.func @tile_rescale_c2_type(%m: !attn.tile<4xf32>, %n: !attn.tile<5xf32>) {
  // expected-error @+1 {{failed to verify that all of {before, after} have same type}}
  %0 = "attn.tile_rescale"(%m, %m, %n) <{scale = 1.0 : f32}> : (!attn.tile<4xf32>, !attn.tile<4xf32>, !attn.tile<5xf32>) -> !attn.tile<4xf32>
  return
}

// -----

func.func @tile_sum_c2_type(%s: !attn.tile<4x8xf32>, %m: !attn.tile<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {carry, result} have same type}}
  %0 = "attn.tile_sum"(%s, %m) : (!attn.tile<4x8xf32>, !attn.tile<4xf32>) -> !attn.tile<5xf32>
  return
}

// -----

func.func @tile_mix_c5_type(%p: !attn.tile<4x8xf32>, %v: !attn.tile<8x16xf32>, %a: !attn.tile<4x16xf32>) {
  // expected-error @+1 {{failed to verify that all of {carry, result} have same type}}
  %0 = "attn.tile_mix"(%p, %v, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> ({
  }) : (!attn.tile<4x8xf32>, !attn.tile<8x16xf32>, !attn.tile<4x16xf32>) -> !attn.tile<4x17xf32>
  return
}

// -----

func.func @tile_finish_c4_type(%a: !attn.tile<4x8xf32>, %l: !attn.tile<4xf32>, %m: !attn.tile<5xf32>, %i: index) {
  // expected-error @+1 {{failed to verify that all of {sum, maximum} have same type}}
  %0 = "attn.tile_finish"(%a, %l, %m, %i) <{scale = 1.0 : f32}> : (!attn.tile<4x8xf32>, !attn.tile<4xf32>, !attn.tile<5xf32>, index) -> tensor<?x8xf32>
  return
}

// -----

// Nothing is converted between tiles.
func.func @tile_scores_c5_key(%q: !attn.tile<4x8xf64>, %k: !attn.tile<16x8xf32>, %c: f64) {
  // expected-error @+1 {{expected tiles of one element type (because nothing is converted between them), got 'f64' and 'f32'}}
  %0 = attn.tile_scores %q, %k scale(%c : f64) : !attn.tile<4x8xf64>, !attn.tile<16x8xf32> -> !attn.tile<4x16xf64>
  return
}

// -----

func.func @tile_scores_c5_scale(%q: !attn.tile<4x8xf64>, %c: f32) {
  // expected-error @+1 {{expected a scale of type 'f64' (because the tiles hold that), got 'f32'}}
  %0 = attn.tile_scores %q, %q scale(%c : f32) : !attn.tile<4x8xf64>, !attn.tile<4x8xf64> -> !attn.tile<4x4xf64>
  return
}

// -----

func.func @tile_score_c2_double(%s: !attn.tile<4x8xf64>, %i: index) {
  // expected-error @+1 {{expected type 'f64' for argument s in region body, got 'f32'}}
  %0 = attn.tile_score %s at(%i, %i, %i, %i) {
  ^bb0(%x: f32, %b: index, %h: index, %n: index, %m: index):
    // expected-error @+1 {{expected one value of type 'f64' (because region body yields that), got 'f32'}}
    attn.yield %x : f32
  } : !attn.tile<4x8xf64>
  return
}

// -----

func.func @tile_max_c3(%s: !attn.tile<4x8xf64>, %m: !attn.tile<4xf32>) {
  // expected-error @+1 {{expected tiles of one element type (because nothing is converted between them), got 'f64' and 'f32'}}
  %0 = attn.tile_max %s, %m : !attn.tile<4x8xf64>, !attn.tile<4xf32>
  return
}

// -----

func.func @tile_exp_c3(%s: !attn.tile<4x8xf64>, %m: !attn.tile<4xf64>) {
  // expected-error @+1 {{expected a scale of type 'f64' (because the tiles hold that), got 'f32'}}
  %0 = attn.tile_exp %s, %m scale(1.442695) : !attn.tile<4x8xf64>, !attn.tile<4xf64>
  return
}

// -----

func.func @tile_rescale_c3(%l: !attn.tile<4xf32>, %m: !attn.tile<4xf32>) {
  // expected-error @+1 {{expected a scale of type 'f32' (because the tiles hold that), got 'f64'}}
  %0 = attn.tile_rescale %l from %m to %m scale(f64 1.0) : !attn.tile<4xf32>, !attn.tile<4xf32>
  return
}

// -----

func.func @tile_sum_c3(%p: !attn.tile<4x8xf32>, %l: !attn.tile<4xf64>) {
  // expected-error @+1 {{expected tiles of one element type (because nothing is converted between them), got 'f32' and 'f64'}}
  %0 = attn.tile_sum %p, %l : !attn.tile<4x8xf32>, !attn.tile<4xf64>
  return
}

// -----

func.func @tile_mix_c6(%p: !attn.tile<4x8xf32>, %v: !attn.tile<8x2xf64>, %o: !attn.tile<4x2xf32>) {
  // expected-error @+1 {{expected tiles of one element type (because nothing is converted between them), got 'f32' and 'f64'}}
  %0 = attn.tile_mix %p, %v, %o : !attn.tile<4x8xf32>, !attn.tile<8x2xf64>, !attn.tile<4x2xf32>
  return
}

// -----

func.func @tile_finish_c5(%o: !attn.tile<4x2xf64>, %l: !attn.tile<4xf64>, %rows: index) {
  // expected-error @+1 {{expected a scale of type 'f64' (because the tiles hold that), got 'f32'}}
  %0 = attn.tile_finish %o, %l, %l rows(%rows) scale(1.0) : !attn.tile<4x2xf64>, !attn.tile<4xf64> -> tensor<?x2xf64>
  return
}

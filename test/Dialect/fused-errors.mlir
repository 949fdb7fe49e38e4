// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @attention_c1_keys(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x6x4x8xf32>, %c: f32) {
  // expected-error @+1 {{'attn.attention' op expected M = 5 in value (because key has M = 5), got 6}}
  %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c1_value_heads(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x2x8xf32>, %c: f32) {
  // expected-error @+1 {{expected G = 4 in value (because key has G = 4), got 2}}
  %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c2_groups(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x3x8xf32>, %c: f32) {
  // expected-error @+1 {{expected H to be a multiple of G = 3 (because neighbouring query heads share a key and value head), got H = 4}}
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c2_dynamic(%q: tensor<2x3x4x?xf32>, %k: tensor<2x5x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected a static D in query (because the number and the size of heads are compiled in), got a dynamic one}}
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
      : tensor<2x3x4x?xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c3_result(%q: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x16xf32>, %c: f32) {
  // expected-error @+2 {{expected Dv = 16 in result (because value has Dv = 16), got 8}}
  // expected-error @+1 {{expected H = 4 in lse (because query has H = 4), got 3}}
  %o, %lse = attn.attention %q, %q, %v scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x8xf32>, tensor<2x3x3xf32>
  return
}

// -----

func.func @attention_c4_elements(%q: tensor<2x3x4x8xf16>, %v: tensor<2x3x4x8xf64>, %c: f16) {
  // expected-error @+4 {{expected element type 'f32', 'f16' or 'bf16' in value (because query has 'f16' and one type computes with both), got 'f64'}}
  // expected-error @+3 {{expected element type 'f32', 'f16' or 'bf16' in result (because query has 'f16' and one type computes with both), got 'f64'}}
  // expected-error @+2 {{expected a scale of type 'f32' (because query has element type 'f16'), got 'f16'}}
  // expected-error @+1 {{expected element type 'f32' in lse (because query has 'f16'), got 'f16'}}
  %o, %lse = attn.attention %q, %q, %v scale(%c : f16) layout(bshd)
      : tensor<2x3x4x8xf16>, tensor<2x3x4x8xf16>, tensor<2x3x4x8xf64> -> tensor<2x3x4x8xf64>, tensor<2x4x3xf16>
  return
}

// -----

func.func @attention_c5_capture(%q: tensor<2x3x4x8xf32>, %c: f32, %m: memref<3xf32>) {
  // expected-error @+1 {{expected a ranked tensor, an index, an integer or a float for capture 0, got 'memref<3xf32>'}}
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%m : memref<3xf32>) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c6_count(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected 5 arguments in region mask (because it takes b, h, i, j, and 1 captures), got 4}}
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi ule, %j, %i : index
    attn.yield %0 : i1
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c6_types(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+2 {{expected type 'f32' for argument s in region score, got 'f64'}}
  // expected-error @+1 {{expected type 'f32' for capture 0 in region score, got 'index'}}
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%c : f32) layout(bshd) score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %x: index):
    %0 = arith.constant 0.0 : f32
    attn.yield %0 : f32
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c6_blocks(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected one block in region mask, got 2}}
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi ule, %j, %i : index
    cf.br ^bb1
  ^bb1:
    attn.yield %0 : i1
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c7_terminator(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected region mask to end in attn.yield}}
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    llvm.unreachable
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c7_yields(%q: tensor<2x3x4x8xf32>, %c: f32) {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'attn.yield' op expected one value of type 'i1' (because region mask yields that), got 'index'}}
    attn.yield %i : index
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c7_yields_none(%q: tensor<2x3x4x8xf32>, %c: f32) {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{expected one value of type 'i1' (because region mask yields that), got none}}
    attn.yield
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c8_sinks(%q: tensor<2x3x4x8xf32>, %c: f32, %t: tensor<3xf32>) {
  // expected-error @+1 {{expected H = 4 in sinks (because query has H = 4), got 3}}
  %o = attn.attention %q, %q, %q scale(%c : f32) sinks(%t : tensor<3xf32>) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @attention_c9_positive(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected chunk >= 1, got 0}}
  %o, %l = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) chunk(0)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<1x2x3x4x8xf32>, tensor<1x2x4x3xf32>
  return
}

// -----

func.func @attention_c9_lse(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected lse and no sinks with chunk (because the parts are merged by it, and sinks count once), got no lse}}
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) chunk(2)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x2x3x4x8xf32>
  return
}

// -----

func.func @attention_c9_sinks(%q: tensor<2x3x4x8xf32>, %c: f32, %t: tensor<4xf32>) {
  // expected-error @+1 {{expected lse and no sinks with chunk (because the parts are merged by it, and sinks count once), got sinks}}
  %o, %l = attn.attention %q, %q, %q scale(%c : f32) sinks(%t : tensor<4xf32>) layout(bshd) chunk(2)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x2x3x4x8xf32>, tensor<2x2x4x3xf32>
  return
}

// -----

func.func @attention_c3_rank_with_chunk(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected result of rank 5 with chunk, got 'tensor<2x3x4x8xf32>'}}
  %o, %l = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) chunk(2)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>, tensor<2x2x4x3xf32>
  return
}

// -----

func.func @attention_c3_rank(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected lse of rank 3, got 'tensor<2x2x4x3xf32>'}}
  %o, %l = attn.attention %q, %q, %q scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>, tensor<2x2x4x3xf32>
  return
}

// -----

func.func @attention_c9_parts(%q: tensor<2x3x4x8xf32>, %c: f32) {
  // expected-error @+1 {{expected 2 chunks of 2 keys in result (because M = 3), got 'tensor<4x2x3x4x8xf32>'}}
  %o, %l = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) chunk(2)
      : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<4x2x3x4x8xf32>, tensor<2x2x4x3xf32>
  return
}

// -----

func.func @attention_isolated(%q: tensor<2x3x4x8xf32>, %c: f32, %n: index) {
  // expected-note @+1 {{required by region isolation constraints}}
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'arith.cmpi' op using value defined outside the region}}
    %0 = arith.cmpi ule, %j, %n : index
    attn.yield %0 : i1
  } : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @fused_linear_c1_channels(%x: tensor<?x7xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{expected K = 7 in weight (because input has K = 7), got 8}}
  %0 = attn.fused_linear %x, %w : tensor<?x7xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @fused_linear_c1_dynamic(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>) {
  // expected-error @+2 {{expected a static N in weight (because a linear layer's weights are compiled in), got a dynamic one}}
  // expected-error @+1 {{expected a static N in result (because a linear layer's weights are compiled in), got a dynamic one}}
  %0 = attn.fused_linear %x, %w : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @fused_linear_c2_panels(%x: tensor<?x8xf32>, %w: tensor<4x8x24xf32>) {
  // expected-error @+1 {{expected ceil(N / panel) panels in weight (because N = 100 and panel = 24), got 4}}
  %0 = attn.fused_linear %x, %w : tensor<?x8xf32>, tensor<4x8x24xf32> -> tensor<?x100xf32>
  return
}

// -----

func.func @fused_linear_c3_together(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected gamma and epsilon together, and beta with them only (because they ask for a norm), got gamma, no beta and no epsilon}}
  %0 = "attn.fused_linear"(%x, %w, %g) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> ({}) : (tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  // expected-error @+1 {{expected gamma and epsilon together, and beta with them only (because they ask for a norm), got no gamma, beta and no epsilon}}
  %1 = "attn.fused_linear"(%x, %w, %g) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> ({}) : (tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @fused_linear_c3_rms_norm(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{expected N = 4 in gamma (because weight has N = 4), got 3}}
  %0 = attn.fused_linear %x, %w rms_norm(%g : tensor<3xf32>) epsilon(1.0) : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @fused_linear_c3_norm(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %g: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{expected N = 4 in gamma (because weight has N = 4), got 3}}
  // expected-error @+1 {{expected a finite epsilon >= 0 (because it keeps a divisor from zero), got -1.000000e+00}}
  %0 = attn.fused_linear %x, %w layer_norm(%g, %b : tensor<3xf32>, tensor<4xf32>) epsilon(-1.0) : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @fused_linear_c4_result(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{expected M = 2 in result (because input has M = 2), got 3}}
  %0 = attn.fused_linear %x, %w : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @fused_linear_c5_elements(%x: tensor<2x8xf32>, %w: tensor<4x8xf16>, %g: tensor<4xf16>) {
  // expected-error @+4 {{expected element type 'f32' in weight (because input has 'f32'), got 'f16'}}
  // expected-error @+3 {{expected element type 'f32' in gamma (because input has 'f32'), got 'f16'}}
  // expected-error @+2 {{expected element type 'f32' in beta (because input has 'f32'), got 'f16'}}
  // expected-error @+1 {{expected element type 'f32' in result (because input has 'f32'), got 'f16'}}
  %0 = attn.fused_linear %x, %w layer_norm(%g, %g : tensor<4xf16>, tensor<4xf16>) epsilon(1.0) : tensor<2x8xf32>, tensor<4x8xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @fused_linear_c6_capture(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>, %c: memref<4xf32>) {
  // expected-error @+1 {{expected a ranked tensor, an index, an integer or a float for capture 0, got 'memref<4xf32>'}}
  %0 = attn.fused_linear %x, %w capture(%c : memref<4xf32>) : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @fused_linear_c7_region(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 3 arguments in region epilogue (because it takes acc, m, n, and 0 captures), got 1}}
  %0 = attn.fused_linear %x, %w epilogue {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  } : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  return
}

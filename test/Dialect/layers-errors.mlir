// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @linear_c1_channels(%x: tensor<2x7xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{'attn.linear' op expected K = 7 in weight (because input has K = 7), got 8}}
  %0 = attn.linear %x, %w : tensor<2x7xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @linear_c1_rank_0(%x: tensor<f32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{expected input of rank 1 or more (because its last dimension is K), got rank 0}}
  %0 = attn.linear %x, %w : tensor<f32>, tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @linear_c2_bias(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected N = 4 in bias (because weight has N = 4), got 8}}
  %0 = attn.linear %x, %w bias(%b) : tensor<2x8xf32>, tensor<4x8xf32>, tensor<8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @linear_c3_result(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+2 {{expected dimension 0 = 2 in result (because input has dimension 0 = 2), got 3}}
  // expected-error @+1 {{expected N = 4 in result (because weight has N = 4), got 8}}
  %0 = attn.linear %x, %w : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @linear_c3_rank(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{expected result of rank 2 (because it is (dimension 0, N)), got rank 3}}
  %0 = attn.linear %x, %w : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<1x2x4xf32>
  return
}

// -----

func.func @linear_c4_elements(%x: tensor<2x8xf32>, %w: tensor<4x8xf16>, %b: tensor<4xf64>) {
  // expected-error @+3 {{expected element type 'f32' in weight (because input has 'f32'), got 'f16'}}
  // expected-error @+2 {{expected element type 'f32' in bias (because input has 'f32'), got 'f64'}}
  // expected-error @+1 {{expected element type 'f32' in result (because input has 'f32'), got 'f16'}}
  %0 = attn.linear %x, %w bias(%b) : tensor<2x8xf32>, tensor<4x8xf16>, tensor<4xf64> -> tensor<2x4xf16>
  return
}

// -----

func.func @layer_norm_c1_gamma(%x: tensor<2x8xf32>, %g: tensor<7xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected D = 8 in gamma (because input has D = 8), got 7}}
  %0 = attn.layer_norm %x, %g, %b epsilon(1.0e-5) : tensor<2x8xf32>, tensor<7xf32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c1_rank_0(%x: tensor<f32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected input of rank 1 or more (because rows of the last dimension are normalised), got rank 0}}
  %0 = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<f32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c2_negative(%x: tensor<2x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon >= 0 (because it keeps a divisor from zero), got -1.000000e-05}}
  %0 = attn.layer_norm %x, %g, %g epsilon(-1.0e-5) : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c2_infinite(%x: tensor<2x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon >= 0 (because it keeps a divisor from zero), got INF}}
  %0 = attn.layer_norm %x, %g, %g epsilon(0x7FF0000000000000) : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c3_elements(%x: tensor<2x8xf32>, %g: tensor<8xf16>, %b: tensor<8xf64>) {
  // expected-error @+2 {{expected element type 'f32' in gamma (because input has 'f32'), got 'f16'}}
  // expected-error @+1 {{expected element type 'f32' in beta (because input has 'f32'), got 'f64'}}
  %0 = attn.layer_norm %x, %g, %b epsilon(1.0e-5) : tensor<2x8xf32>, tensor<8xf16>, tensor<8xf64>
  return
}

// -----

func.func @embedding_c1_shape(%ids: tensor<2x3xi64>, %t: tensor<10x8xf32>) {
  // expected-error @+2 {{expected dimension 1 = 3 in result (because ids has dimension 1 = 3), got 4}}
  // expected-error @+1 {{expected D = 8 in result (because table has D = 8), got 9}}
  %0 = attn.embedding %ids, %t : tensor<2x3xi64>, tensor<10x8xf32> -> tensor<2x4x9xf32>
  return
}

// -----

func.func @embedding_c2_element(%ids: tensor<2x3xi64>, %t: tensor<10x8xf32>) {
  // expected-error @+1 {{expected element type 'f32' in result (because table has 'f32'), got 'f16'}}
  %0 = attn.embedding %ids, %t : tensor<2x3xi64>, tensor<10x8xf32> -> tensor<2x3x8xf16>
  return
}

// -----

func.func @learned_positions_c1_channels(%x: tensor<2x3x8xf32>, %t: tensor<10x9xf32>) {
  // expected-error @+1 {{expected D = 8 in table (because input has D = 8), got 9}}
  %0 = attn.learned_positions %x, %t : tensor<2x3x8xf32>, tensor<10x9xf32>
  return
}

// -----

func.func @learned_positions_c2_negative(%x: tensor<2x3x8xf32>, %t: tensor<10x8xf32>) {
  // expected-error @+1 {{expected first >= 0 (because it is a row of the table), got -1}}
  %0 = attn.learned_positions %x, %t first(-1) : tensor<2x3x8xf32>, tensor<10x8xf32>
  return
}

// -----

func.func @learned_positions_c2_too_long(%x: tensor<2x9x8xf32>, %t: tensor<10x8xf32>) {
  // expected-error @+1 {{expected S + first <= P = 10 (because the table has one row a position), got S = 9 and first = 2}}
  %0 = attn.learned_positions %x, %t first(2) : tensor<2x9x8xf32>, tensor<10x8xf32>
  return
}

// -----

func.func @learned_positions_c3_element(%x: tensor<2x3x8xf32>, %t: tensor<10x8xf16>) {
  // expected-error @+1 {{expected element type 'f32' in table (because input has 'f32'), got 'f16'}}
  %0 = attn.learned_positions %x, %t : tensor<2x3x8xf32>, tensor<10x8xf16>
  return
}

// -----

func.func @sinusoidal_c1_odd(%x: tensor<2x3x7xf32>) {
  // expected-error @+1 {{expected an even D (because channels come in pairs of sine and cosine), got 7}}
  %0 = attn.sinusoidal %x<halves> : tensor<2x3x7xf32>
  return
}

// -----

func.func @sinusoidal_c1_dynamic(%x: tensor<2x3x?xf32>) {
  // expected-error @+1 {{expected a static D in input (because each channel pair has its frequency), got a dynamic one}}
  %0 = attn.sinusoidal %x<halves> : tensor<2x3x?xf32>
  return
}

// -----

func.func @sinusoidal_c2_base(%x: tensor<2x3x8xf32>) {
  // expected-error @+1 {{expected a finite base > 0, got 0.000000e+00}}
  %0 = attn.sinusoidal %x<halves> base(0.0) : tensor<2x3x8xf32>
  return
}

// -----

func.func @pool_c1_mask(%x: tensor<2x3x8xf32>, %mask: tensor<2x4xi1>) {
  // expected-error @+1 {{expected S = 3 in mask (because input has S = 3), got 4}}
  %0 = attn.pool %x mask(%mask : tensor<2x4xi1>)<mean> : tensor<2x3x8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @pool_c2_result(%x: tensor<2x3x8xf32>) {
  // expected-error @+1 {{expected D = 8 in result (because input has D = 8), got 3}}
  %0 = attn.pool %x<mean> : tensor<2x3x8xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @pool_c3_element(%x: tensor<2x3x8xf32>) {
  // expected-error @+1 {{expected element type 'f32' in result (because input has 'f32'), got 'f16'}}
  %0 = attn.pool %x<mean> : tensor<2x3x8xf32> -> tensor<2x8xf16>
  return
}

// -----

func.func @l2_normalize_c1_rank_0(%x: tensor<f32>) {
  // expected-error @+1 {{expected input of rank 1 or more (because rows of the last dimension are normalised), got rank 0}}
  %0 = attn.l2_normalize %x epsilon(1.0e-12) : tensor<f32>
  return
}

// -----

func.func @l2_normalize_c2_nan(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected a finite epsilon >= 0 (because it keeps a divisor from zero), got nan}}
  %0 = attn.l2_normalize %x epsilon(0x7FF8000000000000) : tensor<2x8xf32>
  return
}

// -----

func.func @pack_c1_panels(%w: tensor<100x8xf32>) {
  // expected-error @+1 {{expected 5 panels in result (because N = 100 channels fill that many of 24), got 4}}
  %0 = attn.pack %w panel(24) : tensor<100x8xf32> -> tensor<4x8x24xf32>
  return
}

// -----

func.func @pack_c1_panel(%w: tensor<96x8xf32>) {
  // expected-error @+1 {{expected panel = 24 in result (because panel is 24), got 16}}
  %0 = attn.pack %w panel(24) : tensor<96x8xf32> -> tensor<4x8x16xf32>
  return
}

// -----

func.func @pack_c1_dynamic(%w: tensor<?x8xf32>) {
  // expected-error @+1 {{expected a static N in weight (because packed weights are laid out ahead of time), got a dynamic one}}
  %0 = attn.pack %w panel(24) : tensor<?x8xf32> -> tensor<4x8x24xf32>
  return
}

// -----

func.func @pack_c2_element(%w: tensor<96x8xf32>) {
  // expected-error @+1 {{expected element type 'f32' in result (because weight has 'f32'), got 'f16'}}
  %0 = attn.pack %w panel(24) : tensor<96x8xf32> -> tensor<4x8x24xf16>
  return
}

// -----

func.func @layer_norm_c4_type(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.layer_norm"(%x, %g, %g) <{epsilon = 1.0 : f64}> : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @rms_norm_c1_gamma(%x: tensor<2x8xf32>, %g: tensor<7xf32>) {
  // expected-error @+1 {{expected D = 8 in gamma (because input has D = 8), got 7}}
  %0 = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<2x8xf32>, tensor<7xf32>
  return
}

// -----

func.func @rms_norm_c1_rank_0(%x: tensor<f32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected input of rank 1 or more (because rows of the last dimension are normalised), got rank 0}}
  %0 = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<f32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c2_negative(%x: tensor<2x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon >= 0 (because it keeps a divisor from zero), got -1.000000e-05}}
  %0 = attn.rms_norm %x, %g epsilon(-1.0e-5) : tensor<2x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c3_elements(%x: tensor<2x8xf32>, %g: tensor<8xf16>) {
  // expected-error @+1 {{expected element type 'f32' in gamma (because input has 'f32'), got 'f16'}}
  %0 = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<2x8xf32>, tensor<8xf16>
  return
}

// -----

func.func @rms_norm_c4_type(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.rms_norm"(%x, %g) <{epsilon = 1.0 : f64}> : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @learned_positions_c4_type(%x: tensor<2x?x8xf32>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.learned_positions"(%x, %t) : (tensor<2x?x8xf32>, tensor<9x8xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @sinusoidal_c3_type(%x: tensor<2x?x8xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.sinusoidal"(%x) <{form = #attn.sinusoid_form<halves>}> : (tensor<2x?x8xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @l2_normalize_c3_type(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.l2_normalize"(%x) <{epsilon = 1.0 : f64}> : (tensor<?x8xf32>) -> tensor<2x8xf32>
  return
}

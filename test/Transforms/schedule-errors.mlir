// RUN: attn-opt %s --attn-schedule --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a module with attn.target (because tile sizes and schedules depend on the CPU), got none: run attn-select-targets}}
attn.kernel @no_target(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// -----

module attributes {attn.target = "pdp-11"} {
// expected-error@+1 {{expected attn.target of the module to be one of x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-amx, arm64, opencl, opencl-sm_80, opencl-sm_90, cuda, cuda-sm_80, cuda-sm_90, vulkan, metal, got "pdp-11"}}
attn.kernel @unknown_target(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}
}

// -----

module attributes {attn.target = "x86-64-v3"} {
attn.kernel @not_tiled(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  // expected-error@+1 {{expected tiled loops in a kernel that is scheduled, got an operation of the fused level: run attn-tile}}
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}
}

// -----

module attributes {attn.target = "x86-64-v3"} {
attn.kernel @input_is_weight(%w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{expected the weight to be an argument of the kernel with this one use (because its layout is changed)}}
  %y = attn.fused_linear %w, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  attn.yield %y : tensor<8x8xf32>
}
}

// RUN: split-file %s %t
// RUN: attn-opt %t/v3.mlir --attn-schedule | FileCheck %t/v3.mlir
// RUN: attn-opt %t/v3.mlir --attn-schedule --attn-verify-tiled -o %t/once.mlir
// RUN: attn-opt %t/once.mlir --attn-schedule | diff %t/once.mlir -
// RUN: attn-opt %t/v3.mlir --attn-schedule --remarks-filter=attn-schedule --remark-policy=all -o /dev/null 2>&1 | FileCheck %t/v3.mlir --check-prefix=REMARK
// RUN: attn-opt %t/v4.mlir --attn-schedule | FileCheck %t/v4.mlir
// RUN: attn-opt %t/amx.mlir --attn-tile --attn-schedule --attn-verify-tiled | FileCheck %t/amx.mlir
// RUN: attn-opt %t/amx.mlir --attn-tile=query-tile=16 --attn-schedule --attn-verify-tiled | FileCheck %t/amx.mlir --check-prefix=SMALL
// RUN: attn-opt %t/doubles.mlir --attn-schedule --attn-verify-tiled | FileCheck %t/doubles.mlir
// RUN: attn-opt %t/doubles.mlir --attn-schedule --remarks-filter=attn-schedule --remark-policy=all -o /dev/null 2>&1 | FileCheck %t/doubles.mlir --check-prefix=REMARK
// RUN: attn-opt %t/v3.mlir '--attn-schedule=loops=true' --attn-verify-tiled | FileCheck %t/v3.mlir --check-prefix=LOOPS --implicit-check-not=linear_schedule --implicit-check-not=panels

//--- v3.mlir
// AVX2 has 16 registers: 4 rows by 3 vectors of columns are 12 sums, 3 vectors of
// weights and a broadcast value.
module attributes {attn.target = "x86-64-v3"} {
// CHECK: attn.weight @w source<"w.safetensors", "w"> : tensor<768x768xf32>
// CHECK-NEXT: attn.weight @w_panels24 pack<@w, panel = 24> : tensor<32x768x24xf32>
attn.weight @w source<"w.safetensors", "w"> : tensor<768x768xf32>

// CHECK-LABEL: attn.kernel @linear
// CHECK-SAME: tensor<32x768x24xf32>
// CHECK-SAME: schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 0, mb = 512>
attn.kernel @linear(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>) -> tensor<?x768xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x768xf32>, tensor<768x768xf32> -> tensor<?x768xf32>
  attn.yield %y : tensor<?x768xf32>
}

// REMARK: remark: [Passed] LinearScheduled | Category:attn-schedule | Function=linear | Columns=24, InputBlock=0, RowBlock=512, Rows=4

// Long sums are blocked: the panel of a block stays in L1.
// CHECK: attn.kernel @pack_0(%[[ARG:.+]]: tensor<768x3072xf32>) -> tensor<32x3072x24xf32> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>}
// CHECK-NEXT: attn.pack %[[ARG]] panel(24)
// CHECK-LABEL: attn.kernel @long
// CHECK-SAME: schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 512, mb = 128>
attn.kernel @long(%x: tensor<?x3072xf32>, %w: tensor<768x3072xf32>) -> tensor<?x768xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x3072xf32>, tensor<768x3072xf32> -> tensor<?x768xf32>
  attn.yield %y : tensor<?x768xf32>
}

// Tiles of 64 channels would leave a third of a panel of 24 empty.
// CHECK-LABEL: attn.kernel @narrow
// CHECK-SAME: schedule = #attn.linear_schedule<vector = 8, mr = 6, nr = 16, kc = 0, mb = 510>
attn.kernel @narrow(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  attn.yield %y : tensor<?x64xf32>
}

// CHECK-LABEL: attn.kernel @norm
// CHECK-SAME: schedule = #attn.rowwise_schedule<vector = 8, rows = 4>
attn.kernel @norm(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// CHECK-LABEL: attn.kernel @softmax
// CHECK-SAME: schedule = #attn.rowwise_schedule<vector = 8, rows = 2>
attn.kernel @softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.softmax %x : tensor<?x8xf32> -> tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// A schedule that is there is kept.
// CHECK-LABEL: attn.kernel @edited
// CHECK-SAME: schedule = #attn.rowwise_schedule<vector = 8, rows = 2>
attn.kernel @edited(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 2>} {
  %y = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// Weights of the model are packed by their recipe, others by a kernel, each once.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x768xf32>, %z: tensor<4x3072xf32>, %v: tensor<768x3072xf32>) -> (tensor<4x768xf32>, tensor<4x768xf32>) {
  // CHECK-NOT: attn.weight_ref @w :
  // CHECK: %[[W:.+]] = attn.weight_ref @w_panels24 : tensor<32x768x24xf32>
  // CHECK: attn.call @linear ins(%{{.+}}, %[[W]] : {{.+}})
  %w = attn.weight_ref @w : tensor<768x768xf32>
  %i = tensor.empty() : tensor<4x768xf32>
  %dx = tensor.cast %x : tensor<4x768xf32> to tensor<?x768xf32>
  %di = tensor.cast %i : tensor<4x768xf32> to tensor<?x768xf32>
  %y = attn.call @linear ins(%dx, %w : tensor<?x768xf32>, tensor<768x768xf32>) outs(%di : tensor<?x768xf32>) -> tensor<?x768xf32>
  // CHECK: %[[INIT:.+]] = tensor.empty() : tensor<32x3072x24xf32>
  // CHECK: %[[P:.+]] = attn.call @pack_0 ins(%{{.+}} : tensor<768x3072xf32>) outs(%[[INIT]] : tensor<32x3072x24xf32>)
  // CHECK: attn.call @long ins(%{{.+}}, %[[P]] : {{.+}})
  %dz = tensor.cast %z : tensor<4x3072xf32> to tensor<?x3072xf32>
  %u = attn.call @long ins(%dz, %v : tensor<?x3072xf32>, tensor<768x3072xf32>) outs(%di : tensor<?x768xf32>) -> tensor<?x768xf32>
  %sy = tensor.cast %y : tensor<?x768xf32> to tensor<4x768xf32>
  %su = tensor.cast %u : tensor<?x768xf32> to tensor<4x768xf32>
  return %sy, %su : tensor<4x768xf32>, tensor<4x768xf32>
}
}

// With loops for all nothing is packed, and another schedule is replaced.
// LOOPS-LABEL: attn.kernel @linear(
// LOOPS-SAME: tensor<768x768xf32>) -> tensor<?x768xf32> attributes {schedule = #attn.loops_schedule}
// LOOPS-LABEL: attn.kernel @edited(
// LOOPS-SAME: schedule = #attn.loops_schedule

//--- doubles.mlir
// Kernels with tensors of f64 are not for Halide, and keep their weights; f64 inside
// a formula on f32 tensors is.
module attributes {attn.target = "x86-64-v3"} {
attn.weight @w source<"w.safetensors", "w"> : tensor<16x8xf64>

// REMARK: remark: [Passed] LoopsScheduled | Category:attn-schedule | Function=linear | Reason="Halide kernels compute in f32, and this one has tensors of f64"
// CHECK-LABEL: attn.kernel @linear(
// CHECK-SAME: tensor<16x8xf64>) -> tensor<?x16xf64> attributes {schedule = #attn.loops_schedule}
attn.kernel @linear(%x: tensor<?x8xf64>, %w: tensor<16x8xf64>) -> tensor<?x16xf64> {
  %y = attn.fused_linear %x, %w : tensor<?x8xf64>, tensor<16x8xf64> -> tensor<?x16xf64>
  attn.yield %y : tensor<?x16xf64>
}

// CHECK-LABEL: attn.kernel @inside(
// CHECK-SAME: schedule = #attn.loops_schedule
attn.kernel @inside(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.extf %x : tensor<8xf32> to tensor<8xf64>
  %1 = math.exp %0 : tensor<8xf64>
  %2 = arith.truncf %1 : tensor<8xf64> to tensor<8xf32>
  attn.yield %2 : tensor<8xf32>
}

// CHECK-LABEL: attn.kernel @scalar(
// CHECK-SAME: schedule = #attn.rowwise_schedule
attn.kernel @scalar(%x: tensor<8xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.extf %in : f32 to f64
    %1 = math.exp %0 : f64
    %2 = arith.truncf %1 : f64 to f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  attn.yield %y : tensor<8xf32>
}

func.func @main(%x: tensor<?x8xf64>, %init: tensor<?x16xf64>) -> tensor<?x16xf64> {
  // CHECK: attn.weight_ref @w : tensor<16x8xf64>
  %w = attn.weight_ref @w : tensor<16x8xf64>
  %y = attn.call @linear ins(%x, %w : tensor<?x8xf64>, tensor<16x8xf64>) outs(%init : tensor<?x16xf64>) -> tensor<?x16xf64>
  return %y : tensor<?x16xf64>
}
}

//--- v4.mlir
// AVX-512 has 32 registers: 6 rows by 4 vectors are 24 sums. A panel of 768 x 64
// is just 3/16 of L2.
module attributes {attn.target = "x86-64-v4"} {
// CHECK-LABEL: attn.kernel @linear
// CHECK-SAME: tensor<12x768x64xf32>
// CHECK-SAME: schedule = #attn.linear_schedule<vector = 16, mr = 6, nr = 64, kc = 0, mb = 510>
attn.kernel @linear(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>) -> tensor<?x768xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x768xf32>, tensor<768x768xf32> -> tensor<?x768xf32>
  attn.yield %y : tensor<?x768xf32>
}
}

//--- amx.mlir
// Products of bf16 numbers go to the matrix unit, with any number of value channels.
module attributes {attn.target = "x86-64-v4-amx"} {
// CHECK-LABEL: attn.kernel @brain
// CHECK-SAME: schedule = #attn.matrix_schedule<vector = 16, key_unroll = 32, value_unroll = 16>
// CHECK: !attn.tile<32x64xf32>
// CHECK: !attn.tile<128x64xf32>
// SMALL-LABEL: attn.kernel @brain
// SMALL-SAME: schedule = #attn.flash_schedule<
attn.kernel @brain(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x80xbf16>) -> tensor<?x?x2x80xbf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x80xbf16> -> tensor<?x?x2x80xbf16>
  attn.yield %r : tensor<?x?x2x80xbf16>
}

// Not those of other numbers,
// CHECK-LABEL: attn.kernel @half
// CHECK-SAME: schedule = #attn.flash_schedule<
attn.kernel @half(%q: tensor<?x?x2x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x80xf16>) -> tensor<?x?x2x80xf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x80xf16> -> tensor<?x?x2x80xf16>
  attn.yield %r : tensor<?x?x2x80xf16>
}

// of channels that are no multiple of 32,
// CHECK-LABEL: attn.kernel @channels
// CHECK-SAME: schedule = #attn.flash_schedule<
attn.kernel @channels(%q: tensor<?x?x2x80xbf16>, %k: tensor<?x?x2x80xbf16>, %v: tensor<?x?x2x80xbf16>) -> tensor<?x?x2x80xbf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x2x80xbf16>, tensor<?x?x2x80xbf16>, tensor<?x?x2x80xbf16> -> tensor<?x?x2x80xbf16>
  attn.yield %r : tensor<?x?x2x80xbf16>
}

// or what is not a product.
// CHECK-LABEL: attn.kernel @sum
// CHECK-SAME: schedule = #attn.flash_schedule<
attn.kernel @sum(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x80xbf16>) -> tensor<?x?x2x80xbf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index):
    %z = arith.addf %x, %y : f32
    attn.yield %z : f32
  } : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x80xbf16> -> tensor<?x?x2x80xbf16>
  attn.yield %r : tensor<?x?x2x80xbf16>
}

// Weights are read as they are, whatever the number of rows: 2 x 512 x 256 bytes
// are half of a quarter of 2 MiB, and 640 outputs are whole groups of 160.
// CHECK-LABEL: attn.kernel @linear(
// CHECK-SAME: tensor<640x512xbf16>
// CHECK-SAME: schedule = #attn.matrix_linear_schedule<vector = 16, nb = 160, mb = 512>
attn.kernel @linear(%x: tensor<?x512xbf16>, %w: tensor<640x512xbf16>) -> tensor<?x640xbf16> {
  %y = attn.fused_linear %x, %w : tensor<?x512xbf16>, tensor<640x512xbf16> -> tensor<?x640xbf16>
  attn.yield %y : tensor<?x640xbf16>
}

// Half of L2 holds 85 rows of 6144 channels: 64.
// CHECK-LABEL: attn.kernel @wide(
// CHECK-SAME: schedule = #attn.matrix_linear_schedule<vector = 16, nb = 32, mb = 64>
attn.kernel @wide(%x: tensor<?x6144xbf16>, %w: tensor<64x6144xbf16>) -> tensor<?x64xbf16> {
  %y = attn.fused_linear %x, %w : tensor<?x6144xbf16>, tensor<64x6144xbf16> -> tensor<?x64xbf16>
  attn.yield %y : tensor<?x64xbf16>
}

// CHECK-LABEL: attn.kernel @outputs(
// CHECK-SAME: schedule = #attn.linear_schedule<
attn.kernel @outputs(%x: tensor<?x512xbf16>, %w: tensor<40x512xbf16>) -> tensor<?x40xbf16> {
  %y = attn.fused_linear %x, %w : tensor<?x512xbf16>, tensor<40x512xbf16> -> tensor<?x40xbf16>
  attn.yield %y : tensor<?x40xbf16>
}

// With a few queries channels are the lanes.
// CHECK-LABEL: attn.kernel @few
// CHECK-SAME: schedule = #attn.decode_schedule<
attn.kernel @few(%q: tensor<?x1x2x64xbf16>, %k: tensor<?x?x2x64xbf16>) -> tensor<?x1x2x64xbf16> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x1x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16> -> tensor<?x1x2x64xbf16>
  attn.yield %r : tensor<?x1x2x64xbf16>
}
}

// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Weights, dimensions, kernels and calls.

// CHECK: attn.dim @batch range(1, 8)
// CHECK: attn.dim @sequence range(0, 2147483647)
attn.dim @batch range(1, 8)
attn.dim @sequence range(0, 2147483647)

// CHECK: attn.weight @query source<"model.safetensors", "layer.0.query.weight"> : tensor<384x384xf32>
// CHECK: attn.weight @key source<"b.safetensors", "k"> : tensor<384x384xf32>
// CHECK: attn.weight @both concat<[@query, @key], axis = 0> : tensor<768x384xf32>
// CHECK: attn.weight @panels pack<@both, panel = 24> : tensor<32x384x24xf32>
// CHECK: attn.weight @tail pack<@query, panel = 100> : tensor<4x384x100xf32>
// CHECK: attn.weight @bias value<dense<[5.000000e-01, 0x7F800000]> : tensor<2xf32>> : tensor<2xf32>
// CHECK: attn.weight @raw bytes<"model.onnx", offset = 1024> : tensor<3xi64>
// GENERIC: "attn.weight"() <{recipe = #attn.source<"model.safetensors", "layer.0.query.weight">, sym_name = "query", type = tensor<384x384xf32>}>
// GENERIC: recipe = #attn.concat<[@query, @key], axis = 0>
attn.weight @query source<"model.safetensors", "layer.0.query.weight"> : tensor<384x384xf32>
attn.weight @key source<"b.safetensors", "k"> : tensor<384x384xf32>
attn.weight @both concat<[@query, @key], axis = 0> : tensor<768x384xf32>
attn.weight @panels pack<@both, panel = 24> : tensor<32x384x24xf32>
attn.weight @tail pack<@query, panel = 100> : tensor<4x384x100xf32>
attn.weight @bias value<dense<[0.5, 0x7F800000]> : tensor<2xf32>> : tensor<2xf32>
attn.weight @raw bytes<"model.onnx", offset = 1024> : tensor<3xi64>

// CHECK-LABEL: func.func @interface(
// CHECK-SAME: tensor<?x?xi64> {attn.dims = ["batch", "sequence"], attn.name = "input_ids"}
// CHECK-SAME: -> (tensor<?x384xf32> {attn.dims = ["batch", ""], attn.name = "embedding"})
// CHECK: attn.check_ids %arg0 below(30522) name("input_ids") : tensor<?x?xi64>
// CHECK: %[[N:.*]] = attn.dim_size @sequence
// CHECK: attn.check_ids %arg0 below(%[[N]]) name("positions")
// CHECK: attn.weight_ref @panels : tensor<32x384x24xf32>
func.func @interface(%ids: tensor<?x?xi64> {attn.name = "input_ids", attn.dims = ["batch", "sequence"]}, %y: tensor<?x384xf32>)
    -> (tensor<?x384xf32> {attn.name = "embedding", attn.dims = ["batch", ""]}) {
  attn.check_ids %ids below(30522) name("input_ids") : tensor<?x?xi64>
  %0 = attn.dim_size @sequence
  attn.check_ids %ids below(%0) name("positions") : tensor<?x?xi64>
  %1 = attn.weight_ref @panels : tensor<32x384x24xf32>
  return %y : tensor<?x384xf32>
}

// CHECK-LABEL: attn.kernel @linear_0(%arg0: tensor<?x384xf32>, %arg1: tensor<32x384x24xf32>) -> tensor<?x768xf32>
// CHECK-SAME: attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 0, mb = 128>}
// CHECK: attn.yield %{{.*}} : tensor<?x768xf32>
attn.kernel @linear_0(%x: tensor<?x384xf32>, %w: tensor<32x384x24xf32>) -> tensor<?x768xf32>
    attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 0, mb = 128>} {
  %y = attn.fused_linear %x, %w : tensor<?x384xf32>, tensor<32x384x24xf32> -> tensor<?x768xf32>
  attn.yield %y : tensor<?x768xf32>
}

// CHECK-LABEL: attn.kernel private @split_0(
// CHECK-SAME: %arg0: tensor<?xf32>, %arg1: index, %arg2: f32) -> (tensor<?xf32>, tensor<?xf32>)
// CHECK-SAME: attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>}
attn.kernel private @split_0(%x: tensor<?xf32>, %n: index, %c: f32) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {
  %y = attn.relu %x : tensor<?xf32>
  attn.yield %x, %y : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: attn.kernel @loops_0(
// CHECK-SAME: attributes {schedule = #attn.loops_schedule}
attn.kernel @loops_0(%x: tensor<?xf64>) -> tensor<?xf64> attributes {schedule = #attn.loops_schedule} {
  %y = attn.relu %x : tensor<?xf64>
  attn.yield %y : tensor<?xf64>
}

// CHECK-LABEL: func.func @calls
// CHECK: attn.call @linear_0 ins(%{{.*}}, %{{.*}} : tensor<?x384xf32>, tensor<32x384x24xf32>) outs(%{{.*}} : tensor<?x768xf32>) -> tensor<?x768xf32>
// CHECK: %{{.*}}:2 = attn.call @split_0 ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, index, f32) outs(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32>
func.func @calls(%x: tensor<?x384xf32>, %w: tensor<32x384x24xf32>, %init: tensor<?x768xf32>, %v: tensor<?xf32>, %n: index, %c: f32)
    -> (tensor<?x768xf32>, tensor<?xf32>) {
  %0 = attn.call @linear_0 ins(%x, %w : tensor<?x384xf32>, tensor<32x384x24xf32>) outs(%init : tensor<?x768xf32>) -> tensor<?x768xf32>
  %1:2 = attn.call @split_0 ins(%v, %n, %c : tensor<?xf32>, index, f32) outs(%v, %v : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32>
  return %0, %1#1 : tensor<?x768xf32>, tensor<?xf32>
}

// After bufferization; strides are free.
// CHECK-LABEL: func.func @call_of_memrefs
// CHECK: attn.call @linear_0 ins(%{{.*}}, %{{.*}} : memref<?x384xf32, strided<[?, ?], offset: ?>>, memref<32x384x24xf32>) outs(%{{.*}} : memref<?x768xf32>)
// CHECK: attn.check_ids %{{.*}} below(5) name("ids") : memref<?xi32>
func.func @call_of_memrefs(%x: memref<?x384xf32, strided<[?, ?], offset: ?>>, %w: memref<32x384x24xf32>, %y: memref<?x768xf32>, %ids: memref<?xi32>) {
  attn.call @linear_0 ins(%x, %w : memref<?x384xf32, strided<[?, ?], offset: ?>>, memref<32x384x24xf32>) outs(%y : memref<?x768xf32>)
  attn.check_ids %ids below(5) name("ids") : memref<?xi32>
  return
}

// A variant for one target: names are those of its own module.
// CHECK: module @x86_64_v3 attributes {attn.target = "x86-64-v3"}
module @x86_64_v3 attributes {attn.target = "x86-64-v3"} {
  attn.weight @query value<dense<0.0> : tensor<2xf32>> : tensor<2xf32>
  func.func @f() -> tensor<2xf32> {
    // CHECK: attn.weight_ref @query : tensor<2xf32>
    %0 = attn.weight_ref @query : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// RUN: attn-opt %s --attn-select-targets | FileCheck %s --check-prefix=DEFAULT
// RUN: attn-opt %s --attn-select-targets=targets=x86-64-v2 | FileCheck %s --check-prefix=ONE
// RUN: attn-opt %s --attn-select-targets=targets=x86-64-v4,x86-64-v3 | FileCheck %s --check-prefix=TWO
// RUN: attn-opt %s --attn-select-targets=targets=x86-64-v4,x86-64-v3 -o %t.mlir
// RUN: attn-opt %t.mlir --attn-select-targets | diff %t.mlir -
// RUN: not attn-opt %t.mlir --attn-select-targets=targets=arm64 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not attn-opt %s --attn-select-targets=targets=x86-64-v9 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not attn-opt %s --attn-select-targets=targets=arm64,arm64 2>&1 | FileCheck %s --check-prefix=TWICE

// DEFAULT: module attributes {attn.target = "x86-64-v3"}
// DEFAULT-NEXT: attn.dim @n

// ONE: module attributes {attn.target = "x86-64-v2"}
// ONE-NOT: module

// Each variant is complete.
// TWO: module {
// TWO-NEXT: module @x86_64_v4 attributes {attn.target = "x86-64-v4"} {
// TWO-NEXT: attn.dim @n
// TWO: attn.kernel @relu
// TWO: func.func @main
// TWO: module @x86_64_v3 attributes {attn.target = "x86-64-v3"} {
// TWO-NEXT: attn.dim @n
// TWO: attn.kernel @relu
// TWO: func.func @main

// OTHER: error: expected no other targets (because the module was already made for x86-64-v4, x86-64-v3), got arm64
// UNKNOWN: error: expected a target of x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-amx, arm64, opencl, opencl-sm_80, opencl-sm_90, cuda, cuda-sm_80, cuda-sm_90, vulkan, metal, got 'x86-64-v9'
// TWICE: error: expected each target once, got 'arm64' twice
attn.dim @n range(1, 8)
attn.kernel @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}
func.func @main(%x: tensor<?x8xf32> {attn.dims = ["n", ""]}) -> (tensor<?x8xf32> {attn.dims = ["n", ""]}) {
  %n = attn.dim_size @n
  %i = tensor.empty(%n) : tensor<?x8xf32>
  %y = attn.call @relu ins(%x : tensor<?x8xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

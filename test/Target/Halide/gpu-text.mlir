// RUN: attn-opt %S/flash-gpu.mlir --emit=opencl --target=opencl -o %t.cl
// RUN: FileCheck %s --check-prefix=CL < %t.cl
// RUN: attn-opt %S/flash-gpu.mlir --emit=ptx --target=cuda --gpu=sm_80 -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: attn-opt %S/linear-gpu.mlir --emit=ptx --target=cuda --gpu=sm_80 -o %t.linear.ptx
// RUN: FileCheck %s --check-prefix=LINEAR < %t.linear.ptx

// The text that devices are given of the kernels in flash-gpu.mlir and linear-gpu.mlir.

//===----------------------------------------------------------------------===//
// Causal attention, OpenCL C
//===----------------------------------------------------------------------===//

// Four tensors, each the caller's: none of queries by keys. Of the shared
// memory, named by what lies in each part of it, the first part is the queries'.
// CL-LABEL: __kernel void _kernel_result
// CL-COUNT-4: {{^ __address_space__[a-z0-9]+ (const )?float \*restrict}}
// CL-NOT: *restrict
// CL: __local int16* _allocgroup__query_0__wideKeys0_1_
// CL-NOT: __local int16*
// CL: {{^{$}}
// CL: // produce query
// CL: barrier(

// Full tiles: each of keys and values is read at one place, and nothing asks
// what is visible: what a mask hides has one of two patterns of bits.
// CL: for (int _state_s1_{{.*}}__z = 0
// CL-NOT: -8388608
// CL-NOT: -2147483648
// CL-NOT: barrier(
// CL: = _arg1[
// CL-NOT: _arg1[
// CL: barrier(
// CL-NOT: -8388608
// CL-NOT: barrier(
// CL: // consume scores0
// CL-NOT: -8388608
// CL: barrier(
// CL: // produce tileMax0
// CL-NOT: barrier(
// CL: for (int _tileMax0_
// CL: barrier(
// CL-NOT: -2147483648
// CL-NOT: barrier(
// CL: // produce weights0
// CL-NOT: -2147483648
// CL-NOT: _arg1[
// CL: barrier(
// CL-NOT: barrier(
// CL: = _arg2[
// CL-NOT: _arg2[
// CL: barrier(
// CL-NOT: -2147483648
// CL: // produce mix0
// CL-NOT: -2147483648
// CL-NOT: barrier(
// CL: } // for _once
// CL-NEXT: barrier(
// CL-NOT: barrier(
// CL: } // for _state_s1_

// Partial tiles ask.
// CL: for (int _state_s2_
// CL: ? {{.*}} : -8388608)
// CL: ? -2147483648 :
// CL: } // for _state_s2_
// CL: _result[

//===----------------------------------------------------------------------===//
// Causal attention, PTX
//===----------------------------------------------------------------------===//

// PTX-LABEL: .visible .entry _kernel_result
// PTX-COUNT-4: .param .u64 .ptr
// PTX-NOT: .param .u64 .ptr
// PTX: {{^{$}}
// No array of a thread is memory.
// PTX-NOT: .local
// PTX: bar.sync
// PTX: %"{{[0-9]+}}_for_state.s1.{{[^ ]+}}"
// PTX: %"[[ONCE:[0-9]+]]_for_once"
// Comparisons of integers are the ends of loops (ne), no mask's (lt, le, gt).
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX-NOT: bar.sync
// PTX: _for_wideKeys0.{{[^ ]+}}"
// PTX: ld.global
// PTX-NOT: ld.global
// PTX: st.shared
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX: bar.sync
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX-NOT: bar.sync
// PTX: _for_scores0.{{[^ ]+}}"
// PTX-COUNT-32: fma.rn.f32
// PTX-NOT: fma.rn.f32
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: _for_tileMax0.{{[^ ]+}}"
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX: bar.sync
// PTX-NOT: ld.global
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: _for_wideValues0.{{[^ ]+}}"
// PTX: ld.global
// PTX-NOT: ld.global
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: _for_mix0.{{[^ ]+}}"
// PTX-NOT: ld.global
// PTX-NOT: setp.{{l|g}}{{.*}}.s32
// PTX-NOT: bar.sync
// PTX: %"[[ONCE]]_end_for_once"
// PTX: bar.sync
// PTX-NOT: bar.sync
// PTX: _end_for_state.s1.{{[^ ]+}}"

//===----------------------------------------------------------------------===//
// A linear layer, PTX
//===----------------------------------------------------------------------===//

// A step of K: each thread brings four numbers of either tile and multiplies 4
// by 4 of them, four of K at a time.
// LINEAR-LABEL: .visible .entry _kernel_row
// LINEAR-COUNT-5: .param .u64 .ptr
// LINEAR-NOT: .param .u64 .ptr
// LINEAR: {{^{$}}
// LINEAR-NOT: .local
// LINEAR: _for_sums.s1.r$y"
// LINEAR-COUNT-8: ld.global
// LINEAR-NOT: ld.global
// LINEAR: bar.sync
// LINEAR-NOT: ld.global
// LINEAR-NOT: setp
// LINEAR: _for_sums.s1.r$x.r$x"
// LINEAR-COUNT-64: fma.rn.f32
// LINEAR-NOT: fma.rn.f32
// LINEAR: _end_for_sums.s1.r$x.r$x"
// LINEAR: bar.sync
// LINEAR-NOT: bar.sync
// LINEAR: _end_for_sums.s1.r$y"

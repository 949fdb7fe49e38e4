// RUN: attn-opt %s --emit=stmt --target=opencl | FileCheck %s

// A block of threads stages a tile of rows and of the panel once a step of K,
// with one barrier behind both and one behind the products. Sums are registers
// of a thread, and take no shared memory.

attn.weight @w value<dense<0.0> : tensor<100x40xf32>> : tensor<100x40xf32>
attn.weight @b value<dense<0.0> : tensor<100xf32>> : tensor<100xf32>
attn.weight @g value<dense<0.0> : tensor<100xf32>> : tensor<100xf32>

func.func @main(%x: tensor<?x40xf32>, %r: tensor<?x100xf32>) -> tensor<?x100xf32> {
  %w = attn.weight_ref @w : tensor<100x40xf32>
  %b = attn.weight_ref @b : tensor<100xf32>
  %g = attn.weight_ref @g : tensor<100xf32>
  %0 = attn.linear %x, %w bias(%b) : tensor<?x40xf32>, tensor<100x40xf32>, tensor<100xf32> -> tensor<?x100xf32>
  %1 = attn.gelu %0<erf> : tensor<?x100xf32>
  %2 = arith.addf %1, %r : tensor<?x100xf32>
  %3 = attn.layer_norm %2, %g, %b epsilon(1.0e-5) : tensor<?x100xf32>, tensor<100xf32>, tensor<100xf32>
  return %3 : tensor<?x100xf32>
}

// CHECK-LABEL: linear_norm_0__opencl
// CHECK: produce row
// CHECK: gpu_block<OpenCL> ({{.*}}panel.block_id_y, 0, 2)
// CHECK: gpu_block<OpenCL>
// 16 x 64 weights and 64 rows of 20 numbers.
// CHECK-NEXT: allocate [[SHARED:allocgroup__.*]][float32 * 2304] in GPUShared
// CHECK-NEXT: allocate sums.0[float32 * 16] in Register
// CHECK-NEXT: gpu_thread<OpenCL> ({{.*}}, 0, 16)
// CHECK-NEXT: gpu_thread<OpenCL> ({{.*}}, 0, 16)
// CHECK-NOT: gpu_thread_barrier
// CHECK: for (sums.s1.{{.*}}, 0, 3)
// CHECK-NEXT: produce input_tile
// CHECK-NOT: gpu_thread_barrier
// CHECK: produce weight_tile
// CHECK-NOT: gpu_thread_barrier
// CHECK: }
// CHECK-NEXT: gpu_thread_barrier
// CHECK-NEXT: consume weight_tile
// CHECK-NEXT: consume input_tile
// CHECK-NOT: produce
// CHECK-NOT: gpu_thread_barrier
// CHECK: sums.0[0] = sums.0[0] + ([[SHARED]][{{.*}}]*[[SHARED]][{{.*}}])
// CHECK-NOT: gpu_thread_barrier
// CHECK: sums.0[15] = sums.0[15] +
// CHECK: gpu_thread_barrier
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: gpu_thread_barrier
// CHECK: consume sums
// CHECK-NOT: gpu_thread_barrier

// A norm is a launch of its own, with a block of threads a row.
// CHECK: produce output
// CHECK: gpu_block<OpenCL> ({{.*}}, 0, output.extent.1)
// CHECK: gpu_thread<OpenCL> ({{.*}}, 0, 64)

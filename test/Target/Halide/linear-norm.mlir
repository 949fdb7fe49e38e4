// RUN: attn-opt %s --emit=stmt --target=x86-64-v3 | FileCheck %s

// A layer and its norm work on blocks of rows. Eight of them or more are the
// tasks of threads, each with all of its panels; fewer come one after the other,
// and the panels and the rows of a block are tasks.

attn.weight @w value<dense<0.0> : tensor<96x16xf32>> : tensor<96x16xf32>
attn.weight @g value<dense<0.0> : tensor<96xf32>> : tensor<96xf32>

func.func @main(%x: tensor<?x16xf32>) -> tensor<?x96xf32> {
  %w = attn.weight_ref @w : tensor<96x16xf32>
  %g = attn.weight_ref @g : tensor<96xf32>
  %0 = attn.linear %x, %w : tensor<?x16xf32>, tensor<96x16xf32> -> tensor<?x96xf32>
  %1 = attn.layer_norm %0, %g, %g epsilon(1.0e-5) : tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>
  return %1 : tensor<?x96xf32>
}

// CHECK-LABEL: linear_norm_0__v3
// CHECK: internal func [[TASK:linear_norm_0__v3_par_for_output_s0_m_norm_block_norm_task]] (
// CHECK: halide_do_par_for({{.*}}::[[TASK]]_par_for_row_s2_n_panel_group, 0,
// CHECK: halide_do_par_for({{.*}}::[[TASK]]_par_for_output_s0_m_norm_in_block_norm_rows, 0,
// CHECK: select({{.*}} < 8,
// CHECK: halide_do_par_for({{.*}}::[[TASK]], 0,

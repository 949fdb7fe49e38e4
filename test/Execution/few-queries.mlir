// Few queries over grouped heads, in each layout, with rules that ask which head
// and which query it is: slopes, a bias of each head, a causal mask.
//
// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim batch=2 --dim keys=37 --reference --tolerance=2e-6,2e-5
// RUN: attn-run %s --random --seed=3 --dim batch=3 --dim keys=300 --threads=2 --reference --tolerance=2e-6,2e-5

// CHECK: attn.kernel @attention_0(%{{.*}}: tensor<?x2x3x8xf32>
// CHECK: attn.kernel @attention_1(%{{.*}}: tensor<?x2x9x8xf32>

attn.dim @batch range(0, 8)
attn.dim @keys range(0, 512)

func.func @main(
    %q_bhsd1: tensor<?x6x1x8xf32> {attn.name = "q_bhsd1", attn.dims = ["batch", "", "", ""]},
    %k_bhsd: tensor<?x2x?x8xf32> {attn.name = "k_bhsd", attn.dims = ["batch", "", "keys", ""]},
    %q_bhsd3: tensor<?x6x3x8xf32> {attn.name = "q_bhsd3", attn.dims = ["batch", "", "", ""]},
    %q_bshd1: tensor<?x1x6x8xf32> {attn.name = "q_bshd1", attn.dims = ["batch", "", "", ""]},
    %k_bshd: tensor<?x?x2x8xf32> {attn.name = "k_bshd", attn.dims = ["batch", "keys", "", ""]},
    %q_bshd3: tensor<?x3x6x8xf32> {attn.name = "q_bshd3", attn.dims = ["batch", "", "", ""]},
    %q_sbhd1: tensor<1x?x6x8xf32> {attn.name = "q_sbhd1", attn.dims = ["", "batch", "", ""]},
    %k_sbhd: tensor<?x?x2x8xf32> {attn.name = "k_sbhd", attn.dims = ["keys", "batch", "", ""]},
    %q_sbhd3: tensor<3x?x6x8xf32> {attn.name = "q_sbhd3", attn.dims = ["", "batch", "", ""]},
    %bias_1: tensor<6x1x?xf32> {attn.name = "bias_1", attn.dims = ["", "", "keys"]},
    %bias_3: tensor<6x3x?xf32> {attn.name = "bias_3", attn.dims = ["", "", "keys"]})
    -> (tensor<?x6x1x8xf32>,
        tensor<?x6x1xf32>,
        tensor<?x6x3x8xf32>,
        tensor<?x6x3xf32>,
        tensor<?x1x6x8xf32>,
        tensor<?x6x1xf32>,
        tensor<?x3x6x8xf32>,
        tensor<?x6x3xf32>,
        tensor<1x?x6x8xf32>,
        tensor<?x6x1xf32>,
        tensor<3x?x6x8xf32>,
        tensor<?x6x3xf32>) {
  %s_bhsd1 = attn.scores %q_bhsd1, %k_bhsd layout(bhsd) : tensor<?x6x1x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x6x1x?xf32>
  %a_bhsd1 = attn.alibi %s_bhsd1 aligned(bottom_right) : tensor<?x6x1x?xf32>
  %b_bhsd1 = attn.bias %a_bhsd1, %bias_1 : tensor<?x6x1x?xf32>, tensor<6x1x?xf32>
  %m_bhsd1 = attn.mask %b_bhsd1 by causal<bottom_right> : tensor<?x6x1x?xf32>
  %p_bhsd1, %lse_bhsd1 = attn.softmax %m_bhsd1 : tensor<?x6x1x?xf32> -> tensor<?x6x1x?xf32>, tensor<?x6x1xf32>
  %o_bhsd1 = attn.mix %p_bhsd1, %k_bhsd layout(bhsd) : tensor<?x6x1x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x6x1x8xf32>
  %s_bhsd3 = attn.scores %q_bhsd3, %k_bhsd layout(bhsd) : tensor<?x6x3x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x6x3x?xf32>
  %a_bhsd3 = attn.alibi %s_bhsd3 aligned(bottom_right) : tensor<?x6x3x?xf32>
  %b_bhsd3 = attn.bias %a_bhsd3, %bias_3 : tensor<?x6x3x?xf32>, tensor<6x3x?xf32>
  %m_bhsd3 = attn.mask %b_bhsd3 by causal<bottom_right> : tensor<?x6x3x?xf32>
  %p_bhsd3, %lse_bhsd3 = attn.softmax %m_bhsd3 : tensor<?x6x3x?xf32> -> tensor<?x6x3x?xf32>, tensor<?x6x3xf32>
  %o_bhsd3 = attn.mix %p_bhsd3, %k_bhsd layout(bhsd) : tensor<?x6x3x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x6x3x8xf32>
  %s_bshd1 = attn.scores %q_bshd1, %k_bshd layout(bshd) : tensor<?x1x6x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x6x1x?xf32>
  %a_bshd1 = attn.alibi %s_bshd1 aligned(bottom_right) : tensor<?x6x1x?xf32>
  %b_bshd1 = attn.bias %a_bshd1, %bias_1 : tensor<?x6x1x?xf32>, tensor<6x1x?xf32>
  %m_bshd1 = attn.mask %b_bshd1 by causal<bottom_right> : tensor<?x6x1x?xf32>
  %p_bshd1, %lse_bshd1 = attn.softmax %m_bshd1 : tensor<?x6x1x?xf32> -> tensor<?x6x1x?xf32>, tensor<?x6x1xf32>
  %o_bshd1 = attn.mix %p_bshd1, %k_bshd layout(bshd) : tensor<?x6x1x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x1x6x8xf32>
  %s_bshd3 = attn.scores %q_bshd3, %k_bshd layout(bshd) : tensor<?x3x6x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x6x3x?xf32>
  %a_bshd3 = attn.alibi %s_bshd3 aligned(bottom_right) : tensor<?x6x3x?xf32>
  %b_bshd3 = attn.bias %a_bshd3, %bias_3 : tensor<?x6x3x?xf32>, tensor<6x3x?xf32>
  %m_bshd3 = attn.mask %b_bshd3 by causal<bottom_right> : tensor<?x6x3x?xf32>
  %p_bshd3, %lse_bshd3 = attn.softmax %m_bshd3 : tensor<?x6x3x?xf32> -> tensor<?x6x3x?xf32>, tensor<?x6x3xf32>
  %o_bshd3 = attn.mix %p_bshd3, %k_bshd layout(bshd) : tensor<?x6x3x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x3x6x8xf32>
  %s_sbhd1 = attn.scores %q_sbhd1, %k_sbhd layout(sbhd) : tensor<1x?x6x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x6x1x?xf32>
  %a_sbhd1 = attn.alibi %s_sbhd1 aligned(bottom_right) : tensor<?x6x1x?xf32>
  %b_sbhd1 = attn.bias %a_sbhd1, %bias_1 : tensor<?x6x1x?xf32>, tensor<6x1x?xf32>
  %m_sbhd1 = attn.mask %b_sbhd1 by causal<bottom_right> : tensor<?x6x1x?xf32>
  %p_sbhd1, %lse_sbhd1 = attn.softmax %m_sbhd1 : tensor<?x6x1x?xf32> -> tensor<?x6x1x?xf32>, tensor<?x6x1xf32>
  %o_sbhd1 = attn.mix %p_sbhd1, %k_sbhd layout(sbhd) : tensor<?x6x1x?xf32>, tensor<?x?x2x8xf32> -> tensor<1x?x6x8xf32>
  %s_sbhd3 = attn.scores %q_sbhd3, %k_sbhd layout(sbhd) : tensor<3x?x6x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x6x3x?xf32>
  %a_sbhd3 = attn.alibi %s_sbhd3 aligned(bottom_right) : tensor<?x6x3x?xf32>
  %b_sbhd3 = attn.bias %a_sbhd3, %bias_3 : tensor<?x6x3x?xf32>, tensor<6x3x?xf32>
  %m_sbhd3 = attn.mask %b_sbhd3 by causal<bottom_right> : tensor<?x6x3x?xf32>
  %p_sbhd3, %lse_sbhd3 = attn.softmax %m_sbhd3 : tensor<?x6x3x?xf32> -> tensor<?x6x3x?xf32>, tensor<?x6x3xf32>
  %o_sbhd3 = attn.mix %p_sbhd3, %k_sbhd layout(sbhd) : tensor<?x6x3x?xf32>, tensor<?x?x2x8xf32> -> tensor<3x?x6x8xf32>
  return %o_bhsd1, %lse_bhsd1, %o_bhsd3, %lse_bhsd3, %o_bshd1, %lse_bshd1, %o_bshd3, %lse_bshd3, %o_sbhd1, %lse_sbhd1, %o_sbhd3, %lse_sbhd3
      : tensor<?x6x1x8xf32>, tensor<?x6x1xf32>, tensor<?x6x3x8xf32>, tensor<?x6x3xf32>, tensor<?x1x6x8xf32>, tensor<?x6x1xf32>, tensor<?x3x6x8xf32>, tensor<?x6x3xf32>, tensor<1x?x6x8xf32>, tensor<?x6x1xf32>, tensor<3x?x6x8xf32>, tensor<?x6x3xf32>
}

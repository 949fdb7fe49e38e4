// Queries, keys and values side by side in one tensor are read where they are:
// as three slices, and as heads of which each has its three. No copy, so no
// workspace.
//
// RUN: attn-run %s --random --dim batch=2 --dim length=37 --reference --time --tolerance=2e-6,2e-5 | FileCheck %s
// CHECK: memory: workspace 0 bytes

attn.dim @batch range(0, 64)
attn.dim @length range(0, 4096)

func.func @main(
    %qkv: tensor<?x?x3x4x16xf32> {attn.name = "qkv", attn.dims = ["batch", "length", "", "", ""]},
    %heads: tensor<?x?x4x3x16xf32> {attn.name = "heads", attn.dims = ["batch", "length", "", "", ""]})
    -> (tensor<?x?x4x16xf32> {attn.name = "o", attn.dims = ["batch", "length", "", ""]},
        tensor<?x?x4x16xf32> {attn.name = "p", attn.dims = ["batch", "length", "", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %qkv, %c0 : tensor<?x?x3x4x16xf32>
  %s = tensor.dim %qkv, %c1 : tensor<?x?x3x4x16xf32>
  %q0 = tensor.extract_slice %qkv[0, 0, 0, 0, 0] [%b, %s, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x?x3x4x16xf32> to tensor<?x?x4x16xf32>
  %k0 = tensor.extract_slice %qkv[0, 0, 1, 0, 0] [%b, %s, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x?x3x4x16xf32> to tensor<?x?x4x16xf32>
  %v0 = tensor.extract_slice %qkv[0, 0, 2, 0, 0] [%b, %s, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x?x3x4x16xf32> to tensor<?x?x4x16xf32>
  %s0 = attn.scores %q0, %k0 layout(bshd) : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32> -> tensor<?x4x?x?xf32>
  %m0 = attn.mask %s0 by causal<top_left> : tensor<?x4x?x?xf32>
  %p0 = attn.softmax %m0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o0 = attn.mix %p0, %v0 layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x4x16xf32> -> tensor<?x?x4x16xf32>
  %q1 = tensor.extract_slice %heads[0, 0, 0, 0, 0] [%b, %s, 4, 1, 16] [1, 1, 1, 1, 1] : tensor<?x?x4x3x16xf32> to tensor<?x?x4x16xf32>
  %k1 = tensor.extract_slice %heads[0, 0, 0, 1, 0] [%b, %s, 4, 1, 16] [1, 1, 1, 1, 1] : tensor<?x?x4x3x16xf32> to tensor<?x?x4x16xf32>
  %v1 = tensor.extract_slice %heads[0, 0, 0, 2, 0] [%b, %s, 4, 1, 16] [1, 1, 1, 1, 1] : tensor<?x?x4x3x16xf32> to tensor<?x?x4x16xf32>
  %s1 = attn.scores %q1, %k1 layout(bshd) : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32> -> tensor<?x4x?x?xf32>
  %m1 = attn.mask %s1 by causal<top_left> : tensor<?x4x?x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o1 = attn.mix %p1, %v1 layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x4x16xf32> -> tensor<?x?x4x16xf32>
  return %o0, %o1 : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>
}

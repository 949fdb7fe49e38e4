// RUN: rm -rf %t && split-file %s %t
// RUN: attn-opt %t/f16.mlir --emit=fused | FileCheck %s
// RUN: attn-opt %t/bf16.mlir --emit=fused | FileCheck %s

// Numbers that are stored in 16 bits: everything is computed in f32 and rounded
// once. The bias has the type of the scores, and the mask is of f32.

// CHECK-COUNT-2: attn.call @attention_
// CHECK-NOT: attn.call

// RUN: attn-run %t/f16.mlir --random --dim b=2 --dim n=5 --dim m=9 --reference
// RUN: attn-run %t/f16.mlir --random --dim b=1 --dim n=60 --dim m=300 --seed=2 --reference
// RUN: attn-run %t/bf16.mlir --random --dim b=2 --dim n=5 --dim m=9 --reference
// RUN: attn-run %t/bf16.mlir --random --dim b=1 --dim n=60 --dim m=300 --seed=2 --reference

// Without an instruction for it numbers are converted in integers. Nothing calls
// the compiler's run-time library.

// RUN: attn-run %t/f16.mlir --target=x86-64-v2 --random --dim b=1 --dim n=60 --dim m=17 --reference
// RUN: attn-run %t/bf16.mlir --target=x86-64-v2 --random --dim b=1 --dim n=60 --dim m=17 --reference
// RUN: attn-opt %t/f16.mlir --target=x86-64-v2,x86-64-v3,x86-64-v4 --emit=obj -o %t/f16
// RUN: attn-opt %t/bf16.mlir --target=x86-64-v2,x86-64-v3,x86-64-v4 --emit=obj -o %t/bf16
// RUN: %python %S/../Inputs/check_undefined.py %t/f16.o %t/bf16.o

//--- f16.mlir
attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @f16(%q: tensor<?x?x4x24xf16> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x24xf16> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %v: tensor<?x?x2x6xf16> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                %bias: tensor<4x?x?xf16> {attn.name = "bias", attn.dims = ["", "n", "m"]},
                %more: tensor<?x?xf32> {attn.name = "more", attn.dims = ["n", "m"]})
    -> (tensor<?x?x4x6xf16>, tensor<?x4x?xf32>, tensor<?x?x4x6xf16>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xf16>, tensor<?x?x2x24xf16> -> tensor<?x4x?x?xf16>
  %m0 = attn.mask %s0 by causal<bottom_right> : tensor<?x4x?x?xf16>
  %p0, %lse = attn.softmax %m0 : tensor<?x4x?x?xf16> -> tensor<?x4x?x?xf16>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %v layout(bshd) : tensor<?x4x?x?xf16>, tensor<?x?x2x6xf16> -> tensor<?x?x4x6xf16>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xf16>, tensor<?x?x2x24xf16> -> tensor<?x4x?x?xf16>
  %t1 = math.tanh %s1 : tensor<?x4x?x?xf16>
  %b1 = attn.bias %t1, %bias : tensor<?x4x?x?xf16>, tensor<4x?x?xf16>
  %m1 = attn.mask %b1 by dense(%more : tensor<?x?xf32>) : tensor<?x4x?x?xf16>
  %p1 = attn.softmax %m1 : tensor<?x4x?x?xf16> -> tensor<?x4x?x?xf16>
  %o1 = attn.mix %p1, %v layout(bshd) : tensor<?x4x?x?xf16>, tensor<?x?x2x6xf16> -> tensor<?x?x4x6xf16>
  return %o0, %lse, %o1 : tensor<?x?x4x6xf16>, tensor<?x4x?xf32>, tensor<?x?x4x6xf16>
}

//--- bf16.mlir
attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @bf16(%q: tensor<?x?x4x24xbf16> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x24xbf16> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %v: tensor<?x?x2x6xbf16> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                %bias: tensor<4x?x?xbf16> {attn.name = "bias", attn.dims = ["", "n", "m"]},
                %more: tensor<?x?xf32> {attn.name = "more", attn.dims = ["n", "m"]})
    -> (tensor<?x?x4x6xbf16>, tensor<?x4x?xf32>, tensor<?x?x4x6xbf16>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xbf16>, tensor<?x?x2x24xbf16> -> tensor<?x4x?x?xbf16>
  %m0 = attn.mask %s0 by causal<bottom_right> : tensor<?x4x?x?xbf16>
  %p0, %lse = attn.softmax %m0 : tensor<?x4x?x?xbf16> -> tensor<?x4x?x?xbf16>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %v layout(bshd) : tensor<?x4x?x?xbf16>, tensor<?x?x2x6xbf16> -> tensor<?x?x4x6xbf16>
  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xbf16>, tensor<?x?x2x24xbf16> -> tensor<?x4x?x?xbf16>
  %t1 = math.tanh %s1 : tensor<?x4x?x?xbf16>
  %b1 = attn.bias %t1, %bias : tensor<?x4x?x?xbf16>, tensor<4x?x?xbf16>
  %m1 = attn.mask %b1 by dense(%more : tensor<?x?xf32>) : tensor<?x4x?x?xbf16>
  %p1 = attn.softmax %m1 : tensor<?x4x?x?xbf16> -> tensor<?x4x?x?xbf16>
  %o1 = attn.mix %p1, %v layout(bshd) : tensor<?x4x?x?xbf16>, tensor<?x?x2x6xbf16> -> tensor<?x?x4x6xbf16>
  return %o0, %lse, %o1 : tensor<?x?x4x6xbf16>, tensor<?x4x?xf32>, tensor<?x?x4x6xbf16>
}

// Few queries: channels and keys are the lanes of vectors. One to eight rows a
// tile, which are queries, heads of a group, or both; channels that fill no
// vector; masks with partial tiles, f16, and NaN behind the last key.
//
// RUN: attn-opt %s --emit=tiled --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --random --dim b=2 --dim m=5 --reference
// RUN: attn-run %s --random --dim b=1 --dim m=300 --reference
// RUN: attn-run %s --random --dim b=1 --dim m=513 --threads=2 --reference
// RUN: attn-run %s --target=x86-64-v2 --random --dim b=1 --dim m=257 --seed=5 --reference
//
// Values are asked for while scores are computed: a cache line for 16 channels,
// into the second level.
// RUN: attn-opt %s --emit=obj --target=x86-64-v3 -o %t
// RUN: llvm-objdump -d %t.o | FileCheck %s --check-prefix=ASM --implicit-check-not=prefetchnta --implicit-check-not=prefetcht0
// ASM-COUNT-4: prefetcht1

// Keys of a row one after the other, 64 channels of values in 8 vectors.
// CHECK: attn.kernel @attention_0({{.*}}schedule = #attn.decode_schedule<vector = 8, key_unroll = 1, value_unroll = 64>
// CHECK: !attn.tile<1x256xf32>
// CHECK: attn.kernel @attention_1({{.*}}schedule = #attn.decode_schedule<vector = 8, key_unroll = 1, value_unroll = 16>
// CHECK: !attn.tile<4x256xf32>
// CHECK: attn.kernel @attention_2({{.*}}schedule = #attn.decode_schedule<vector = 8, key_unroll = 1, value_unroll = 4>
// CHECK: !attn.tile<6x256xf32>
// CHECK: attn.kernel @attention_3({{.*}}schedule = #attn.decode_schedule<vector = 8, key_unroll = 1, value_unroll = 8>
// CHECK: !attn.tile<7x256xf32>
// CHECK: attn.kernel @attention_4({{.*}}schedule = #attn.decode_schedule<vector = 8, key_unroll = 1, value_unroll = 8>
// CHECK: !attn.tile<8x256xf32>
// Three channels of values are no vector.
// CHECK: attn.kernel @attention_5({{.*}}schedule = #attn.flash_schedule

attn.dim @b range(0, 8)
attn.dim @m range(0, 1024)

func.func @main(
    %q1: tensor<?x1x3x64xf32> {attn.name = "q1", attn.dims = ["b", "", "", ""]},
    %k1: tensor<?x?x3x64xf32> {attn.name = "k1", attn.dims = ["b", "m", "", ""]},
    %q4: tensor<?x8x1x128xf32> {attn.name = "q4", attn.dims = ["b", "", "", ""]},
    %k4: tensor<?x2x?x128xf32> {attn.name = "k4", attn.dims = ["b", "", "m", ""]},
    %q6: tensor<?x3x2x21xf32> {attn.name = "q6", attn.dims = ["b", "", "", ""]},
    %k6: tensor<?x?x1x21xf32> {attn.name = "k6", attn.dims = ["b", "m", "", ""]},
    %v6: tensor<?x?x1x12xf32> {attn.name = "v6", attn.dims = ["b", "m", "", ""]},
    %q7: tensor<?x7x1x40xf16> {attn.name = "q7", attn.dims = ["b", "", "", ""]},
    %k7: tensor<?x?x1x40xf16> {attn.name = "k7", attn.dims = ["b", "m", "", ""]},
    %q8: tensor<8x?x1x96xbf16> {attn.name = "q8", attn.dims = ["", "b", "", ""]},
    %k8: tensor<?x?x1x96xbf16> {attn.name = "k8", attn.dims = ["m", "b", "", ""]},
    %v3: tensor<?x?x3x3xf32> {attn.name = "v3", attn.dims = ["b", "m", "", ""]},
    %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]},
    %bias: tensor<8x1x?xf32> {attn.name = "bias", attn.dims = ["", "", "m"]})
    -> (tensor<?x1x3x64xf32>, tensor<?x8x1x128xf32>, tensor<?x8x1xf32>, tensor<?x3x2x12xf32>, tensor<?x7x1x40xf16>,
        tensor<8x?x1x96xbf16>, tensor<?x1x3x3xf32>) {
  %s1 = attn.scores %q1, %k1 layout(bshd) : tensor<?x1x3x64xf32>, tensor<?x?x3x64xf32> -> tensor<?x3x1x?xf32>
  %m1 = attn.mask %s1 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x3x1x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x3x1x?xf32> -> tensor<?x3x1x?xf32>
  %o1 = attn.mix %p1, %k1 layout(bshd) : tensor<?x3x1x?xf32>, tensor<?x?x3x64xf32> -> tensor<?x1x3x64xf32>

  %s4 = attn.scores %q4, %k4 layout(bhsd) : tensor<?x8x1x128xf32>, tensor<?x2x?x128xf32> -> tensor<?x8x1x?xf32>
  %b4 = attn.bias %s4, %bias : tensor<?x8x1x?xf32>, tensor<8x1x?xf32>
  %p4, %lse4 = attn.softmax %b4 : tensor<?x8x1x?xf32> -> tensor<?x8x1x?xf32>, tensor<?x8x1xf32>
  %o4 = attn.mix %p4, %k4 layout(bhsd) : tensor<?x8x1x?xf32>, tensor<?x2x?x128xf32> -> tensor<?x8x1x128xf32>

  %s6 = attn.scores %q6, %k6 layout(bshd) : tensor<?x3x2x21xf32>, tensor<?x?x1x21xf32> -> tensor<?x2x3x?xf32>
  %m6 = attn.mask %s6 by causal<bottom_right> : tensor<?x2x3x?xf32>
  %p6 = attn.softmax %m6 : tensor<?x2x3x?xf32> -> tensor<?x2x3x?xf32>
  %o6 = attn.mix %p6, %v6 layout(bshd) : tensor<?x2x3x?xf32>, tensor<?x?x1x12xf32> -> tensor<?x3x2x12xf32>

  %s7 = attn.scores %q7, %k7 layout(bshd) : tensor<?x7x1x40xf16>, tensor<?x?x1x40xf16> -> tensor<?x1x7x?xf16>
  %m7 = attn.mask %s7 by window<left = 70, right = 0, alignment = bottom_right> : tensor<?x1x7x?xf16>
  %p7 = attn.softmax %m7 : tensor<?x1x7x?xf16> -> tensor<?x1x7x?xf16>
  %o7 = attn.mix %p7, %k7 layout(bshd) : tensor<?x1x7x?xf16>, tensor<?x?x1x40xf16> -> tensor<?x7x1x40xf16>

  %s8 = attn.scores %q8, %k8 layout(sbhd) : tensor<8x?x1x96xbf16>, tensor<?x?x1x96xbf16> -> tensor<?x1x8x?xbf16>
  %p8 = attn.softmax %s8 : tensor<?x1x8x?xbf16> -> tensor<?x1x8x?xbf16>
  %o8 = attn.mix %p8, %k8 layout(sbhd) : tensor<?x1x8x?xbf16>, tensor<?x?x1x96xbf16> -> tensor<8x?x1x96xbf16>

  %s3 = attn.scores %q1, %k1 layout(bshd) : tensor<?x1x3x64xf32>, tensor<?x?x3x64xf32> -> tensor<?x3x1x?xf32>
  %p3 = attn.softmax %s3 : tensor<?x3x1x?xf32> -> tensor<?x3x1x?xf32>
  %o3 = attn.mix %p3, %v3 layout(bshd) : tensor<?x3x1x?xf32>, tensor<?x?x3x3xf32> -> tensor<?x1x3x3xf32>
  return %o1, %o4, %lse4, %o6, %o7, %o8, %o3 : tensor<?x1x3x64xf32>, tensor<?x8x1x128xf32>, tensor<?x8x1xf32>, tensor<?x3x2x12xf32>, tensor<?x7x1x40xf16>, tensor<8x?x1x96xbf16>, tensor<?x1x3x3xf32>
}

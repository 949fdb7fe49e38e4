/*===- attn-c/cpu.h - what a CPU must have to run a kernel ------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|* One bit an instruction set. The compiler writes the bits that a variant of *|
|* a model needs into the object (attn/Analysis/TargetInfo.h); the object's   *|
|* run-time asks the CPU and the operating system for the same bits at load   *|
|* and takes, of the variants whose bits are all there, the one that needs    *|
|* most. A bit of a wide register file (AVX, AVX-512, AMX) also means that    *|
|* the system saves it. Bits are part of the object format: new ones are      *|
|* added at the end.                                                          *|
\*===----------------------------------------------------------------------===*/
#ifndef ATTN_C_CPU_H
#define ATTN_C_CPU_H

enum attn_cpu_feature {
  /* x86-64-v2 */
  ATTN_CPU_SSE3 = 1 << 0,
  ATTN_CPU_SSSE3 = 1 << 1,
  ATTN_CPU_SSE41 = 1 << 2,
  ATTN_CPU_SSE42 = 1 << 3,
  ATTN_CPU_POPCNT = 1 << 4,
  ATTN_CPU_CMPXCHG16B = 1 << 5,
  ATTN_CPU_LAHF_SAHF = 1 << 6,
  /* x86-64-v3 */
  ATTN_CPU_AVX = 1 << 7,
  ATTN_CPU_AVX2 = 1 << 8,
  ATTN_CPU_FMA = 1 << 9,
  ATTN_CPU_F16C = 1 << 10,
  ATTN_CPU_BMI1 = 1 << 11,
  ATTN_CPU_BMI2 = 1 << 12,
  ATTN_CPU_LZCNT = 1 << 13,
  ATTN_CPU_MOVBE = 1 << 14,
  /* x86-64-v4 */
  ATTN_CPU_AVX512F = 1 << 15,
  ATTN_CPU_AVX512CD = 1 << 16,
  ATTN_CPU_AVX512BW = 1 << 17,
  ATTN_CPU_AVX512DQ = 1 << 18,
  ATTN_CPU_AVX512VL = 1 << 19,
  /* arm64 */
  ATTN_CPU_NEON = 1 << 20,
  /* x86-64-v4-amx */
  ATTN_CPU_AVX512_BF16 = 1 << 21,
  ATTN_CPU_AMX_TILE = 1 << 22,
  ATTN_CPU_AMX_BF16 = 1 << 23
};

/* The sets that the compiler's targets need. */
#define ATTN_CPU_X86_64_V2                                                     \
  (ATTN_CPU_SSE3 | ATTN_CPU_SSSE3 | ATTN_CPU_SSE41 | ATTN_CPU_SSE42 |          \
   ATTN_CPU_POPCNT | ATTN_CPU_CMPXCHG16B | ATTN_CPU_LAHF_SAHF)
#define ATTN_CPU_X86_64_V3                                                     \
  (ATTN_CPU_X86_64_V2 | ATTN_CPU_AVX | ATTN_CPU_AVX2 | ATTN_CPU_FMA |          \
   ATTN_CPU_F16C | ATTN_CPU_BMI1 | ATTN_CPU_BMI2 | ATTN_CPU_LZCNT |            \
   ATTN_CPU_MOVBE)
#define ATTN_CPU_X86_64_V4                                                     \
  (ATTN_CPU_X86_64_V3 | ATTN_CPU_AVX512F | ATTN_CPU_AVX512CD |                 \
   ATTN_CPU_AVX512BW | ATTN_CPU_AVX512DQ | ATTN_CPU_AVX512VL)
#define ATTN_CPU_X86_64_V4_AMX                                                 \
  (ATTN_CPU_X86_64_V4 | ATTN_CPU_AVX512_BF16 | ATTN_CPU_AMX_TILE |             \
   ATTN_CPU_AMX_BF16)
#define ATTN_CPU_ARM64 (ATTN_CPU_NEON)

#endif /* ATTN_C_CPU_H */

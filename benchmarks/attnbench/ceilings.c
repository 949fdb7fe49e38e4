/*===- ceilings.c - what this core can do at most -----------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Prints the GFLOP/s of independent multiply-adds in the widest vectors that
 * this was compiled for, and the GB/s of reading memory. One thread. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__AVX512F__)
enum { LANES = 16, CHAINS = 24 };
#elif defined(__AVX__)
enum { LANES = 8, CHAINS = 12 };
#else
enum { LANES = 4, CHAINS = 12 };
#endif
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double multiply_adds(void) {
  vec acc[CHAINS], a, b;
  for (int l = 0; l < LANES; ++l) {
    a[l] = 0.999f;
    b[l] = 1e-3f;
  }
  for (int c = 0; c < CHAINS; ++c)
    acc[c] = b * (float)c;
  const int rounds = 2000000;
  double start = now();
  for (int r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int c = 0; c < CHAINS; ++c) {
      acc[c] = acc[c] * a + b;
      __asm__ volatile("" : "+v"(acc[c]));
    }
  }
  double seconds = now() - start;
  vec sum = acc[0];
  for (int c = 1; c < CHAINS; ++c)
    sum += acc[c];
  volatile float keep = sum[0];
  (void)keep;
  return 2.0 * CHAINS * LANES * rounds / seconds * 1e-9;
}

static double read_memory(void) {
  const size_t bytes = (size_t)256 << 20;
  vec *data = aligned_alloc(64, bytes);
  if (!data)
    return 0;
  size_t count = bytes / sizeof(vec);
  for (size_t i = 0; i < count; ++i)
    data[i] = (vec){1.0f};
  vec sum[8] = {{0}};
  double start = now();
  for (size_t i = 0; i < count; i += 8)
    for (int u = 0; u < 8; ++u)
      sum[u] += data[i + u];
  double seconds = now() - start;
  volatile float keep = 0;
  for (int u = 0; u < 8; ++u)
    keep += sum[u][0];
  free(data);
  return (double)bytes / seconds * 1e-9;
}

int main(void) {
  double flops = 0, bytes = 0;
  for (int round = 0; round < 5; ++round) {
    double f = multiply_adds(), b = read_memory();
    flops = f > flops ? f : flops;
    bytes = b > bytes ? b : bytes;
  }
  printf("{\"gflops\": %.1f, \"gbytes\": %.1f, \"lanes\": %d}\n", flops, bytes,
         LANES);
  return 0;
}

/*===- sparse.h - tensors larger than memory ----------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Mappings that take memory only where something is written, and attention of
 * single rows in f64. */
#ifndef SPARSE_H
#define SPARSE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Zeros, of which pages that are only read are one and the same. */
static float *sparse(uint64_t elements) {
  void *memory = mmap(NULL, elements * sizeof(float), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  /* A large page would take memory when it is read. */
  madvise(memory, elements * sizeof(float), MADV_NOHUGEPAGE);
  return memory;
}

/* From -1 to 1, the same each time. */
static float noise(uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15ull;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9ull;
  i ^= i >> 32;
  return (float)(i & 0xffffff) / 8388608.0f - 1.0f;
}

/* The largest differences of rows from f64: those of the compiled model, and
 * those of the same formula in f32, key by key, as one writes it down. */
typedef struct {
  double got, plain;
} errors;

/* One row: keys `first` to `end` of tensors with rows `stride` apart, a mask
 * row or NULL. */
static void compare_row(errors *e, const float *q, const float *k,
                        const float *v, const float *mask, int64_t first,
                        int64_t end, int64_t stride, int channels,
                        const float *got) {
  double top = -INFINITY, sum = 0, o[128] = {0};
  float plain_sum = 0, plain[128] = {0};
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t j = first; j < end; ++j) {
      double s = 0;
      for (int d = 0; d < channels; ++d)
        s += (double)q[d] * k[j * stride + d];
      s = s / sqrt(channels) + (mask ? mask[j] : 0);
      if (pass == 0) {
        top = fmax(top, s);
        continue;
      }
      double p = exp(s - top);
      sum += p;
      plain_sum += (float)p;
      for (int d = 0; d < channels; ++d) {
        o[d] += p * v[j * stride + d];
        plain[d] += (float)p * v[j * stride + d];
      }
    }
  for (int d = 0; d < channels; ++d) {
    double expected = sum == 0 ? 0 : o[d] / sum;
    e->got = fmax(e->got, fabs(expected - got[d]));
    e->plain =
        fmax(e->plain, fabs(expected - (sum == 0 ? 0 : plain[d] / plain_sum)));
  }
}

/* At most twice the error of f32, and two units in the last place of 1. */
static void report(const char *what, const errors *e) {
  printf("%s: error %.2g, in plain f32 %.2g: %s\n", what, e->got, e->plain,
         e->got <= 2 * e->plain + 2.4e-7 ? "ok" : "WRONG");
}

#endif

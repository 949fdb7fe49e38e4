/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the C programs of the execution tests share. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call of a model did not succeed. */
#define CHECK(call, text)                                                      \
  do {                                                                         \
    if (call) {                                                                \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text);              \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Numbers in [-2, 2) that depend on nothing but the seed. */
static inline void fillRandom(float *data, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    data[i] = (float)(seed >> 40) / (float)(1 << 22) - 2.0f;
  }
}

static inline float *allocateFloats(size_t count) {
  float *data = (float *)malloc(count * sizeof *data + 1);
  if (!data)
    exit(2);
  return data;
}
#endif

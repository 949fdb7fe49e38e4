/*===- Copy.c - strided copies -----------------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Between a caller's strided tensor and the dense form a driver wants. The last
 * dimension is the inner loop; where it is dense on both sides, one memcpy. */
#include "Runtime.h"
#include <string.h>

void attn_rt_copy(void *to, const int64_t *to_strides, const void *from,
                  const int64_t *from_strides, const int64_t *sizes, int rank,
                  size_t element_size) {
  char *target = to;
  const char *source = from;
  int64_t index[ATTN_MAX_RANK] = {0};
  for (int d = 0; d < rank; ++d)
    if (sizes[d] == 0)
      return;
  if (rank == 0) {
    memcpy(target, source, element_size);
    return;
  }
  int64_t size = (int64_t)element_size, length = sizes[rank - 1];
  int64_t to_step = to_strides[rank - 1] * size;
  int64_t from_step = from_strides[rank - 1] * size;
  for (;;) {
    if (to_step == size && from_step == size)
      memcpy(target, source, (size_t)(length * size));
    else
      for (int64_t i = 0; i < length; ++i)
        memcpy(target + i * to_step, source + i * from_step, element_size);
    int d = rank - 2;
    for (; d >= 0; --d) {
      target += to_strides[d] * size;
      source += from_strides[d] * size;
      if (++index[d] < sizes[d])
        break;
      target -= to_strides[d] * size * sizes[d];
      source -= from_strides[d] * size * sizes[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

/*===- Repack.c - weight panels of another width -----------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* A linear layer's (n, k) weight lies in panels of `panel` rows, stored with k
 * outermost inside a panel: element (r, c) is panel r / panel, position
 * c * panel + r % panel. The width is a property of the variant, so a variant
 * other than the stored one repacks when the model is loaded. */
#include "Runtime.h"
#include <string.h>

static int64_t position(int64_t row, int64_t column, int64_t panel, int64_t k) {
  return panel ? row / panel * (panel * k) + column * panel + row % panel
               : row * k + column;
}

void attn_rt_repack(const void *from, int64_t from_panel, void *to,
                    int64_t to_panel, int64_t n, int64_t k,
                    int64_t element_size) {
  const char *source = from;
  char *target = to;
  int64_t rows = to_panel ? (n + to_panel - 1) / to_panel * to_panel : n;
  size_t bytes = (size_t)element_size;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < k; ++c) {
      char *element = target + position(r, c, to_panel, k) * element_size;
      if (r < n)
        memcpy(element, source + position(r, c, from_panel, k) * element_size,
               bytes);
      else
        memset(element, 0, bytes);
    }
}

/*===- Checks.c - checks that generated drivers call -------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Checks on values, which only the running model knows. Each answers 0 or a
 * status whose text is set. */
#include "Runtime.h"
#include <inttypes.h>
#include <string.h>

int32_t attn_rt_check_ids(void *context, const void *ids, int32_t is64,
                          int64_t limit, const char *name, int32_t rank,
                          const int64_t *sizes) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d)
    count *= sizes[d];
  for (int64_t i = 0; i < count; ++i) {
    int64_t id = is64 ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
    if (id >= 0 && id < limit)
      continue;
    int64_t at[ATTN_MAX_RANK], rest = i;
    for (int32_t d = rank - 1; d >= 0; --d) {
      at[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    char position[ATTN_MAX_RANK * 24] = "";
    char *end = position;
    for (int32_t d = 0; d < rank; ++d) {
      attn_rt_fail(end, (size_t)(position + sizeof position - end), ATTN_OK,
                   "[%" PRId64 "]", at[d]);
      end += strlen(end);
    }
    return attn_rt_ctx_fail(context, ATTN_ERROR_VALUE,
                            "expected 0 <= %s%s < %" PRId64 ", got %" PRId64,
                            name, position, limit, id);
  }
  return ATTN_OK;
}

int32_t attn_rt_too_large(void *ctx, const char *kernel) {
  return attn_rt_ctx_fail(ctx, ATTN_ERROR_SHAPE,
                          "expected dimensions below 2^31 after rows are "
                          "joined, got larger ones for kernel %s",
                          kernel);
}

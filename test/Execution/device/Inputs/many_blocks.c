/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* More blocks than a launch can have: with fake_cuda.c. */
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  scale_model *model;
  scale_ctx *ctx;
  int64_t dims[] = {65536, 2};
  size_t bytes = 65536 * 2 * 4 * sizeof(float);
  float *x = calloc(1, bytes), *y = calloc(1, bytes), g[4] = {0};
  const void *inputs[] = {x, g};
  void *outputs[] = {y};
  if (scale_load(NULL, 0, NULL, &model) || scale_create(model, NULL, &ctx))
    return 1;
  for (; dims[0] > 65534; --dims[0]) {
    scale_status status =
        scale_run_generic(ctx, dims, inputs, NULL, outputs, NULL);
    printf("run: %s: %s\n", scale_status_string(status), scale_last_error(ctx));
  }
  scale_destroy(ctx);
  scale_unload(model);
  free(x);
  free(y);
  return 0;
}

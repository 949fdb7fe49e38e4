// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Runs the model of lookup.mlir: lookup [weights file] [target]. */
#include "lookup.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char error[512] = "";
  lookup_options options;
  memset(&options, 0, sizeof options);
  options.error = error;
  options.error_size = sizeof error;
  options.num_threads = 2;
  if (argc > 2)
    options.target = argv[2];
  lookup_model *model;
  lookup_ctx *ctx;
  lookup_status status = argc > 1 && argv[1][0]
                             ? lookup_load_file(argv[1], &options, &model)
                             : lookup_load(NULL, 0, &options, &model);
  if (status == LOOKUP_OK)
    status = lookup_create(model, &options, &ctx);
  if (status != LOOKUP_OK) {
    printf("%s: %s\n", lookup_status_string(status), error);
    return 1;
  }
  printf("target %s\n", lookup_target(model));
  const int64_t ids[] = {2, 0, 1};
  float projected[3][5];
  lookup_inputs inputs = {3, {ids, {0}}};
  lookup_outputs outputs = {{&projected[0][0], {0, 0}}};
  status = lookup_run(ctx, &inputs, &outputs, NULL, 0);
  printf("status %d %s\n", status, lookup_last_error(ctx));
  for (int r = 0; r < 3; ++r)
    printf("%g %g %g %g %g\n", projected[r][0], projected[r][1],
           projected[r][2], projected[r][3], projected[r][4]);

  const int64_t bad[] = {0, 1, 3};
  inputs.ids.data = bad;
  status = lookup_run(ctx, &inputs, &outputs, NULL, 0);
  printf("status %d %s\n", status, lookup_last_error(ctx));
  inputs.rows = 65;
  status = lookup_run(ctx, &inputs, &outputs, NULL, 0);
  printf("status %d %s\n", status, lookup_last_error(ctx));
  inputs.rows = 0;
  status = lookup_run(ctx, &inputs, &outputs, NULL, 0);
  printf("status %d %s\n", status, lookup_last_error(ctx));
  lookup_destroy(ctx);
  lookup_unload(model);
  return 0;
}

/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls the compiled worked example and compares it with the exact result.
 *
 *   attn-opt attention.mlir --emit=obj -o attention
 *   cc main.c attention.o -lm -lpthread -o worked-example && ./worked-example
 */
#include "attention.h"

#include <math.h>
#include <stdio.h>

int main(void) {
  const float query[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  const float value[3][2] = {{1, 0}, {0, 1}, {0.5f, 0.5f}};
  float output[3][2];

  /* With s = exp(1/sqrt(2)), row 0 has the weights (s, 1, s) / (2s + 1). */
  double s = exp(1 / sqrt(2.0)), weight = (s + s / 2) / (2 * s + 1);
  const double exact[3][2] = {
      {weight, 1 - weight}, {1 - weight, weight}, {0.5, 0.5}};

  attention_model *model;
  attention_ctx *ctx;
  char error[256] = "";
  attention_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  if (attention_load(NULL, 0, &options, &model) ||
      attention_create(model, &options, &ctx)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }

  attention_inputs inputs = {0};
  attention_outputs outputs = {0};
  inputs.batch = 1;
  inputs.sequence = 3;
  inputs.query.data = &query[0][0];
  inputs.key.data = &query[0][0];
  inputs.value.data = &value[0][0];
  outputs.output.data = &output[0][0];
  if (attention_run(ctx, &inputs, &outputs, NULL, 0)) {
    fprintf(stderr, "%s\n", attention_last_error(ctx));
    return 1;
  }

  double worst = 0;
  for (int row = 0; row < 3; ++row) {
    printf("[%.3f, %.3f]\n", output[row][0], output[row][1]);
    for (int column = 0; column < 2; ++column)
      worst = fmax(worst, fabs(output[row][column] - exact[row][column]));
  }
  printf("largest error %.1e\n", worst);

  attention_destroy(ctx);
  attention_unload(model);
  return !(worst <= 1e-6);
}

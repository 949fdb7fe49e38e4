/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Self-attention does not know the order of its tokens: rows of the input in
 * another order give rows of the output in that order. */
#include "self.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { N = 150, WIDTH = 512 };

int main(int argc, char **argv) {
  (void)argc;
  char error[256] = "";
  self_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  self_model *model;
  self_ctx *ctx;
  CHECK(self_load_file(argv[1], &options, &model), error);
  CHECK(self_create(model, &options, &ctx), error);

  float *x = allocateFloats(N * WIDTH), *y = allocateFloats(N * WIDTH);
  float *shuffled = allocateFloats(N * WIDTH), *z = allocateFloats(N * WIDTH);
  fillRandom(x, N * WIDTH, 1);
  /* 77 and 150 have no common factor: every row has its place. */
  for (int row = 0; row < N; ++row)
    memcpy(shuffled + row * 77 % N * WIDTH, x + row * WIDTH,
           WIDTH * sizeof *x);

  self_inputs inputs = {0};
  self_outputs outputs = {0};
  inputs.batch = 1;
  inputs.sequence = N;
  inputs.x.data = x;
  outputs.y.data = y;
  CHECK(self_run(ctx, &inputs, &outputs, NULL, 0), self_last_error(ctx));
  inputs.x.data = shuffled;
  outputs.y.data = z;
  CHECK(self_run(ctx, &inputs, &outputs, NULL, 0), self_last_error(ctx));

  double worst = 0, moved = 0;
  for (int row = 0; row < N; ++row)
    for (int column = 0; column < WIDTH; ++column) {
      float expected = y[row * WIDTH + column];
      worst = fmax(worst, fabs(z[row * 77 % N * WIDTH + column] - expected));
      moved = fmax(moved, fabs(z[row * WIDTH + column] - expected));
    }
  self_destroy(ctx);
  self_unload(model);
  printf("largest difference %.1e, without the permutation %.1e\n", worst,
         moved);
  /* The second condition: outputs that do not depend on the row would pass. */
  return !(worst <= 1e-5 && moved > 1e-2);
}

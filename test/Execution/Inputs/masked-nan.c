/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is masked does not exist: NaN and infinity in hidden keys and values
 * change no bit of the output, and a sequence without keys gives zeros. */
#include "masked.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { B = 3, N = 150, H = 2, D = 24, ROW = H * D, COUNT = B * N * ROW };

int main(void) {
  char error[256] = "";
  masked_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  masked_model *model;
  masked_ctx *ctx;
  CHECK(masked_load(NULL, 0, &options, &model), error);
  CHECK(masked_create(model, &options, &ctx), error);

  float *query = allocateFloats(COUNT), *key = allocateFloats(COUNT);
  float *value = allocateFloats(COUNT);
  float *clean = allocateFloats(COUNT), *dirty = allocateFloats(COUNT);
  fillRandom(query, COUNT, 1);
  fillRandom(key, COUNT, 2);
  fillRandom(value, COUNT, 3);
  /* Holes in the first sequence, right padding in the second, nothing in the
   * third. */
  static int64_t mask[B][N];
  for (int j = 0; j < N; ++j) {
    mask[0][j] = j % 7 != 3;
    mask[1][j] = j < 131;
  }

  masked_inputs inputs = {0};
  masked_outputs outputs = {0};
  inputs.batch = B;
  inputs.sequence = N;
  inputs.query.data = query;
  inputs.key.data = key;
  inputs.value.data = value;
  inputs.mask.data = &mask[0][0];
  outputs.output.data = clean;
  CHECK(masked_run(ctx, &inputs, &outputs, NULL, 0), masked_last_error(ctx));

  const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
  for (int b = 0; b < B; ++b)
    for (int j = 0; j < N; ++j)
      for (int c = 0; c < ROW && !mask[b][j]; ++c) {
        key[(b * N + j) * ROW + c] = bad[(j + c) % 4];
        value[(b * N + j) * ROW + c] = bad[(j + c + 1) % 4];
      }
  outputs.output.data = dirty;
  CHECK(masked_run(ctx, &inputs, &outputs, NULL, 0), masked_last_error(ctx));

  if (memcmp(clean, dirty, COUNT * sizeof *clean)) {
    puts("masked keys and values change the output");
    return 1;
  }
  for (int i = 0; i < COUNT; ++i) {
    int empty = i >= 2 * N * ROW;
    if (!isfinite(clean[i]) || (clean[i] == 0) != empty) {
      printf("element %d is %g\n", i, clean[i]);
      return 1;
    }
  }
  masked_destroy(ctx);
  masked_unload(model);
  return 0;
}

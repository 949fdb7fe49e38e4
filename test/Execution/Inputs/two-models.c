/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two models in one program, each run by two threads at a time: results are
 * those of a run alone, to the bit. */
#include "causal.h"
#include "cross.h"
#include "support.h"

#include <pthread.h>
#include <string.h>

enum { B = 2, N = 61, M = 140, WIDTH = 512, OUT = B * N * WIDTH };

static causal_model *causalModel;
static cross_model *crossModel;
static float *x, *memory, *causalAlone, *crossAlone;
static char error[256];

static void runCausal(float *y, int threads) {
  causal_options options = {0};
  causal_ctx *ctx;
  options.num_threads = threads;
  CHECK(causal_create(causalModel, &options, &ctx), "create");
  causal_inputs inputs = {0};
  causal_outputs outputs = {0};
  inputs.batch = B;
  inputs.sequence = N;
  inputs.x.data = x;
  outputs.y.data = y;
  CHECK(causal_run(ctx, &inputs, &outputs, NULL, 0), causal_last_error(ctx));
  causal_destroy(ctx);
}

static void runCross(float *y, int threads) {
  cross_options options = {0};
  cross_ctx *ctx;
  options.num_threads = threads;
  CHECK(cross_create(crossModel, &options, &ctx), "create");
  cross_inputs inputs = {0};
  cross_outputs outputs = {0};
  inputs.batch = B;
  inputs.sequence = N;
  inputs.memory_length = M;
  inputs.x.data = x;
  inputs.memory.data = memory;
  outputs.y.data = y;
  CHECK(cross_run(ctx, &inputs, &outputs, NULL, 0), cross_last_error(ctx));
  cross_destroy(ctx);
}

static void *work(void *number) {
  float *y = allocateFloats(OUT);
  intptr_t thread = (intptr_t)number, wrong = 0;
  for (int round = 0; round < 5; ++round) {
    memset(y, 0xff, OUT * sizeof *y);
    if (thread % 2)
      runCausal(y, 1 + (int)thread / 2);
    else
      runCross(y, 1 + (int)thread / 2);
    wrong |= memcmp(y, thread % 2 ? causalAlone : crossAlone,
                    OUT * sizeof *y) != 0;
  }
  free(y);
  return (void *)wrong;
}

int main(int argc, char **argv) {
  (void)argc;
  causal_options causalOptions = {0};
  causalOptions.error = error;
  causalOptions.error_size = sizeof error;
  cross_options crossOptions = {0};
  crossOptions.error = error;
  crossOptions.error_size = sizeof error;
  CHECK(causal_load_file(argv[1], &causalOptions, &causalModel), error);
  CHECK(cross_load_file(argv[2], &crossOptions, &crossModel), error);
  x = allocateFloats(B * N * WIDTH);
  memory = allocateFloats(B * M * WIDTH);
  causalAlone = allocateFloats(OUT);
  crossAlone = allocateFloats(OUT);
  fillRandom(x, B * N * WIDTH, 1);
  fillRandom(memory, B * M * WIDTH, 2);
  runCausal(causalAlone, 1);
  runCross(crossAlone, 1);

  pthread_t threads[4];
  intptr_t wrong = 0;
  for (intptr_t i = 0; i < 4; ++i)
    CHECK(pthread_create(&threads[i], NULL, work, (void *)i), "thread");
  for (int i = 0; i < 4; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    wrong |= (intptr_t)result;
  }
  causal_unload(causalModel);
  cross_unload(crossModel);
  puts(wrong ? "a result differs from that of a run alone" : "equal");
  return wrong != 0;
}

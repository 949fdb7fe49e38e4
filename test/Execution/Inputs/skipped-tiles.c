/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tiles that a mask hides when the kernel runs are not visited: keys and values
 * of other documents lie on pages that cannot be read. */
#define _DEFAULT_SOURCE
#include "documents.h"
#include "support.h"

#include <string.h>
#include <sys/mman.h>

/* Documents are whole tiles of keys, and their rows whole pages. */
enum { N = 100, M = 1024, FIRST = 384, END = 512, H = 2, D = 32, ROW = H * D };

static float *mapRows(uint64_t seed) {
  float *rows =
      (float *)mmap(NULL, M * ROW * sizeof(float), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (rows == MAP_FAILED)
    exit(2);
  fillRandom(rows, M * ROW, seed);
  return rows;
}

static void hideRows(float *rows, int first, int end) {
  if (mprotect(rows + first * ROW, (end - first) * ROW * sizeof(float),
               PROT_NONE))
    exit(2);
}

int main(void) {
  char error[256] = "";
  documents_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  documents_model *model;
  documents_ctx *ctx;
  CHECK(documents_load(NULL, 0, &options, &model), error);
  CHECK(documents_create(model, &options, &ctx), error);

  float *query = allocateFloats(N * ROW);
  float *key = mapRows(2), *value = mapRows(3);
  float *before = allocateFloats(N * ROW), *after = allocateFloats(N * ROW);
  fillRandom(query, N * ROW, 1);
  static int64_t query_ids[N], key_ids[M];
  for (int i = 0; i < N; ++i)
    query_ids[i] = 7;
  for (int j = 0; j < M; ++j)
    key_ids[j] = j < FIRST ? 3 : j < END ? 7 : 8;

  documents_inputs inputs = {0};
  documents_outputs outputs = {0};
  inputs.n = N;
  inputs.m = M;
  inputs.query.data = query;
  inputs.key.data = key;
  inputs.value.data = value;
  inputs.query_ids.data = query_ids;
  inputs.key_ids.data = key_ids;
  outputs.output.data = before;
  CHECK(documents_run(ctx, &inputs, &outputs, NULL, 0),
        documents_last_error(ctx));
  for (int at = 0; at < 2; ++at) {
    hideRows(at ? value : key, 0, FIRST);
    hideRows(at ? value : key, END, M);
  }
  outputs.output.data = after;
  CHECK(documents_run(ctx, &inputs, &outputs, NULL, 0),
        documents_last_error(ctx));
  if (memcmp(before, after, N * ROW * sizeof *before)) {
    puts("hidden keys change the output");
    return 1;
  }
  documents_destroy(ctx);
  documents_unload(model);
  return 0;
}

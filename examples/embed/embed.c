/*===- embed.c - how alike sentences are --------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* embed VOCABULARY WEIGHTS THREADS < sentences
 *
 * Turns each line into a vector with a compiled sentence embedding model and
 * prints the scalar products of all pairs: 1 means the same, 0 unrelated.
 * Everything about the model is in embedder.h, which attn-opt wrote; WIDTH and
 * MAX_SEQUENCE are the two sizes that its comments state. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "embedder.h"
#include "wordpiece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SENTENCES = 64, LINE = 4096, RUNS = 10 };

static char sentences[MAX_SENTENCES][LINE];

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "error: out of memory\n");
    exit(1);
  }
  return memory;
}

static size_t read_sentences(void) {
  size_t count = 0;
  while (count < MAX_SENTENCES &&
         fgets(sentences[count], LINE, stdin) != NULL) {
    sentences[count][strcspn(sentences[count], "\r\n")] = '\0';
    count += sentences[count][0] != '\0';
  }
  return count;
}

/* Fills (count, length) arrays of ids and mask and returns the length of the
 * longest sentence. */
static int64_t tokenize(const wordpiece *tokenizer, size_t count, int64_t *ids,
                        int64_t *mask) {
  int64_t *rows = allocate(count * MAX_SEQUENCE, sizeof(*rows));
  size_t *lengths = allocate(count, sizeof(*lengths));
  size_t longest = 0, i, j;
  for (i = 0; i < count; ++i) {
    lengths[i] = wordpiece_encode(tokenizer, sentences[i],
                                  rows + i * MAX_SEQUENCE, MAX_SEQUENCE);
    if (lengths[i] > longest)
      longest = lengths[i];
  }
  for (i = 0; i < count; ++i)
    for (j = 0; j < longest; ++j) {
      int used = j < lengths[i];
      ids[i * longest + j] =
          used ? rows[i * MAX_SEQUENCE + j] : wordpiece_padding(tokenizer);
      mask[i * longest + j] = used;
    }
  free(rows);
  free(lengths);
  return (int64_t)longest;
}

static void print_table(const float *embeddings, size_t count) {
  size_t i, j, d;
  printf("\n   ");
  for (j = 0; j < count; ++j)
    printf("%6zu", j + 1);
  printf("\n");
  for (i = 0; i < count; ++i) {
    printf("%3zu", i + 1);
    for (j = 0; j < count; ++j) {
      double product = 0;
      for (d = 0; d < WIDTH; ++d)
        product += (double)embeddings[i * WIDTH + d] *
                   (double)embeddings[j * WIDTH + d];
      printf("%6.2f", product);
    }
    printf("  %s\n", sentences[i]);
  }
}

int main(int argc, char **argv) {
  char error[512] = "";
  embedder_options options = {0};
  embedder_model *model = NULL;
  embedder_ctx *ctx = NULL;
  embedder_inputs inputs = {0};
  embedder_outputs outputs = {{0}};
  embedder_status status;
  wordpiece *tokenizer;
  int64_t *ids, *mask, *types;
  double begin, best = 0;
  size_t count;
  int run;
  if (argc != 4) {
    fprintf(stderr, "usage: %s vocabulary weights threads < sentences\n",
            argv[0]);
    return 2;
  }
  tokenizer = wordpiece_open(argv[1], error, sizeof(error));
  if (tokenizer == NULL) {
    fprintf(stderr, "error: %s\n", error);
    return 1;
  }
  options.error = error;
  options.error_size = sizeof(error);
  options.num_threads = (int32_t)strtol(argv[3], NULL, 10);
  begin = seconds();
  status = embedder_load_file(argv[2], &options, &model);
  if (status == EMBEDDER_OK)
    status = embedder_create(model, &options, &ctx);
  if (status != EMBEDDER_OK) {
    fprintf(stderr, "error: %s: %s\n", embedder_status_string(status), error);
    return 1;
  }
  printf("model loaded in %.1f ms, kernels for %s\n", 1e3 * (seconds() - begin),
         embedder_target(model));

  count = read_sentences();
  if (count == 0) {
    fprintf(stderr, "error: expected sentences, one a line, got none\n");
    return 1;
  }
  ids = allocate(count * MAX_SEQUENCE, sizeof(*ids));
  mask = allocate(count * MAX_SEQUENCE, sizeof(*mask));
  types = allocate(count * MAX_SEQUENCE, sizeof(*types)); /* all are 0 */
  inputs.batch = (int64_t)count;
  inputs.sequence = tokenize(tokenizer, count, ids, mask);
  inputs.input_ids.data = ids;
  inputs.attention_mask.data = mask;
  inputs.token_type_ids.data = types;
  outputs.sentence_embedding.data = allocate(count * WIDTH, sizeof(float));

  for (run = 0; run < RUNS; ++run) {
    double took;
    begin = seconds();
    status = embedder_run(ctx, &inputs, &outputs, NULL, 0);
    took = seconds() - begin;
    if (status != EMBEDDER_OK) {
      fprintf(stderr, "error: %s\n", embedder_last_error(ctx));
      return 1;
    }
    if (run == 0 || took < best)
      best = took;
  }
  print_table(outputs.sentence_embedding.data, count);
  printf("\n%zu sentences of up to %lld tokens in %.2f ms (best of %d runs, %s "
         "threads)\n",
         count, (long long)inputs.sequence, 1e3 * best, RUNS, argv[3]);

  free(outputs.sentence_embedding.data);
  free(types);
  free(mask);
  free(ids);
  embedder_destroy(ctx);
  embedder_unload(model);
  wordpiece_close(tokenizer);
  return 0;
}

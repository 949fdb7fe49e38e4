/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs an encoder in two contexts, one a thread, and counts what goes to and
 * from the device: after the first run nothing but inputs and outputs. Calls of
 * the OpenCL library are counted where Halide's run-time looks them up. */
#define _GNU_SOURCE
#include "encoder.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*transfer_fn)(void *, void *, unsigned, size_t, size_t, void *,
                           unsigned, const void *, void *);
static transfer_fn real_write, real_read;
static _Thread_local int writes, reads;

static int count_write(void *queue, void *buffer, unsigned blocking,
                       size_t offset, size_t bytes, void *host, unsigned events,
                       const void *list, void *event) {
  ++writes;
  return real_write(queue, buffer, blocking, offset, bytes, host, events, list,
                    event);
}
static int count_read(void *queue, void *buffer, unsigned blocking,
                      size_t offset, size_t bytes, void *host, unsigned events,
                      const void *list, void *event) {
  ++reads;
  return real_read(queue, buffer, blocking, offset, bytes, host, events, list,
                   event);
}

void *dlsym(void *library, const char *name);
void *dlsym(void *library, const char *name) {
  static void *(*real)(void *, const char *);
  if (!real)
    *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  void *symbol = real(library, name);
  if (symbol && !strcmp(name, "clEnqueueWriteBuffer")) {
    *(void **)&real_write = symbol;
    *(void **)&symbol = (void *)count_write;
  } else if (symbol && !strcmp(name, "clEnqueueReadBuffer")) {
    *(void **)&real_read = symbol;
    *(void **)&symbol = (void *)count_read;
  }
  return symbol;
}

enum { BATCH = 2, SEQUENCE = 9, RUNS = 3 };

static const encoder_model *model;
static int64_t ids[BATCH][SEQUENCE], mask[BATCH][SEQUENCE],
    types[BATCH][SEQUENCE];

typedef struct result {
  int writes[RUNS], reads[RUNS];
  float hidden[BATCH * SEQUENCE * WIDTH];
} result;

static void *run(void *argument) {
  result *out = argument;
  encoder_ctx *ctx;
  if (encoder_create(model, NULL, &ctx))
    return "not created";
  const void *inputs[] = {ids, mask, types};
  float *others = calloc(2 * BATCH * WIDTH, sizeof *others);
  void *outputs[] = {out->hidden, others, others + BATCH * WIDTH};
  int64_t dims[] = {BATCH, SEQUENCE};
  for (int i = 0; i < RUNS; ++i) {
    writes = reads = 0;
    if (encoder_run_generic(ctx, dims, inputs, NULL, outputs, NULL)) {
      puts(encoder_last_error(ctx));
      return "not run";
    }
    out->writes[i] = writes;
    out->reads[i] = reads;
  }
  encoder_destroy(ctx);
  free(others);
  return NULL;
}

int main(int argc, char **argv) {
  static result results[3];
  encoder_model *loaded;
  if (argc != 2)
    return 2;
  for (int b = 0; b < BATCH; ++b)
    for (int s = 0; s < SEQUENCE; ++s) {
      ids[b][s] = 2 + (b * 5 + s * 3) % 20;
      mask[b][s] = s < SEQUENCE - b;
    }
  /* The CPU's answer is what both must give. */
  for (int device = 0; device < 2; ++device) {
    encoder_options options = {0};
    options.target = device ? "opencl" : "x86-64-v2";
    if (encoder_load_file(argv[1], &options, &loaded))
      return 1;
    model = loaded;
    pthread_t threads[2];
    void *text[2];
    int count = device ? 2 : 1;
    for (int i = 0; i < count; ++i)
      pthread_create(&threads[i], NULL, run, &results[device + i]);
    for (int i = 0; i < count; ++i) {
      pthread_join(threads[i], &text[i]);
      if (text[i])
        return puts((char *)text[i]), 1;
    }
    encoder_unload(loaded);
  }
  for (int i = 1; i < 3; ++i) {
    float worst = 0;
    for (int k = 0; k < BATCH * SEQUENCE * WIDTH; ++k) {
      float error = fabsf(results[i].hidden[k] - results[0].hidden[k]);
      worst = error > worst ? error : worst; /* a NaN stays where it is */
      if (!(error <= 1e-4f))
        worst = 1;
    }
    printf("context %d: %s;", i, worst <= 1e-4f ? "right" : "wrong");
    for (int r = 0; r < RUNS; ++r)
      printf(" run %d: %d up, %d down;", r, results[i].writes[r],
             results[i].reads[r]);
    puts("");
  }
  return 0;
}

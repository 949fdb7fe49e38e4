/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ways of running a model on a device, each with the status and the first text
 * of what goes wrong. Usage: device CASE. */
#include "scale.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 64 };

#ifdef WITHOUT_LIBRARY
/* A machine without the library. */
void *dlopen(const char *name, int mode);
void *dlopen(const char *name, int mode) {
  (void)name;
  (void)mode;
  return NULL;
}
char *dlerror(void);
char *dlerror(void) { return "no such file"; }
#endif

static float x[ROWS][COLUMNS], g[COLUMNS];

static void fill(void) {
  for (int c = 0; c < COLUMNS; ++c) {
    g[c] = 1.0f + 0.01f * (float)c;
    for (int r = 0; r < ROWS; ++r)
      x[r][c] = (float)((r * 7 + c * 13) % 29) - 14.0f;
  }
}

static int is_right(float y[ROWS][COLUMNS]) {
  for (int r = 0; r < ROWS; ++r) {
    double sum = 0;
    for (int c = 0; c < COLUMNS; ++c)
      sum += (double)x[r][c] * x[r][c];
    for (int c = 0; c < COLUMNS; ++c) {
      double want = x[r][c] / sqrt(sum / COLUMNS + 1e-5) * g[c];
      if (!(fabs(y[r][c] - want) < 1e-5))
        return 0;
    }
  }
  return 1;
}

static int say(const char *what, scale_status status, const char *text) {
  printf("%s: %s: %s\n", what, scale_status_string(status), text);
  return status != SCALE_OK;
}

/* The caller's side of OpenCL, as CL/cl.h declares it. */
#ifdef WITH_OPENCL
typedef void *handle;
int clGetPlatformIDs(unsigned, handle *, unsigned *);
int clGetDeviceIDs(handle, unsigned long, unsigned, handle *, unsigned *);
handle clCreateContext(const void *, unsigned, const handle *, void *, void *,
                       int *);
handle clCreateCommandQueue(handle, handle, unsigned long, int *);
handle clCreateBuffer(handle, unsigned long, size_t, void *, int *);
int clEnqueueReadBuffer(handle, handle, unsigned, size_t, size_t, void *,
                        unsigned, const void *, void *);
int clReleaseMemObject(handle);
int clReleaseCommandQueue(handle);
int clReleaseContext(handle);

/* Input and output are the caller's device memory: nothing is copied. */
static int run_bound(const scale_model *model) {
  handle platform, device, context, queue, in, out;
  int code = clGetPlatformIDs(1, &platform, NULL);
  code |= clGetDeviceIDs(platform, 0xFFFFFFFFul, 1, &device, NULL);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  in = clCreateBuffer(context, 1 | 32, sizeof x, x, &code);
  out = clCreateBuffer(context, 1, sizeof x, NULL, &code);
  scale_options options = {0};
  char error[256] = "";
  options.error = error;
  options.error_size = sizeof error;
  options.device_context = context;
  options.device_queue = queue;
  scale_ctx *ctx;
  if (say("create", scale_create(model, &options, &ctx), error))
    return 1;
  say("bind x", scale_bind_device(ctx, "x", in), scale_last_error(ctx));
  say("bind y", scale_bind_device(ctx, "y", out), scale_last_error(ctx));
  say("bind z", scale_bind_device(ctx, "z", out), scale_last_error(ctx));
  scale_inputs inputs = {.rows = ROWS, .g = {g, {0}}};
  scale_outputs outputs = {{NULL, {0, 0}}};
  float y[ROWS][COLUMNS];
  for (int i = 0; i < 2; ++i) {
    scale_status status = scale_run(ctx, &inputs, &outputs, NULL, 0);
    if (say("run", status, scale_last_error(ctx)))
      return 1;
    clEnqueueReadBuffer(queue, out, 1, 0, sizeof y, y, 0, NULL, NULL);
    puts(is_right(y) ? "right" : "wrong");
    memset(y, 0, sizeof y);
  }
  /* The host's memory again. */
  scale_bind_device(ctx, "x", NULL);
  scale_bind_device(ctx, "y", NULL);
  inputs.x.data = &x[0][0];
  outputs.y.data = &y[0][0];
  say("run", scale_run(ctx, &inputs, &outputs, NULL, 0), scale_last_error(ctx));
  puts(is_right(y) ? "right" : "wrong");
  scale_destroy(ctx);
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  code |= clReleaseCommandQueue(queue) | clReleaseContext(context);
  return code != 0;
}
#endif

/* The same of a CUcontext, a CUstream and CUdeviceptr, with fake_cuda.c, whose
 * device has the host's memory. */
#ifdef WITH_FAKE_CUDA
static int run_bound(const scale_model *model) {
  static float out[ROWS][COLUMNS];
  char error[256] = "";
  scale_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  options.device_context = out; /* any */
  options.device_queue = (void *)0x99;
  scale_ctx *ctx;
  if (say("create", scale_create(model, &options, &ctx), error))
    return 1;
  say("bind x", scale_bind_device(ctx, "x", x), scale_last_error(ctx));
  say("bind y", scale_bind_device(ctx, "y", out), scale_last_error(ctx));
  scale_inputs inputs = {.rows = ROWS, .g = {g, {0}}};
  scale_outputs outputs = {{NULL, {0, 0}}};
  say("run", scale_run(ctx, &inputs, &outputs, NULL, 0), scale_last_error(ctx));
  scale_destroy(ctx);
  return 0;
}
#endif

/* Memory that is not there: allocation number `fails` is refused. */
static int allocations, fails;
static void *allocate(void *user, size_t size, size_t alignment) {
  (void)user;
  return ++allocations == fails
             ? NULL
             : aligned_alloc(alignment,
                             (size + alignment - 1) / alignment * alignment);
}
static void deallocate(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

/* Each allocation of a context and its first run is refused once. */
static int starve(const scale_model *model) {
  for (fails = 1;; ++fails) {
    char error[256] = "";
    scale_options options = {0};
    options.error = error;
    options.error_size = sizeof error;
    options.allocate = allocate;
    options.deallocate = deallocate;
    scale_ctx *ctx = NULL;
    allocations = 0;
    scale_status status = scale_create(model, &options, &ctx);
    if (status) {
      say("create", status, error);
    } else {
      float y[ROWS][COLUMNS];
      scale_inputs inputs = {ROWS, {&x[0][0], {0, 0}}, {g, {0}}};
      scale_outputs outputs = {{&y[0][0], {0, 0}}};
      status = scale_run(ctx, &inputs, &outputs, NULL, 0);
      say("run", status, scale_last_error(ctx));
      scale_destroy(ctx);
    }
    if (!status)
      return allocations < fails ? 0 : 1;
  }
}

static const scale_model *shared;

/* A context and some runs. */
static void *run_often(void *argument) {
  scale_ctx *ctx;
  char *result = "right";
  (void)argument;
  if (scale_create(shared, NULL, &ctx))
    return "not created";
  for (int i = 0; i < 20; ++i) {
    float y[ROWS][COLUMNS] = {{0}};
    scale_inputs inputs = {ROWS, {&x[0][0], {0, 0}}, {g, {0}}};
    scale_outputs outputs = {{&y[0][0], {0, 0}}};
    if (scale_run(ctx, &inputs, &outputs, NULL, 0) || !is_right(y))
      result = "wrong";
  }
  scale_destroy(ctx);
  return result;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  fill();
  char error[512] = "";
  scale_options options = {0};
  options.error = error;
  options.error_size = sizeof error;
  scale_model *model;
  scale_ctx *ctx = NULL;
  if (say("load", scale_load(NULL, 0, &options, &model), error))
    return 1;
  printf("target: %s\n", scale_target(model));
  shared = model;
#if defined(WITH_OPENCL) || defined(WITH_FAKE_CUDA)
  if (!strcmp(argv[1], "bound"))
    return run_bound(model);
#endif
  if (!strcmp(argv[1], "threads")) {
    pthread_t threads[2];
    void *results[2];
    for (int i = 0; i < 2; ++i)
      pthread_create(&threads[i], NULL, run_often, NULL);
    for (int i = 0; i < 2; ++i) {
      pthread_join(threads[i], &results[i]);
      printf("thread %d: %s\n", i, (char *)results[i]);
    }
    scale_unload(model);
    return 0;
  }
  if (!strcmp(argv[1], "two")) {
    scale_ctx *second;
    char *result[2];
    scale_create(model, &options, &second);
    for (int i = 0; i < 2; ++i)
      result[i] = run_often(NULL);
    scale_destroy(second);
    scale_unload(model);
    printf("%s, %s\n", result[0], result[1]);
    return 0;
  }
  if (!strcmp(argv[1], "starved"))
    return starve(model);
  if (!strcmp(argv[1], "name"))
    options.device = "Difference Engine";
  if (say("create", scale_create(model, &options, &ctx), error)) {
    scale_unload(model);
    return 1;
  }
  float y[ROWS][COLUMNS];
  scale_inputs inputs = {ROWS, {&x[0][0], {0, 0}}, {g, {0}}};
  scale_outputs outputs = {{&y[0][0], {0, 0}}};
  if (!strcmp(argv[1], "memory")) /* refused before anything is read */
    inputs.rows = 2147483647;
  scale_status status = scale_run(ctx, &inputs, &outputs, NULL, 0);
  if (say("run", status, scale_last_error(ctx))) {
    status = scale_run(ctx, &inputs, &outputs, NULL, 0);
    say("again", status, scale_last_error(ctx));
    scale_destroy(ctx);
    scale_unload(model);
    return 1;
  }
  puts(is_right(y) ? "right" : "wrong");
  if (!strcmp(scale_target(model), "x86-64-v2"))
    say("bind", scale_bind_device(ctx, "x", y), scale_last_error(ctx));
  scale_destroy(ctx);
  scale_unload(model);
  return 0;
}

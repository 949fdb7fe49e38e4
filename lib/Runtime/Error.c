/*===- Error.c - texts of failures -------------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* A text is written once, where the failure is seen, into a buffer of fixed
 * size: reporting a failed allocation must not allocate. */
#include "Runtime.h"
#include <stdarg.h>
#include <stdio.h>

attn_status attn_rt_fail(char *buffer, size_t size, attn_status status,
                         const char *format, ...) {
  if (buffer && size) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
  }
  return status;
}

attn_status attn_rt_ctx_fail(attn_ctx *ctx, attn_status status,
                             const char *format, ...) {
  pthread_mutex_lock(&ctx->lock);
  if (!ctx->error[0]) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, arguments);
    va_end(arguments);
  }
  pthread_mutex_unlock(&ctx->lock);
  return status;
}

const char *attn_model_status_string(attn_status status);
const char *attn_model_status_string(attn_status status) {
  switch (status) {
  case ATTN_OK:
    return "ok";
  case ATTN_ERROR_ARGUMENT:
    return "argument not allowed";
  case ATTN_ERROR_SHAPE:
    return "dimension out of range";
  case ATTN_ERROR_WORKSPACE:
    return "workspace too small";
  case ATTN_ERROR_FILE:
    return "weights file not readable";
  case ATTN_ERROR_WEIGHTS:
    return "weights do not belong to this model";
  case ATTN_ERROR_CPU:
    return "CPU not supported";
  case ATTN_ERROR_MEMORY:
    return "out of memory";
  case ATTN_ERROR_THREADS:
    return "thread not started";
  case ATTN_ERROR_VALUE:
    return "input value out of range";
  case ATTN_ERROR_INTERNAL:
    return "internal error";
  case ATTN_ERROR_DEVICE:
    return "device not usable";
  }
  return "unknown status";
}

/*===- Scratch.c - memory that kernels ask for when they run -----*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* A kernel whose scratch has no fixed size asks for it. Blocks stay with the
 * context, so that a second run of the same dims asks nobody, and a kernel that
 * leaves early leaks nothing: at the end of a run all blocks are free again. */
#include "Runtime.h"
#include <stddef.h>

struct attn_scratch {
  attn_scratch *next;
  size_t size; /* that a kernel may use */
  bool used;
};

/* Data follow the header's cache line; Halide reads up to 8 bytes past both
 * ends. */
enum { HEADER = 128, SLACK = 64 };

static void *get_data(attn_scratch *block) { return (char *)block + HEADER; }

/* The free block that wastes least, or NULL; and the link to the largest one
 * that is too small. */
static attn_scratch *find(attn_ctx *ctx, size_t size, attn_scratch ***small) {
  attn_scratch *best = NULL;
  *small = NULL;
  for (attn_scratch **link = &ctx->scratch; *link; link = &(*link)->next) {
    attn_scratch *block = *link;
    if (block->used)
      continue;
    if (block->size >= size) {
      if (!best || block->size < best->size)
        best = block;
    } else if (!*small || block->size > (**small)->size) {
      *small = link;
    }
  }
  return best;
}

void *halide_malloc(void *user_context, size_t size);
void *halide_malloc(void *user_context, size_t size) {
  attn_ctx *ctx = user_context;
  attn_scratch **small;
  pthread_mutex_lock(&ctx->lock);
  attn_scratch *block = find(ctx, size, &small);
  if (!block && small) { /* dims grew: the larger block takes its place */
    attn_scratch *outgrown = *small;
    *small = outgrown->next;
    attn_rt_deallocate(&ctx->memory, outgrown);
  }
  if (!block && size <= SIZE_MAX - HEADER - SLACK) {
    block = attn_rt_allocate(&ctx->memory, HEADER + size + SLACK);
    if (block) {
      block->next = ctx->scratch;
      block->size = size;
      ctx->scratch = block;
    }
  }
  if (block)
    block->used = true;
  pthread_mutex_unlock(&ctx->lock);
  if (block)
    return get_data(block);
  attn_rt_ctx_fail(ctx, ATTN_ERROR_MEMORY,
                   "out of memory: a kernel needs %zu bytes of scratch", size);
  return NULL;
}

void halide_free(void *user_context, void *pointer);
void halide_free(void *user_context, void *pointer) {
  attn_ctx *ctx = user_context;
  if (!pointer)
    return;
  attn_scratch *block = (attn_scratch *)(void *)((char *)pointer - HEADER);
  pthread_mutex_lock(&ctx->lock);
  block->used = false;
  pthread_mutex_unlock(&ctx->lock);
}

void attn_rt_scratch_reset(attn_ctx *ctx) {
  for (attn_scratch *block = ctx->scratch; block; block = block->next)
    block->used = false;
}

void attn_rt_scratch_destroy(attn_ctx *ctx) {
  while (ctx->scratch) {
    attn_scratch *block = ctx->scratch;
    ctx->scratch = block->next;
    attn_rt_deallocate(&ctx->memory, block);
  }
}

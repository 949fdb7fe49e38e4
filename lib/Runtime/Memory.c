/*===- Memory.c - the caller's allocator or malloc ---------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* All memory of a model or context comes through one pair of functions. Blocks
 * are aligned to 64 bytes, a cache line and the widest vector. */
#define _POSIX_C_SOURCE 200809L
#include "Runtime.h"
#include <stdlib.h>

static void *allocate_default(void *user, size_t size, size_t alignment) {
  void *pointer = NULL;
  (void)user;
  return posix_memalign(&pointer, alignment, size) ? NULL : pointer;
}

static void deallocate_default(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

bool attn_rt_memory(const attn_options *options, attn_memory *memory) {
  memory->allocate = allocate_default;
  memory->deallocate = deallocate_default;
  memory->user = NULL;
  if (!options || (!options->allocate && !options->deallocate))
    return true;
  memory->allocate = options->allocate;
  memory->deallocate = options->deallocate;
  memory->user = options->user;
  return options->allocate && options->deallocate;
}

void *attn_rt_allocate(const attn_memory *memory, size_t size) {
  return memory->allocate(memory->user, size ? size : 1, 64);
}

void attn_rt_deallocate(const attn_memory *memory, void *pointer) {
  if (pointer)
    memory->deallocate(memory->user, pointer);
}

/*===- pool-race.c - threads of a context ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Jobs in which every thread has one task, and a loop inside a task. Threads
 * learn of each other by relaxed numbers only: the pool alone puts what they do
 * in order. */
#include "Runtime.h"

#include <sched.h>
#include <stdio.h>

enum { THREADS = 3, JOBS = 200 };

static attn_pool *pool;
static int arrived;
static int done[THREADS][THREADS];

static int inner(void *argument, int index) {
  ++((int *)argument)[index];
  return 0;
}

static int outer(void *argument, int index) {
  int job = *(const int *)argument;
  __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < (job + 1) * THREADS)
    sched_yield();
  return attn_rt_pool_run(pool, inner, done[index], THREADS);
}

int main(void) {
  attn_options options = {0};
  attn_memory memory;
  if (!attn_rt_memory(&options, &memory) ||
      attn_rt_pool_create(&memory, THREADS, &pool))
    return 1;
  for (int job = 0; job < JOBS; ++job)
    if (attn_rt_pool_run(pool, outer, &job, THREADS))
      return 1;
  attn_rt_pool_destroy(&memory, pool);
  int total = 0;
  for (int i = 0; i < THREADS; ++i)
    for (int j = 0; j < THREADS; ++j)
      total += done[i][j];
  printf("%d of %d\n", total, JOBS * THREADS * THREADS);
  return 0;
}

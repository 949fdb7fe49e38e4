/*===- Pool.c - the threads of a context -------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* num_threads - 1 workers wait for a job: a counter that everybody, the calling
 * thread too, draws indices from. A job belongs to the pool until every worker
 * that joined it has left, so that the next job never meets a late one. Loops
 * inside a task run on the thread of that task.
 *
 * The kernels of a model follow one another within microseconds, while to wake
 * a sleeping thread takes tens of them. So whoever waits looks for a while
 * first, and sleeps only then. */
#define _POSIX_C_SOURCE 200809L
#include "FloatState.h"
#include "Runtime.h"

#include <time.h>

/* How long a thread looks before it sleeps: about what falling asleep and being
 * woken cost together, so that looking in vain costs at most as much again. */
#define ATTN_LOOK_NANOSECONDS 100000

/* How often a thread draws from a job that has more tasks than that. */
#define ATTN_DRAWS 128

struct attn_pool {
  pthread_mutex_t lock;
  pthread_cond_t work, idle;
  /* The next three change with the lock held, and are looked at without. */
  uint64_t generation; /* of the job; workers join each at most once */
  bool stop;
  int running;  /* workers inside the job */
  int occupied; /* 1 while a job is on; taken without the lock */
  int (*task)(void *, int);
  void *argument;
  int count;
  int step;     /* indices that are drawn at once */
  int64_t next; /* atomic: the next index; wide, as each thread overshoots */
  int failed;   /* atomic: the first result that is not 0 */
  int32_t started;
  pthread_t threads[];
};

static void draw(attn_pool *pool, int (*task)(void *, int), void *argument,
                 int count, int step) {
  for (;;) {
    int64_t first = __atomic_fetch_add(&pool->next, step, __ATOMIC_RELAXED);
    for (int64_t index = first; index < first + step; ++index) {
      if (index >= count || __atomic_load_n(&pool->failed, __ATOMIC_RELAXED))
        return;
      int result = task(argument, (int)index);
      if (result) {
        int none = 0;
        __atomic_compare_exchange_n(&pool->failed, &none, result, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        return;
      }
    }
  }
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t nanoseconds(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Something that a thread waits for. */
typedef bool (*condition)(const attn_pool *pool, uint64_t seen);

static bool has_work(const attn_pool *pool, uint64_t seen) {
  return __atomic_load_n(&pool->generation, __ATOMIC_RELAXED) != seen ||
         __atomic_load_n(&pool->stop, __ATOMIC_RELAXED);
}

static bool is_idle(const attn_pool *pool, uint64_t seen) {
  (void)seen;
  return !__atomic_load_n(&pool->running, __ATOMIC_RELAXED);
}

/* Looks for `holds` a while. The caller asks again with the lock held. */
static void look(const attn_pool *pool, condition holds, uint64_t seen) {
  if (holds(pool, seen))
    return;
  int64_t end = nanoseconds() + ATTN_LOOK_NANOSECONDS;
  do {
    for (int i = 0; i < 16; ++i) {
      relax();
      if (holds(pool, seen))
        return;
    }
  } while (nanoseconds() < end);
}

static void set_running(attn_pool *pool, int running) {
  __atomic_store_n(&pool->running, running, __ATOMIC_RELAXED);
}

static void *work(void *argument) {
  attn_pool *pool = argument;
  uint64_t seen = 0;
  attn_rt_float_enter();
  for (;;) {
    look(pool, has_work, seen);
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && pool->generation == seen)
      pthread_cond_wait(&pool->work, &pool->lock);
    if (pool->stop)
      break;
    seen = pool->generation;
    int (*task)(void *, int) = pool->task;
    if (task) { /* not too late */
      set_running(pool, pool->running + 1);
      void *task_argument = pool->argument;
      int count = pool->count, step = pool->step;
      pthread_mutex_unlock(&pool->lock);
      draw(pool, task, task_argument, count, step);
      pthread_mutex_lock(&pool->lock);
      set_running(pool, pool->running - 1);
      if (!pool->running)
        pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

int attn_rt_pool_run(attn_pool *pool, int (*task)(void *, int), void *argument,
                     int count) {
  int free_pool = 0;
  if (!pool || count <= 1 ||
      !__atomic_compare_exchange_n(&pool->occupied, &free_pool, 1, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    for (int i = 0; i < count; ++i) {
      int result = task(argument, i);
      if (result)
        return result;
    }
    return 0;
  }
  int step = count / (ATTN_DRAWS * (pool->started + 1));
  if (step < 1)
    step = 1;
  pthread_mutex_lock(&pool->lock);
  pool->task = task;
  pool->argument = argument;
  pool->count = count;
  /* Of many tasks, which may be as short as drawing one, several at once; few
   * enough that the last to come in wastes less than a hundredth. */
  pool->step = step;
  pool->next = 0;
  pool->failed = 0;
  __atomic_store_n(&pool->generation, pool->generation + 1, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);

  draw(pool, task, argument, count, step);

  pthread_mutex_lock(&pool->lock);
  pool->task = NULL; /* nobody joins any more */
  pthread_mutex_unlock(&pool->lock);

  look(pool, is_idle, 0);
  pthread_mutex_lock(&pool->lock);
  while (pool->running)
    pthread_cond_wait(&pool->idle, &pool->lock);
  int result = pool->failed;
  pthread_mutex_unlock(&pool->lock);
  __atomic_store_n(&pool->occupied, 0, __ATOMIC_RELEASE);
  return result;
}

attn_status attn_rt_pool_create(const attn_memory *memory, int32_t threads,
                                attn_pool **result) {
  *result = NULL;
  size_t size = sizeof(attn_pool) + (size_t)(threads - 1) * sizeof(pthread_t);
  attn_pool *pool = attn_rt_allocate(memory, size);
  if (!pool)
    return ATTN_ERROR_MEMORY;
  *pool = (attn_pool){.next = 0};
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->idle, NULL);
  for (; pool->started < threads - 1; ++pool->started)
    if (pthread_create(&pool->threads[pool->started], NULL, work, pool)) {
      attn_rt_pool_destroy(memory, pool);
      return ATTN_ERROR_THREADS;
    }
  *result = pool;
  return ATTN_OK;
}

void attn_rt_pool_destroy(const attn_memory *memory, attn_pool *pool) {
  if (!pool)
    return;
  pthread_mutex_lock(&pool->lock);
  __atomic_store_n(&pool->stop, true, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t i = 0; i < pool->started; ++i)
    pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->work);
  pthread_cond_destroy(&pool->idle);
  pthread_mutex_destroy(&pool->lock);
  attn_rt_deallocate(memory, pool);
}

/*===- FloatState.h - the CPU's floating-point mode --------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Kernels run in the default mode (round to nearest, denormals kept, no traps)
 * whatever the caller's is, so that results do not depend on it; a run gives
 * the caller's mode and exception flags back. */
#ifndef ATTN_RUNTIME_FLOATSTATE_H
#define ATTN_RUNTIME_FLOATSTATE_H

#include <stdint.h>

#if defined(__x86_64__)
static inline void attn_rt_float_leave(uint64_t saved) {
  uint32_t word = (uint32_t)saved;
  __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
static inline uint64_t attn_rt_float_enter(void) {
  uint32_t word;
  __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
  attn_rt_float_leave(0x1f80);
  return word;
}
#elif defined(__aarch64__)
static inline void attn_rt_float_leave(uint64_t saved) {
  __asm__ volatile("msr fpcr, %0" : : "r"(saved) : "memory");
}
static inline uint64_t attn_rt_float_enter(void) {
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  attn_rt_float_leave(0);
  return word;
}
#else
static inline void attn_rt_float_leave(uint64_t saved) { (void)saved; }
static inline uint64_t attn_rt_float_enter(void) { return 0; }
#endif

#endif /* ATTN_RUNTIME_FLOATSTATE_H */

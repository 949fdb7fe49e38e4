/*===- Cpu.c - which compiled variant this CPU can run -----------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* A wide register file is usable only if the operating system saves it, which
 * XGETBV tells; without that the CPUID bit alone would lead to SIGILL. Linux
 * saves the 8 KiB of AMX only for a process that asks for it. */
#include "attn-c/cpu.h"
#include "Device.h"
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
typedef struct registers {
  uint32_t a, b, c, d;
} registers;

static registers cpuid(uint32_t leaf, uint32_t subleaf) {
  registers r;
  __asm__ volatile("cpuid"
                   : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                   : "a"(leaf), "c"(subleaf));
  return r;
}

static uint64_t xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

typedef struct bit {
  uint64_t feature;
  uint32_t shift;
} bit;

static uint64_t collect(uint32_t word, const bit *bits, int count) {
  uint64_t features = 0;
  for (int i = 0; i < count; ++i)
    if (word >> bits[i].shift & 1)
      features |= bits[i].feature;
  return features;
}
#define COLLECT(word, bits) collect(word, bits, sizeof bits / sizeof bits[0])

/* Asks Linux to save the tiles of all threads of this process from now on. It
 * refuses where a thread has a signal stack without room for them. */
static bool may_use_tiles(void) {
#if defined(__linux__)
  enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)ARCH_PRCTL), "D"((long)REQUEST_PERMISSION),
                     "S"((long)TILE_DATA)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

uint64_t attn_rt_cpu_features(uint64_t wanted) {
  static const bit leaf1[] = {
      {ATTN_CPU_SSE3, 0},        {ATTN_CPU_SSSE3, 9},   {ATTN_CPU_SSE41, 19},
      {ATTN_CPU_SSE42, 20},      {ATTN_CPU_POPCNT, 23}, {ATTN_CPU_MOVBE, 22},
      {ATTN_CPU_CMPXCHG16B, 13},
  };
  static const bit leaf1_avx[] = {
      {ATTN_CPU_AVX, 28}, {ATTN_CPU_FMA, 12}, {ATTN_CPU_F16C, 29}};
  static const bit leaf7[] = {{ATTN_CPU_BMI1, 3}, {ATTN_CPU_BMI2, 8}};
  static const bit leaf7_avx[] = {{ATTN_CPU_AVX2, 5}};
  static const bit leaf7_avx512[] = {{ATTN_CPU_AVX512F, 16},
                                     {ATTN_CPU_AVX512DQ, 17},
                                     {ATTN_CPU_AVX512CD, 28},
                                     {ATTN_CPU_AVX512BW, 30},
                                     {ATTN_CPU_AVX512VL, 31}};
  static const bit leaf7_1_avx512[] = {{ATTN_CPU_AVX512_BF16, 5}};
  static const bit leaf7_amx[] = {{ATTN_CPU_AMX_BF16, 22},
                                  {ATTN_CPU_AMX_TILE, 24}};
  static const bit extended1[] = {{ATTN_CPU_LAHF_SAHF, 0}, {ATTN_CPU_LZCNT, 5}};

  uint32_t last = cpuid(0, 0).a;
  registers one = cpuid(1, 0);
  uint64_t features = COLLECT(one.c, leaf1);
  if (cpuid(0x80000000u, 0).a >= 0x80000001u)
    features |= COLLECT(cpuid(0x80000001u, 0).c, extended1);

  uint64_t saved = one.c >> 27 & 1 ? xgetbv() : 0; /* OSXSAVE */
  bool avx = (saved & 0x6) == 0x6;                 /* XMM and YMM */
  bool avx512 = (saved & 0xe6) == 0xe6;            /* and masks and ZMM */
  bool amx = (saved & 0x60000) == 0x60000;         /* tiles and their shapes */
  if (avx)
    features |= COLLECT(one.c, leaf1_avx);
  if (last >= 7) {
    registers seven = cpuid(7, 0);
    features |= COLLECT(seven.b, leaf7);
    if (avx)
      features |= COLLECT(seven.b, leaf7_avx);
    if (avx512)
      features |= COLLECT(seven.b, leaf7_avx512);
    if (avx512 && seven.a >= 1)
      features |= COLLECT(cpuid(7, 1).a, leaf7_1_avx512);
    if (amx && wanted & COLLECT(seven.d, leaf7_amx) && may_use_tiles())
      features |= COLLECT(seven.d, leaf7_amx);
  }
  return features;
}
#elif defined(__aarch64__)
uint64_t attn_rt_cpu_features(uint64_t wanted) {
  (void)wanted;
  return ATTN_CPU_NEON; /* part of the base architecture */
}
#else
uint64_t attn_rt_cpu_features(uint64_t wanted) {
  (void)wanted;
  return 0;
}
#endif

void attn_rt_cpu_names(uint64_t features, char *buffer, size_t size) {
  /* By bit number. */
  static const char *const names[] = {
      "SSE3",       "SSSE3",       "SSE4.1",   "SSE4.2",   "POPCNT",
      "CMPXCHG16B", "LAHF/SAHF",   "AVX",      "AVX2",     "FMA",
      "F16C",       "BMI1",        "BMI2",     "LZCNT",    "MOVBE",
      "AVX512F",    "AVX512CD",    "AVX512BW", "AVX512DQ", "AVX512VL",
      "NEON",       "AVX512_BF16", "AMX-TILE", "AMX-BF16"};
  size_t used = 0;
  buffer[0] = 0;
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (features >> i & 1 && used < size) {
      int length = snprintf(buffer + used, size - used, "%s%s",
                            used ? ", " : "", names[i]);
      used += length > 0 ? (size_t)length : 0;
    }
}

static int count_bits(uint64_t word) {
  int count = 0;
  for (; word; word &= word - 1)
    ++count;
  return count;
}

const attn_variant *attn_rt_choose_variant(const attn_descriptor *descriptor,
                                           const char *target,
                                           uint64_t features, char *error,
                                           size_t error_size,
                                           attn_status *status) {
  const attn_variant *best = NULL, *nearest = NULL, *device = NULL;
  for (int32_t i = 0; i < descriptor->num_variants; ++i) {
    const attn_variant *variant = &descriptor->variants[i];
    if (target && strcmp(target, variant->target))
      continue;
    /* A device goes before the CPU where there is one. */
    if (!target && variant->device && descriptor->num_variants > 1) {
      if (variant->device->is_there(variant->device))
        return variant;
      if (!device)
        device = variant;
      continue;
    }
    int missing = count_bits(variant->cpu_features & ~features);
    if (missing) {
      if (!nearest || missing < count_bits(nearest->cpu_features & ~features))
        nearest = variant;
    } else if (!best || count_bits(variant->cpu_features) >
                            count_bits(best->cpu_features)) {
      best = variant;
    }
  }
  if (best)
    return best;
  /* A context of it says what is missing. */
  if (!nearest && device)
    return device;
  if (!nearest) {
    char list[128] = "";
    for (int32_t i = 0; i < descriptor->num_variants; ++i) {
      size_t used = strlen(list);
      snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
               descriptor->variants[i].target);
    }
    *status = attn_rt_fail(error, error_size, ATTN_ERROR_ARGUMENT,
                           "expected options.target to be one of the model's "
                           "variants (%s), got '%s'",
                           list, target);
    return NULL;
  }
  char names[256];
  attn_rt_cpu_names(nearest->cpu_features & ~features, names, sizeof names);
  *status = attn_rt_fail(
      error, error_size, ATTN_ERROR_CPU,
      "expected a CPU that runs %s%s, got one without %s: compile the model "
      "for another target as well",
      target || descriptor->num_variants == 1 ? "" : "at least ",
      nearest->target, names);
  return NULL;
}

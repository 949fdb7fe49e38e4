//===- TargetInfo.cpp - the table of CPUs ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A row stands for a family of cores, so its numbers are those that lose least
// over the family: the longest common multiply-add latency (too many sums cost
// nothing, too few stall) and the smaller of the common caches (a block that is
// too small costs a few per cent, one that falls out of the cache far more).
// Clocks and bandwidths differ by a factor of two within a family. Those here
// are of one busy core of a server, rounded: 3 GHz, and 12 GB/s, which a core's
// outstanding misses allow.
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TargetInfo.h"
#include "attn-c/cpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace attn;

static constexpr int64_t kib = 1024;

static constexpr TargetInfo targets[] = {
    // The baseline. SSE2 alone turns floor and ceil into calls of libm. Newer
    // cores run it with two multiply and two add units of latency 4; L2 is 256
    // KiB on the cores that have nothing better (Nehalem to Ivy Bridge).
    {"x86-64-v2", "v2", "x86_64-unknown-linux-gnu", "x86-64-linux-sse41",
     "x86-64-v2", "",
     /*vectorBytes=*/16, /*vectorRegisters=*/16,
     /*fmaPorts=*/2, /*fmaLatency=*/4, /*fusedMultiplyAdd=*/false,
     /*broadcastsLoads=*/true,
     /*l1Bytes=*/32 * kib, /*l2Bytes=*/256 * kib,
     /*assumedGHz=*/3.0, /*assumedReadGBytes=*/12.0, ATTN_CPU_X86_64_V2},
    // Haswell to Zen 4: two FMA units, latency 5 (Haswell) or 4 (since Skylake
    // and Zen 2). L2: 512 KiB on Zen, where the schedules were measured.
    {"x86-64-v3", "v3", "x86_64-unknown-linux-gnu",
     "x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-v3", "",
     /*vectorBytes=*/32, /*vectorRegisters=*/16,
     /*fmaPorts=*/2, /*fmaLatency=*/5, /*fusedMultiplyAdd=*/true,
     /*broadcastsLoads=*/true,
     /*l1Bytes=*/32 * kib, /*l2Bytes=*/512 * kib,
     /*assumedGHz=*/3.0, /*assumedReadGBytes=*/12.0, ATTN_CPU_X86_64_V3},
    // Skylake-SP onwards, Zen 4 and 5: 32 registers of 64 bytes, 1 MiB of L2.
    {"x86-64-v4", "v4", "x86_64-unknown-linux-gnu",
     "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", "x86-64-v4",
     "",
     /*vectorBytes=*/64, /*vectorRegisters=*/32,
     /*fmaPorts=*/2, /*fmaLatency=*/4, /*fusedMultiplyAdd=*/true,
     /*broadcastsLoads=*/true,
     /*l1Bytes=*/32 * kib, /*l2Bytes=*/1024 * kib,
     /*assumedGHz=*/3.0, /*assumedReadGBytes=*/12.0, ATTN_CPU_X86_64_V4},
    // Sapphire Rapids onwards: v4 with the matrix unit AMX, which multiplies
    // bf16, and the caches that these cores have.
    {"x86-64-v4-amx", "v4amx", "x86_64-unknown-linux-gnu",
     "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", "x86-64-v4",
     "",
     /*vectorBytes=*/64, /*vectorRegisters=*/32,
     /*fmaPorts=*/2, /*fmaLatency=*/4, /*fusedMultiplyAdd=*/true,
     /*broadcastsLoads=*/true,
     /*l1Bytes=*/48 * kib, /*l2Bytes=*/2048 * kib,
     /*assumedGHz=*/3.0, /*assumedReadGBytes=*/12.0, ATTN_CPU_X86_64_V4_AMX},
    // ARMv8-A with NEON, which the architecture guarantees. Neoverse N1 and
    // Cortex-A76: two units of latency 4, 64 KiB of L1, at least 512 KiB of L2.
    {"arm64", "arm64", "aarch64-unknown-linux-gnu", "arm-64-linux", "generic",
     "+neon",
     /*vectorBytes=*/16, /*vectorRegisters=*/32,
     /*fmaPorts=*/2, /*fmaLatency=*/4, /*fusedMultiplyAdd=*/true,
     /*broadcastsLoads=*/false,
     /*l1Bytes=*/64 * kib, /*l2Bytes=*/512 * kib,
     /*assumedGHz=*/3.0, /*assumedReadGBytes=*/12.0, ATTN_CPU_ARM64},
};

bool TargetInfo::hasMatrixUnit() const {
  return cpuFeatures & ATTN_CPU_AMX_BF16;
}

llvm::ArrayRef<TargetInfo> attn::cpuTargets() { return targets; }

const TargetInfo *attn::lookupTarget(llvm::StringRef name) {
  for (llvm::ArrayRef<TargetInfo> list : {cpuTargets(), gpuTargets()})
    for (const TargetInfo &target : list)
      if (target.name == name)
        return &target;
  return nullptr;
}

std::string attn::targetNames() {
  std::string names;
  for (llvm::ArrayRef<TargetInfo> list : {cpuTargets(), gpuTargets()})
    for (const TargetInfo &target : list)
      names += (names.empty() ? "" : ", ") + target.name.str();
  return names;
}

Machine attn::assumeMachine(const TargetInfo &target) {
  return {target.assumedGHz * target.flopsPerCycle(), target.assumedReadGBytes,
          /*isMeasured=*/false};
}

std::optional<Machine> attn::parseMachine(llvm::StringRef text) {
  Machine machine;
  machine.isMeasured = true;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    auto [name, number] = part.split('=');
    double *field = name == "gflops"   ? &machine.gflops
                    : name == "gbytes" ? &machine.gbytes
                                       : nullptr;
    if (!field || *field != 0 || number.getAsDouble(*field) ||
        !std::isfinite(*field) || *field <= 0)
      return std::nullopt;
  }
  if (machine.gflops == 0 || machine.gbytes == 0)
    return std::nullopt;
  return machine;
}

std::string Machine::str() const {
  return llvm::formatv("gflops={0:F1},gbytes={1:F1}", gflops, gbytes);
}

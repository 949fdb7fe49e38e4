//===- GpuTargets.cpp - the table of devices -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Each device behind each interface that it has. What a block may use is what
// every device of the kind offers without being asked for more.
//===----------------------------------------------------------------------===//

#include "attn-c/cpu.h"
#include "attn/Analysis/TargetInfo.h"
#include "llvm/ADT/Twine.h"

using namespace attn;

static constexpr int64_t kib = 1024;

namespace {
/// A device with what it does in a second.
struct Device {
  DeviceLimits limits;
  int64_t fmasPerCycle;
  double gigahertz, readGigabytes;
};
} // namespace

/// OpenCL 1.2 promises 32 KiB, and 256 threads run nearly everywhere. As fast
/// as a small device of no vendor.
static constexpr Device generic = {
    {"generic", 32 * kib, 256, 64, 64}, 1024, 1.0, 100};
/// A100. More than 48 KiB a block must be asked for. Two blocks of 256 threads
/// with 128 registers fill the 65536 of a multiprocessor, of which there are
/// 108; four of few queries fill its shared memory.
static constexpr Device ampere = {
    {"sm_80", 48 * kib, 512, 128, 4 * 108}, 6912, 1.41, 1555};
/// H100 and H200: 132 multiprocessors.
static constexpr Device hopper = {
    {"sm_90", 48 * kib, 512, 128, 4 * 132}, 16896, 1.98, 3350};

static constexpr DeviceLimits devices[] = {generic.limits, ampere.limits,
                                           hopper.limits};

static constexpr TargetInfo row(llvm::StringRef name, llvm::StringRef suffix,
                                llvm::StringRef halide, DeviceApi api,
                                const Device &device) {
  return {name,
          suffix,
          "x86_64-unknown-linux-gnu",
          halide,
          "x86-64-v2",
          "",
          /*vectorBytes=*/4,
          /*vectorRegisters=*/device.limits.registers,
          /*fmaPorts=*/device.fmasPerCycle,
          /*fmaLatency=*/4,
          /*fusedMultiplyAdd=*/true,
          /*broadcastsLoads=*/true,
          /*l1Bytes=*/device.limits.sharedBytes,
          /*l2Bytes=*/4096 * kib,
          device.gigahertz,
          device.readGigabytes,
          ATTN_CPU_X86_64_V2,
          api,
          device.limits};
}

static constexpr llvm::StringLiteral
    openCL = "x86-64-linux-sse41-opencl-cl_doubles",
    // The least that CUDA 13 still has.
    cuda = "x86-64-linux-sse41-cuda-cuda_capability_75",
    ampereCuda = "x86-64-linux-sse41-cuda-cuda_capability_80",
    vulkan = "x86-64-linux-sse41-vulkan", metal = "arm-64-osx-metal";

static constexpr TargetInfo targets[] = {
    row("opencl", "opencl", openCL, DeviceApi::OpenCL, generic),
    row("opencl-sm_80", "opencl80", openCL, DeviceApi::OpenCL, ampere),
    row("opencl-sm_90", "opencl90", openCL, DeviceApi::OpenCL, hopper),
    row("cuda", "cuda", cuda, DeviceApi::Cuda, generic),
    row("cuda-sm_80", "cuda80", ampereCuda, DeviceApi::Cuda, ampere),
    row("cuda-sm_90", "cuda90", ampereCuda, DeviceApi::Cuda, hopper),
    row("vulkan", "vulkan", vulkan, DeviceApi::Vulkan, generic),
    row("metal", "metal", metal, DeviceApi::Metal, generic),
};

llvm::ArrayRef<TargetInfo> attn::gpuTargets() { return targets; }

llvm::ArrayRef<DeviceLimits> attn::allDevices() { return devices; }

std::string attn::targetOnDevice(llvm::StringRef target,
                                 llvm::StringRef device) {
  const TargetInfo *info = lookupTarget(target);
  if (device.empty() || !info || !info->isGpu() || device == info->device.name)
    return target.str();
  return (target + "-" + device).str();
}

//===- TargetInfo.h - what the schedules must know of a target -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One table, one row a target. Everything that a schedule derives (register
// tiles, cache blocks) is a formula over these numbers, and everything that
// code generation must agree on (triple, Halide's and LLVM's feature names, the
// CPU features to check at run time) stands in the same row.
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_TARGETINFO_H
#define ATTN_ANALYSIS_TARGETINFO_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace attn {

/// What runs the kernels of a target: the CPU itself, or a device behind one of
/// the programming interfaces that Halide generates code for. Of Metal only the
/// source of the kernels is written, which nothing here compiles or runs.
enum class DeviceApi { Cpu, OpenCL, Cuda, Vulkan, Metal };

/// What a block of threads of a device may use, at most.
struct DeviceLimits {
  /// The device of `--gpu=`: "generic", "sm_80".
  llvm::StringRef name;
  /// Memory that the threads of a block share.
  int64_t sharedBytes;
  /// Threads of a block, and f32 registers of a thread.
  int64_t threads, registers;
  /// Blocks that keep all of it busy.
  int64_t blocks;
};

/// A target that kernels are compiled for.
struct TargetInfo {
  /// What a user writes: `--target=x86-64-v3`.
  llvm::StringRef name;
  /// Ends the symbols of the variant's kernels: `attention_0__v3`.
  llvm::StringRef symbolSuffix;
  /// LLVM's triple.
  llvm::StringRef triple;
  /// Halide's target without the features that every kernel has in common
  /// (no_runtime, no_asserts, ...).
  llvm::StringRef halideTarget;
  /// LLVM's CPU and feature string, for host code and function attributes.
  llvm::StringRef llvmCpu, llvmFeatures;

  int64_t vectorBytes;
  int64_t vectorRegisters;
  /// Multiply-adds that start in a cycle, and cycles until one is done: their
  /// product is the number of independent sums that keep the units busy.
  int64_t fmaPorts, fmaLatency;
  /// Whether a multiply-add is one instruction. If not, the product needs a
  /// register of its own.
  bool fusedMultiplyAdd;
  /// Whether an instruction repeats a number that lies in memory in all lanes.
  /// If not, each number is loaded into a register first.
  bool broadcastsLoads;
  /// Data caches of a core.
  int64_t l1Bytes, l2Bytes;
  /// What one core does if nobody measured it: cycles a second, and bytes of
  /// memory that it reads a second. No schedule depends on them, predictions of
  /// time do (see Machine).
  double assumedGHz, assumedReadGBytes;

  /// Bits of attn-c/cpu.h that must be present at run time.
  uint32_t cpuFeatures;

  /// Of a device, `vectorBytes` is that of one thread, `fmaPorts` counts the
  /// multiply-adds that all of it starts in a cycle, and what is left says what
  /// the host code may use.
  DeviceApi api = DeviceApi::Cpu;
  DeviceLimits device = {};

  bool isGpu() const { return api != DeviceApi::Cpu; }
  /// Whether kernels compute offsets with 64 bits. A buffer of Vulkan has less
  /// than 2^32 bytes, and not each device of it computes with 64 bits; nor does
  /// Metal, as Halide writes it.
  bool hasWideOffsets() const {
    return api != DeviceApi::Vulkan && api != DeviceApi::Metal;
  }
  /// Whether there is source of the kernels, and no object.
  bool isSourceOnly() const { return api == DeviceApi::Metal; }

  /// Whether the CPU has a unit that multiplies tiles of bf16 and adds them up
  /// in f32 (lib/Runtime/Matrix.c).
  bool hasMatrixUnit() const;
  /// f32 lanes of a vector.
  int64_t f32Lanes() const { return vectorBytes / 4; }
  /// f32 multiplications and additions in a cycle at most. A multiply-add that
  /// is two instructions takes two slots.
  double flopsPerCycle() const {
    return double(2 * f32Lanes() * fmaPorts) / (fusedMultiplyAdd ? 1 : 2);
  }
};

/// How fast one core of a machine is; 1e9 a second each.
struct Machine {
  /// f32 multiplications and additions, and bytes read from memory.
  double gflops = 0, gbytes = 0;
  /// Whether they were measured (`attn-run --measure-machine`).
  bool isMeasured = false;

  /// Cycles a second that the multiply-adds amount to.
  double gigahertz(const TargetInfo &target) const {
    return gflops / target.flopsPerCycle();
  }
  /// `gflops=96,gbytes=12`, as `parseMachine` reads it.
  std::string str() const;
};

/// The machine that a target's row assumes.
Machine assumeMachine(const TargetInfo &target);

/// Reads `gflops=N,gbytes=N` with numbers above 0; none otherwise.
std::optional<Machine> parseMachine(llvm::StringRef text);

/// All CPUs, from the least to the most demanding one of each architecture.
llvm::ArrayRef<TargetInfo> cpuTargets();

/// All devices behind each interface: "opencl" for any, "opencl-sm_80", ...
llvm::ArrayRef<TargetInfo> gpuTargets();

/// The devices that `--gpu=` knows.
llvm::ArrayRef<DeviceLimits> allDevices();

/// The target of that name, or null. For the message: `targetNames()`.
const TargetInfo *lookupTarget(llvm::StringRef name);

/// The name of `target` on a device of allDevices(), as `--gpu=` asks for it;
/// of a CPU, or with no device, `target` itself.
std::string targetOnDevice(llvm::StringRef target, llvm::StringRef device);

/// "x86-64-v2, x86-64-v3, ..." for messages.
std::string targetNames();

/// Writes the row of a target, a line a number with its unit and what depends
/// on it, and the schedule factors that follow with their formulas.
void printTarget(const TargetInfo &target, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_ANALYSIS_TARGETINFO_H

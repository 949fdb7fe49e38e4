//===- GpuLaunch.h - what a kernel asks of a device ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_GPULAUNCH_H
#define ATTN_LIB_TARGET_HALIDE_GPULAUNCH_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <Halide.h>

namespace attn {
struct TargetInfo;

/// Makes `pipeline` do nothing where all of its results are empty, launch
/// nothing where there are no blocks (both are errors of a device), and order
/// shared memory at each barrier: Halide leaves that out at the end of loops
/// and relies on what devices do without being asked. Barriers that order
/// nothing are dropped. For Vulkan, the device
/// code computes what it can itself, because few numbers can be handed to it.
void attachGpuPasses(Halide::Pipeline &pipeline, const TargetInfo &target);

/// Keeps `value` as it is, but makes `read` a use of a function at that place.
/// Halide 21 overlays shared memory after the last use in the text of a kernel,
/// even where that stands in a loop which comes back to it. What lives across
/// such a loop is used once more behind it. The use costs nothing: it is taken
/// away after lowering.
Halide::Expr keepAlive(const Halide::Expr &value, const Halide::Expr &read);

/// Makes `pipeline` fail where `func`, which lives across a loop in shared
/// memory, got its place together with other functions all the same.
void requireOwnMemory(Halide::Pipeline &pipeline, const Halide::Func &func);

/// Verifies that each launch of a lowered kernel stays within the limits of the
/// device and of what Halide 21 compiles rightly for its interface.
mlir::LogicalResult
checkLaunches(const Halide::Module &module, const TargetInfo &target,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_GPULAUNCH_H

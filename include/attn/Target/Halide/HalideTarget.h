//===- HalideTarget.h - tiled kernels to machine code ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One attn.kernel of the tiled level becomes one Halide pipeline and that one
// function of bitcode. The function is
//
//     int32_t <symbol>(void *context, arguments..., results...)
//
// where a tensor is a `halide_buffer_t *` whose dimension 0 is the tensor's
// last one, an index is an int64_t and an f32 a float. It returns 0. It checks
// nothing: shapes, null pointers and the innermost stride (1) are the caller's
// business.
//
// No Halide type appears here and no exception leaves the library.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_HALIDE_HALIDETARGET_H
#define ATTN_TARGET_HALIDE_HALIDETARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace attn {
class KernelOp;
struct TargetInfo;

/// Files that compileKernel writes; an empty path means "not wanted".
struct KernelFiles {
  std::string bitcode;      ///< LLVM bitcode of the kernel, without a run-time.
  std::string stmt;         ///< Halide's loop nest after lowering, as text.
  std::string assembly;     ///< Assembly as Halide's own LLVM generates it.
  std::string llvmAssembly; ///< The bitcode as text.
  /// PTX, OpenCL C, Metal or SPIR-V (with Halide's header before and between
  /// its modules), which the bitcode of a device's kernel contains.
  std::string deviceCode;
};

/// How compileKernels goes about a module.
struct KernelOptions {
  /// Also writes DIR/<symbol>.stmt, .s, .ll and, of a device, .device.
  bool stmt = false, assembly = false, llvmAssembly = false, deviceCode = false;
  /// Child processes at a time; 0 means one a core.
  unsigned jobs = 0;
  /// A kernel that takes longer is stopped and reported.
  unsigned timeLimitSeconds = 120;
  /// The program that runs itself as a kernel compiler; empty means this one.
  std::string executable;
};

/// The function of `kernel` in the objects of `target`: <kernel>__<suffix>.
std::string getKernelSymbol(KernelOp kernel, const TargetInfo &target);

/// Compiles one kernel of the tiled level in this process. Errors are
/// diagnostics at the operation that the Halide target cannot take.
mlir::LogicalResult compileKernel(KernelOp kernel, const TargetInfo &target,
                                  llvm::StringRef symbol,
                                  const KernelFiles &files);

/// Compiles the kernels of a module, but those with a loops schedule, into
/// `dir`/<symbol>.bc, each in a child process: in parallel, with a time limit,
/// and with the same bytes each time (Halide renames symbols when a process
/// compiles twice). Diagnostics of the children come back at the kernels'
/// locations; all kernels are tried.
mlir::LogicalResult compileKernels(mlir::ModuleOp module,
                                   const TargetInfo &target,
                                   llvm::StringRef dir,
                                   const KernelOptions &options = {});

/// Must be called first in main() of each program that calls compileKernels:
/// where the process was started as a kernel compiler, does that work and
/// returns the exit status.
std::optional<int> runAsKernelCompiler(int argc, char **argv);

/// Writes Halide's own run-time (parallel loops, error texts, the interfaces of
/// devices) for the variants of one program as bitcode; the kernels need it
/// once. That of a device has constructors, which must run.
mlir::LogicalResult
emitHalideRuntime(llvm::ArrayRef<const TargetInfo *> targets,
                  llvm::StringRef path,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn
#endif // ATTN_TARGET_HALIDE_HALIDETARGET_H

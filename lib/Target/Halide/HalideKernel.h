//===- HalideKernel.h - what an algorithm hands to the target --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Internal to lib/Target/Halide. Each family of kernels has one function that
// builds algorithm and schedule; HalideTarget.cpp picks it and compiles the
// result. The functions may let Halide's exceptions through: HalideTarget.cpp
// turns them into diagnostics.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_HALIDEKERNEL_H
#define ATTN_LIB_TARGET_HALIDE_HALIDEKERNEL_H

#include "attn/Dialect/IR/Attn.h"

#include <Halide.h>

#include <vector>

namespace attn {
class ExprEmitter;
struct TargetInfo;

/// A scheduled pipeline. Its outputs are the kernel's results, in order.
struct HalideKernel {
  Halide::Pipeline pipeline;
  /// One a kernel argument, in order.
  std::vector<Halide::Argument> args;
  /// All scratch must have a fixed size and lie on the stack; checked after
  /// lowering.
  bool stackOnly = false;
  /// Functions that are exempt from it: copies of whole tensors.
  std::vector<std::string> copies = {};
};

/// The arguments of a kernel as Halide parameters.
struct KernelArguments {
  /// In order; a tensor's has dimension 0 for the tensor's last one, minimum 0
  /// and stride 1 in dimension 0; static sizes are set.
  std::vector<Halide::Argument> args;
  /// For tensor arguments, by argument number; others are undefined.
  std::vector<Halide::ImageParam> tensors;
};

/// Creates the parameters and binds the kernel's arguments to them in `values`.
mlir::FailureOr<KernelArguments> bindKernelArguments(KernelOp kernel,
                                                     ExprEmitter &values);

/// Makes what bindKernelArguments promises true for an output as well.
void describeOutput(Halide::OutputImageParam output,
                    mlir::RankedTensorType type);

/// The Halide type of an MLIR scalar; index is Int(32). Null where there is
/// none.
std::optional<Halide::Type> getHalideType(mlir::Type type);

/// Tiled attention: scf.forall over query tiles, scf.for over key tiles.
mlir::FailureOr<HalideKernel> emitFlash(KernelOp kernel,
                                        const TargetInfo &target);
/// attn.fused_linear.
mlir::FailureOr<HalideKernel> emitLinear(FusedLinearOp op, KernelOp kernel,
                                         const TargetInfo &target);
/// Row-wise groups: norms, softmax, embedding, pooling, element-wise.
mlir::FailureOr<HalideKernel> emitRowwise(KernelOp kernel,
                                          const TargetInfo &target);
/// linalg.generic and attn.pack.
mlir::FailureOr<HalideKernel> emitGeneric(KernelOp kernel,
                                          const TargetInfo &target);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_HALIDEKERNEL_H

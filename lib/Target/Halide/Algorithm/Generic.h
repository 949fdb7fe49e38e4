//===- Generic.h - linalg operations as Halide functions -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_GENERIC_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_GENERIC_H

#include "../HalideKernel.h"

namespace attn {

/// One result of a generic kernel.
struct GenericAlgorithm {
  Halide::Func output;
  /// The output's dimensions, innermost first.
  std::vector<Halide::Var> variables;
  /// Loops of the output's update, if it is a reduction.
  std::vector<Halide::RVar> reductions;
  /// Of a device, what sums up for the output if it is a reduction.
  Halide::Func reduced;
  int vector;
};

/// Schedule/GenericCpu.cpp.
void scheduleGenericCpu(GenericAlgorithm &algorithm);

/// Schedule/GenericGpu.cpp.
void scheduleGenericGpu(GenericAlgorithm &algorithm);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_GENERIC_H

//===- Runner.h - runs a compiled model on cases ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Guarded runs for correctness, plain runs for time.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_RUNNER_H
#define ATTN_TOOLS_ATTN_RUN_RUNNER_H

#include "Cases.h"
#include "CompiledModel.h"

namespace attn::run {

/// Where elements lie: strides of each input and output in elements, none for
/// dense ones; and whether outputs get the memory of an input where they may,
/// whose strides are the same then.
struct Placement {
  std::vector<llvm::SmallVector<int64_t, 4>> inputs, outputs;
  bool inPlace = false;
};

/// Runs the model once with guard pages around every buffer and read-only
/// inputs, but for those that are outputs as well. Other outputs that the model
/// does not write hold a NaN or 0xcd pattern.
/// With strides, what lies between the elements of an input is a NaN or 0xcd
/// too, and it is an error if something between those of an output changes.
llvm::Expected<std::vector<NpyArray>>
runGuarded(CompiledModel &model, const Case &testCase,
           const Placement &placement = {});

struct Timing {
  unsigned runs = 0;
  double minSeconds = 0, medianSeconds = 0;
};

/// Runs the model for about two seconds, at least five times, after one run
/// that does not count. In place each run starts from what the one before has
/// left.
llvm::Expected<Timing> timeModel(CompiledModel &model, const Case &testCase,
                                 bool inPlace = false);

/// The time of a kernel in a run.
struct KernelTime {
  std::string kernel;
  unsigned calls = 0;
  /// The sum of the least times of its calls.
  double seconds = 0;
};

/// Runs a model that was compiled with a kernel hook for about so many seconds,
/// at least five times. The kernels come in the order of their first calls.
llvm::Expected<std::vector<KernelTime>>
profileModel(CompiledModel &model, const Case &testCase, bool inPlace = false,
             double seconds = 3);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_RUNNER_H

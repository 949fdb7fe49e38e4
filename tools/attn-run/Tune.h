//===- Tune.h - the fastest tiles, by measurement -------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-run --tune: a search over tile sizes with the real kernels of a model.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_TUNE_H
#define ATTN_TOOLS_ATTN_RUN_TUNE_H

#include "Cases.h"
#include "Model.h"
#include "Options.h"

namespace attn::run {

/// Measures tile sizes for the attention and linear kernels of `model` on the
/// inputs of `testCase`, prints a table and writes options.tune. Files on the
/// way go to `folder`. An error without text was already reported.
llvm::Error tuneModel(Model &model, const Case &testCase,
                      const Options &options, llvm::StringRef folder);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TUNE_H

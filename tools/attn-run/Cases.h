//===- Cases.h - inputs: from a file, or made up ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A case is one set of inputs, the values of all dims, and perhaps the outputs
// that the model must give.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_CASES_H
#define ATTN_TOOLS_ATTN_RUN_CASES_H

#include "Interface.h"

#include <optional>

namespace attn::run {

struct Case {
  std::string name;
  llvm::SmallVector<int64_t> dims;
  /// In the order of the interface.
  std::vector<NpyArray> inputs;
  /// Those that are expected, each with its place in the interface.
  std::vector<std::pair<size_t, NpyArray>> expected;
  /// (batch, sequence) or another leading part of shapes: only positions that
  /// are true are compared.
  std::optional<NpyArray> compare;
};

/// Reads a .npz with arrays `in.NAME`, `out.NAME` and perhaps `compare`. Checks
/// types and shapes against the interface and finds the dims. Reports all
/// problems.
llvm::Expected<Case> readCase(llvm::StringRef path, const Interface &interface);

/// Checks the inputs of a case whose names are not those of the interface
/// against it, in order, and finds the dims. Reports all problems.
llvm::Error bindDims(Case &testCase, const Interface &interface);

/// What random values an input can have.
struct InputRange {
  enum Kind {
    Normal,  // Floating point, mean 0, variance 1.
    Integer, // 0 <= x < limit.
    Mask,    // 0 or 1; the first of each row is 1.
  } kind = Normal;
  int64_t limit = 2;
};

/// Finds the ranges from how the entry function uses its arguments: ids of a
/// table are below its size, lengths at most the number of keys. Without a
/// module only types are known: integers are 0 or 1.
std::vector<InputRange> inputRanges(mlir::ModuleOp module,
                                    const Interface &interface,
                                    llvm::ArrayRef<int64_t> dims);

/// Makes up inputs; the same seed gives the same inputs on every machine.
Case randomCase(const Interface &interface, llvm::ArrayRef<int64_t> dims,
                llvm::ArrayRef<InputRange> ranges, uint64_t seed);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CASES_H

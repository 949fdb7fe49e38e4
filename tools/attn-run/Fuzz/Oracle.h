//===- Oracle.h - what a random attention must give ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The reference evaluator says what is exact, and how far a plain evaluation in
// the stored types is from it. A kernel may be twice as far, see
// docs/Fuzzing.md.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_ORACLE_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_ORACLE_H

#include "Fuzz/Values.h"
#include "Model.h"

namespace attn::run::fuzz {

/// An output: its exact elements and the error that each may have, negative
/// where anything goes.
struct Expectation {
  NpyArray exact;
  std::vector<double> limits;
};

class Oracle {
public:
  /// `path` is a file with the text of the kernel for the oracle.
  static llvm::Expected<std::unique_ptr<Oracle>> create(const Kernel &kernel,
                                                        llvm::StringRef path);

  /// The scores in front of the softmax, -inf where hidden.
  llvm::Expected<NpyArray> scores(const Case &inputs);

  /// What the kernel's outputs must be, in its order.
  llvm::Expected<std::vector<Expectation>> evaluate(const Case &inputs);

private:
  explicit Oracle(const Kernel &kernel) : kernel(kernel) {}

  llvm::Expected<std::vector<NpyArray>> run(const Case &inputs, bool isPlain);

  const Kernel &kernel;
  std::unique_ptr<Model> model;
  Interface interface;
};

/// An element that is out of its limit.
struct Difference {
  /// `o at (0, 3, 1, 2): expected ...`
  std::string text;
  /// The absolute error that it may have.
  double limit;
};

/// The first one, if there is one.
std::optional<Difference> findDifference(const Expectation &expected,
                                         const NpyArray &got);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_ORACLE_H

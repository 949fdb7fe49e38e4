//===- Values.h - sizes and inputs of a random attention -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A set is one run of a compiled kernel: its sizes, the kind of its numbers,
// and where its tensors lie.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_VALUES_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_VALUES_H

#include "Cases.h"
#include "Fuzz/Kernel.h"
#include "Runner.h"

namespace attn::run::fuzz {

/// What numbers a set has.
enum class Numbers {
  Normal,
  Large,      // Scores around 1e4, values of 1e4.
  Tiny,       // 1e-30.
  Denormal,   // Keys and values below the smallest normal number.
  Equal,      // All scores equal where no rule changes them.
  Peaked,     // Scores that differ by some 100.
  HiddenNan,  // NaN and infinities where no query sees them.
  VisibleNan, // NaN anywhere, and infinities in values.
};
llvm::StringRef nameOf(Numbers numbers);

struct ValueSet {
  int64_t batch = 1, queries = 1, keys = 1;
  Numbers numbers = Numbers::Normal;
  /// Strides that are not dense, or repeat.
  bool isStrided = false;
  uint64_t seed = 0;

  std::string describe() const;
};

/// Set number `index` of a kernel.
ValueSet chooseSet(const Kernel &kernel, uint64_t index);

/// Makes up the inputs of a set; the placement may be strided. Those of
/// HiddenNan have no NaN yet.
Case makeInputs(const Kernel &kernel, const ValueSet &set,
                Placement &placement);

/// Puts NaN and infinities where nobody may look: into rows of keys, values and
/// queries that take part in no pair, and biases of pairs that are hidden.
/// `scores` are those in front of the softmax, -inf where hidden.
void poisonHidden(const Kernel &kernel, const ValueSet &set,
                  const NpyArray &scores, Case &inputs,
                  const Placement &placement);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_VALUES_H

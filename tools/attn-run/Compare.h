//===- Compare.h - outputs against what they should be ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// |got - expected| <= absolute + relative * |expected| for every element that
// counts; NaN and infinities must be at the same places; integers are equal.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_COMPARE_H
#define ATTN_TOOLS_ATTN_RUN_COMPARE_H

#include "Interface.h"

#include <optional>

namespace attn::run {

/// An element agrees if |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double absolute, relative;
};

/// What is asked of an output unless the command line says otherwise: twice the
/// error of rounding to f16 or bf16, 2e-5 for wider floats.
Tolerance defaultTolerance(NpyType type);

struct Comparison {
  /// Elements that were compared, and those that differ by too much.
  uint64_t compared = 0, wrong = 0;
  /// The largest absolute difference of finite elements.
  double maxError = 0;
  /// Zero for integers.
  Tolerance limit = {0, 0};
  /// Where it is, or where the first NaN or infinity is out of place.
  llvm::SmallVector<int64_t, 4> worst;
  double got = 0, expected = 0;
};

/// Compares arrays of one shape; the type of `got` says whether they are
/// integers, which must be equal. `compare`, if given and if its shape is a
/// leading part of the arrays', says which positions count.
Comparison compareArrays(const NpyArray &got, const NpyArray &expected,
                         const std::optional<NpyArray> &compare,
                         Tolerance tolerance);

/// One line: `NAME: max abs error 1.2e-06 in 48 elements, limit ...: ok`.
std::string describe(llvm::StringRef name, const Comparison &comparison);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_COMPARE_H

//===- RowReduction.h - a sum or maximum along a row -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One partial result a lane of a vector, or a thread of a device, then one step
// across the lanes. The order of the additions depends on the row's length
// alone: not on how many rows are reduced together, nor on threads. Any length:
// columns past the last whole vector go to the first lanes.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWREDUCTION_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWREDUCTION_H

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace attn {

enum class RowReductionKind { Sum, Maximum };

/// Who adds up the partial results.
enum class RowReductionForm {
  Vectors, ///< A vector; the columns past the last whole one come behind.
  Threads, ///< Threads, each of them all of its columns, in a register.
};

/// Threads that add up the sums of many threads.
inline constexpr int kReductionGroups = 8;

struct RowReduction {
  Halide::Func lanes; // lanes(lane, rows...)
  Halide::Func total; // total(rows...)
  /// Threads only. own(lane, rows...): what one thread adds up. Of many
  /// threads, groups(group, rows...) are what a few of them add up of `lanes`.
  Halide::Func own, groups;
  Halide::Var group;
  Halide::Var lane;
  std::vector<Halide::Var> rows;
  Halide::RVar chunk, tailLane;
  int vector;
  bool hasChunks, hasTail;
};

/// Reduces element(column) for columns 0 <= column < size. `rows` are the
/// variables that the element's row depends on, innermost first.
RowReduction reduceRow(const std::string &name, RowReductionKind kind,
                       const std::vector<Halide::Var> &rows,
                       const Halide::Expr &size, int vector,
                       const std::function<Halide::Expr(Halide::Expr)> &element,
                       RowReductionForm form = RowReductionForm::Vectors);

/// Schedule/RowReductionCpu.cpp: computes the reduction inside `loop`
/// for `group` rows at a time, which are as many independent chains of
/// additions.
void scheduleRowReduction(RowReduction &reduction, Halide::LoopLevel loop,
                          int group);

/// Schedule/RowReductionGpu.cpp: computes the reduction of one row inside
/// `loop` over blocks of threads.
void scheduleRowReductionGpu(RowReduction &reduction,
                             const Halide::LoopLevel &loop);

/// The same for any value that is one a row: one thread computes it.
void scheduleRowScalarGpu(Halide::Func value, const Halide::LoopLevel &loop);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWREDUCTION_H

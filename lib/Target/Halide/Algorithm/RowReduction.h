//===- RowReduction.h - a sum or maximum along a row -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One partial result a vector lane, then one step across the lanes. The order
// of the additions depends on the row's length alone: not on how many rows are
// reduced together, nor on threads. Any length: columns past the last whole
// vector go to the first lanes.
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

struct RowReduction {
  Halide::Func lanes; // lanes(lane, rows...)
  Halide::Func total; // total(rows...)
  Halide::Var lane;
  std::vector<Halide::Var> rows;
  Halide::RVar chunk, tailLane;
  int vector;
  bool hasChunks, hasTail;
};

/// Reduces element(column) for columns 0 <= column < size. `rows` are the
/// variables that the element's row depends on, innermost first.
RowReduction
reduceRow(const std::string &name, RowReductionKind kind,
          const std::vector<Halide::Var> &rows, const Halide::Expr &size,
          int vector, const std::function<Halide::Expr(Halide::Expr)> &element);

/// Schedule/RowReductionCpu.cpp: computes the reduction inside `loop`
/// for `group` rows at a time, which are as many independent chains of
/// additions.
void scheduleRowReduction(RowReduction &reduction, Halide::LoopLevel loop,
                          int group);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWREDUCTION_H

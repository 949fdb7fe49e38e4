//===- RowReduction.cpp - a sum or maximum along a row ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RowReduction.h"
#include "../Math.h"

using namespace attn;
using namespace Halide;

/// `a` and `b` combined.
static Expr combine(RowReductionKind kind, Expr a, Expr b) {
  return kind == RowReductionKind::Sum ? a + b : max(a, b);
}

static Expr combineInOrder(RowReductionKind kind, Expr a, Expr b) {
  return kind == RowReductionKind::Sum ? addInOrder(a, b) : max(a, b);
}

/// The arguments of a reduction: something per row, in front of the rows.
static std::vector<Expr> withRows(const Expr &first,
                                  const std::vector<Var> &rows) {
  std::vector<Expr> arguments = {first};
  arguments.insert(arguments.end(), rows.begin(), rows.end());
  return arguments;
}

RowReduction attn::reduceRow(const std::string &name, RowReductionKind kind,
                             const std::vector<Var> &rows, const Expr &size,
                             int vector,
                             const std::function<Expr(Expr)> &element) {
  RowReduction reduction;
  reduction.lanes = Func(name + "_lanes");
  reduction.total = Func(name);
  reduction.lane = Var(name + "_lane");
  reduction.rows = rows;
  reduction.vector = vector;
  Expr chunks = Internal::simplify(size / vector);
  Expr tail = Internal::simplify(size % vector);
  // What is known to be empty gets no update: its loops could not be scheduled.
  reduction.hasChunks = !Internal::is_const_zero(chunks);
  reduction.hasTail = !Internal::is_const_zero(tail);
  Expr neutral = kind == RowReductionKind::Sum
                     ? 0.0f
                     : std::numeric_limits<float>::lowest();

  Func &lanes = reduction.lanes, &total = reduction.total;
  lanes(withRows(reduction.lane, rows)) = neutral;
  if (reduction.hasChunks) {
    RDom r(0, chunks, name + "_chunk");
    reduction.chunk = r.x;
    Expr old = lanes(withRows(reduction.lane, rows));
    lanes(withRows(reduction.lane, rows)) =
        combine(kind, old, element(r.x * vector + reduction.lane));
  }
  if (reduction.hasTail) {
    RDom r(0, tail, name + "_tail");
    reduction.tailLane = r.x;
    Expr old = lanes(withRows(r.x, rows));
    lanes(withRows(r.x, rows)) =
        combine(kind, old, element(chunks * vector + r.x));
  }
  // Halves of the lanes on each other, in order: Halide's own sum across a
  // vector leaves the order to LLVM, which chooses by what else is near.
  std::vector<Expr> values;
  for (int lane = 0; lane < vector; ++lane)
    values.push_back(lanes(withRows(lane, rows)));
  while (values.size() > 1) {
    size_t half = (values.size() + 1) / 2;
    for (size_t i = half; i < values.size(); ++i)
      values[i - half] = combineInOrder(kind, values[i - half], values[i]);
    values.resize(half);
  }
  total(std::vector<Var>(rows)) = values.front();
  return reduction;
}

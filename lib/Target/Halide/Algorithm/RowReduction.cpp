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

/// Halves of the values on each other, in order: Halide's own sum across a
/// vector leaves the order to LLVM, which chooses by what else is near.
static Expr combineHalves(RowReductionKind kind, std::vector<Expr> values) {
  while (values.size() > 1) {
    size_t half = (values.size() + 1) / 2;
    for (size_t i = half; i < values.size(); ++i)
      values[i - half] = combineInOrder(kind, values[i - half], values[i]);
    values.resize(half);
  }
  return values.front();
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
                             const std::function<Expr(Expr)> &element,
                             RowReductionForm form) {
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
  if (form == RowReductionForm::Threads) {
    reduction.own = Func(name + "_own");
    reduction.own(withRows(reduction.lane, rows)) = neutral;
    if (!Internal::is_const_zero(size)) {
      RDom r(0, Internal::simplify((size + vector - 1) / vector),
             name + "_chunk");
      Expr column = r.x * vector + reduction.lane;
      if (reduction.hasTail) {
        r.where(column < size);
        // What is read is bounded without the condition.
        column = min(column, size - 1);
      }
      Expr old = reduction.own(withRows(reduction.lane, rows));
      reduction.own(withRows(reduction.lane, rows)) =
          combine(kind, old, element(column));
    }
    reduction.hasChunks = reduction.hasTail = false;
    lanes(withRows(reduction.lane, rows)) =
        reduction.own(withRows(reduction.lane, rows));
  } else {
    lanes(withRows(reduction.lane, rows)) = neutral;
  }
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
  std::vector<Expr> values;
  constexpr int groups = kReductionGroups;
  if (form == RowReductionForm::Threads && vector > groups &&
      vector % groups == 0) {
    reduction.groups = Func(name + "_groups");
    reduction.group = Var(name + "_group");
    for (int i = 0; i < vector / groups; ++i)
      values.push_back(lanes(withRows(reduction.group + i * groups, rows)));
    reduction.groups(withRows(reduction.group, rows)) =
        combineHalves(kind, values);
    values.clear();
    for (int i = 0; i < groups; ++i)
      values.push_back(reduction.groups(withRows(i, rows)));
  } else {
    for (int lane = 0; lane < vector; ++lane)
      values.push_back(lanes(withRows(lane, rows)));
  }
  total(std::vector<Var>(rows)) = combineHalves(kind, values);
  return reduction;
}

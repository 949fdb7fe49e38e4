//===- FlashParts.h - what schedules of attention share --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops over query tiles, results, tests of masks and values: the same whether
// queries (FlashCpu.cpp) or channels and keys (DecodeCpu.cpp) are the lanes of
// vectors.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_SCHEDULE_FLASHPARTS_H
#define ATTN_LIB_TARGET_HALIDE_SCHEDULE_FLASHPARTS_H

#include "../Algorithm/FlashAlgorithm.h"

namespace attn {
struct TargetInfo;

struct FlashParts {
  FlashParts(FlashAlgorithm &a, FlashFactors factors, const TargetInfo &target,
             KernelOp kernel)
      : a(a), target(target), kernel(kernel), lanes(factors.lanes),
        rows(static_cast<int>(a.rows)), columns(factors.valueUnroll),
        keyUnroll(factors.keyUnroll), isDecode(factors.isDecode),
        isMatrix(factors.isMatrix) {}

  /// Verifies what the bounds of both schedules promise to Halide. With
  /// no_asserts a false promise is an assumption of the code, not an error.
  mlir::LogicalResult checkFactors();
  mlir::LogicalResult checkMultiple(int64_t value, int64_t factor,
                                    llvm::StringRef what, llvm::StringRef of);
  /// Everything of a query tile lives on the stack of a thread.
  mlir::LogicalResult checkScratch();
  /// Splits the rows into query tiles and makes one parallel loop f of the
  /// tiles and all counters: tiles of one head run one after the other, so that
  /// its keys and values stay in the cache. `order` holds the loops inside a
  /// row.
  void fuseCounters(Halide::Func func, const std::vector<Halide::Var> &vars,
                    std::vector<Halide::Var> order);
  void scheduleResult();
  /// Each part of a key tile is for one tile of one row of counters. Halide
  /// does not see that where a loop's bounds come from a tensor.
  void boundCounters(FlashStage &stage);
  void boundEach(llvm::ArrayRef<Halide::Func> parts);
  void scheduleTests(FlashStage &stage);
  void scheduleFinite(FlashStage &stage);

  /// The largest power of two of lanes that a row of `size` elements fills.
  int lanesOf(int64_t size) const;

  FlashAlgorithm &a;
  const TargetInfo &target;
  KernelOp kernel;
  int lanes, rows, columns, keyUnroll;
  bool isDecode, isMatrix;
  Halide::Var tileLoop; ///< The innermost loop outside a query tile.
};

/// What the forms with queries in the lanes of vectors share.
struct QueryLaneParts : FlashParts {
  using FlashParts::FlashParts;

  void scheduleState();
  /// A mix of values that is finished in registers, a block of channels at a
  /// time.
  void placeMix(Halide::Func mix);
  /// The mix where values are not finite.
  void scheduleSlowMix(FlashStage &stage);
  /// Vectors over the queries of a tile. The bound is what makes them whole.
  void vectorizeRows(Halide::Func func);
  void vectorizeRowsOf(Halide::Stage stage) {
    stage.vectorize(a.q, lanes).unroll(a.q);
  }
};

/// Schedules a kernel by the parts that one of the two forms has of its own.
template <typename Form> mlir::LogicalResult scheduleBy(Form form) {
  if (failed(form.check()))
    return mlir::failure();
  form.scheduleResult();
  form.scheduleQuery();
  form.scheduleState();
  for (FlashStage &stage : form.a.stages) {
    form.boundCounters(stage);
    form.scheduleTests(stage);
    form.scheduleScores(stage);
    form.scheduleWeights(stage);
    if (stage.hasFiniteTest())
      form.scheduleFinite(stage);
    form.scheduleMix(stage);
  }
  return mlir::success();
}

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_SCHEDULE_FLASHPARTS_H

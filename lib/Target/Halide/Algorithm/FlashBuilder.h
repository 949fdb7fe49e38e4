//===- FlashBuilder.h - builds tiled attention -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Internal to FlashAlgorithm.cpp, which builds what a query tile has once,
// FlashStages.cpp, which builds what each loop over key tiles has, with its
// scores (FlashScores.cpp) and weights (FlashWeights.cpp), and FlashTests.cpp,
// which builds whether a tile is visited. FlashMatrix.cpp has what is another
// with a matrix unit, FlashThreads.cpp what is where threads share a tile.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHBUILDER_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHBUILDER_H

#include "FlashAlgorithm.h"

#include <limits>

namespace attn {

/// Builds one FlashAlgorithm. `values` knows the kernel's arguments and the
/// counters of the scf.forall.
struct FlashBuilder {
  /// The running maximum starts here: above -inf, so that a hidden score minus
  /// it is -inf and not NaN.
  static constexpr float lowest = std::numeric_limits<float>::lowest();

  FlashNest &nest;
  FlashFactors factors;
  ExprEmitter values;
  FlashAlgorithm out = {};
  /// See FlashAlgorithm.h.
  bool folded = false;
  /// The base-2 scale that is folded into the query tile, or 1.
  float foldedScale = 1.0f;
  /// Numbers that are loaded for the bounds of loops.
  std::vector<Halide::Expr> loaded = {};
  /// Vectors of queries that have any. Undefined where all are computed.
  Halide::Expr usedVectors = {};

  mlir::FailureOr<FlashAlgorithm> run();

private:
  void bindCounters();
  mlir::LogicalResult bindLoads();
  mlir::FailureOr<ExprEmitter> hideBounds(FlashLoop &loop);
  mlir::LogicalResult boundKeys(FlashLoop &loop, ExprEmitter &inside);
  mlir::LogicalResult checkFirstRow();
  void chooseExponent();
  mlir::LogicalResult findUsedRows();
  mlir::LogicalResult buildQuery();
  mlir::LogicalResult buildStage(FlashLoop &loop);
  mlir::LogicalResult buildTest(FlashStage &stage, TileAnyOp op,
                                ExprEmitter &inside);
  mlir::LogicalResult buildTests(FlashStage &stage, ExprEmitter &inside);
  Halide::Expr zeroAfterTests(FlashStage &stage);
  Halide::Expr afterTests(FlashStage &stage, Halide::Expr value);
  Halide::Expr forUsedRows(const Halide::Expr &value) const;
  mlir::LogicalResult addGuards(FlashStage &stage, Halide::RDom &domain,
                                const ExprEmitter &around);
  mlir::FailureOr<Halide::Expr>
  scoreTerm(FlashStage &stage, ExprEmitter &inside, const Halide::Expr &depth);
  mlir::LogicalResult buildScores(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildLaneScores(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildMatrixQuery();
  mlir::LogicalResult buildTransposedValues();
  mlir::LogicalResult buildMatrixScores(FlashStage &stage, ExprEmitter &inside);
  void buildMatrixWeights(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildMatrixMix(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildVisible(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildWeights(FlashStage &stage, ExprEmitter &inside);
  Halide::Func reduceKeys(FlashStage &stage, ExprEmitter &inside,
                          bool isMaximum);
  mlir::LogicalResult buildMix(FlashStage &stage, ExprEmitter &inside);
  /// What the value region, if any, makes of an element of a value.
  mlir::FailureOr<Halide::Expr> changeValue(TileMixOp op, ExprEmitter &inside,
                                            const Halide::Expr &element,
                                            const Halide::Expr &key,
                                            const Halide::Expr &channel);
  void buildFinite(FlashStage &stage, ExprEmitter &inside);
  mlir::LogicalResult buildUpdate(FlashStage &stage, ExprEmitter &around,
                                  ExprEmitter &inside);
  Halide::Expr weightOf(
      FlashStage &stage, const Halide::Expr &score, const Halide::Expr &offset,
      llvm::function_ref<Halide::Expr(const char *, const Halide::Expr &)> step)
      const;
  Halide::Expr offsetOfThread(FlashStage &stage, const Halide::Expr &thread,
                              const Halide::Expr &tile) const;
  mlir::LogicalResult buildThreadWeights(FlashStage &stage,
                                         ExprEmitter &inside);
  mlir::LogicalResult buildThreadMix(FlashStage &stage, ExprEmitter &inside);
  void setThreadState(FlashStage &stage, const Halide::Expr &oldFactor,
                      const Halide::Expr &tileFactor,
                      const Halide::Expr &after);
  mlir::LogicalResult buildStart();
  mlir::LogicalResult buildResults();

  mlir::FailureOr<Halide::Expr> loadStored(TileLoadOp load, ExprEmitter &inside,
                                           Halide::Expr row,
                                           Halide::Expr column, bool clampRow);
  mlir::FailureOr<Halide::Expr>
  askForNextTile(FlashStage &stage, TileLoadOp load, ExprEmitter &inside,
                 const Halide::Expr &value, const Halide::Expr &row,
                 const Halide::Expr &column, const Halide::Expr &once);
  mlir::FailureOr<Halide::Expr> loadTile(TileLoadOp load, ExprEmitter &inside,
                                         Halide::Expr row, Halide::Expr column,
                                         bool clampRow);
  mlir::FailureOr<llvm::SmallVector<Halide::Expr>>
  positions(mlir::OperandRange position, ExprEmitter &inside, Halide::Expr row,
            Halide::Expr key);
  mlir::FailureOr<Halide::Expr> isVisible(FlashStage &stage,
                                          ExprEmitter &inside,
                                          const Halide::Expr &row,
                                          const Halide::Expr &key);
  /// leading arguments, then the counters of the scf.forall.
  std::vector<Halide::Expr>
  at(std::initializer_list<Halide::Expr> leading) const {
    std::vector<Halide::Expr> args(leading);
    args.insert(args.end(), out.counters.begin(), out.counters.end());
    return args;
  }
  std::vector<Halide::Var>
  vars(std::initializer_list<Halide::Var> leading) const {
    std::vector<Halide::Var> args(leading);
    args.insert(args.end(), out.counters.begin(), out.counters.end());
    return args;
  }
  /// The keys [0, validKeys) of tile t exist. The number is at least 1 wherever
  /// a loop runs, at most the tile's.
  mlir::FailureOr<Halide::Expr> validKeys(FlashStage &stage,
                                          ExprEmitter &inside) {
    return inside.get(stage.loop.key.getRows());
  }
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHBUILDER_H

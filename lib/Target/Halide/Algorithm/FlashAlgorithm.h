//===- FlashAlgorithm.h - tiled attention as Halide functions --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The recurrence of a query tile is one Halide function X(q, di, dg,
// counters...) with one update definition a scf.for. Halide cannot be told that
// the softmax recurrence is associative, so running maximum, sum and
// accumulator live in X itself: block dg = 0 of MD columns holds
//
//     0: factor of what was there   1: factor of this tile   2: maximum   3:
//     sum
//
// and block dg >= 1 the channels MD * (dg - 1) to MD * dg - 1 of the
// accumulator. An update walks the columns in this order, so that the factors
// are computed from the old maximum before it is replaced, and the rest uses
// them.
//
// A device has no columns that one thread could compute for others: its di is a
// thread, and each has all four numbers of its own,
//
//     dg = 0: factor of what was there   1: factor of this tile   2: maximum
//          3: sum   4 + g: channel MD * g + di
//
// so that no thread reads what another one carries.
//
// The weights P of a tile are taken relative to the tile's own maximum (X
// cannot be read while a producer of its update is computed); the factor of
// column 1 makes up for it.
//
// Two ways of counting exponents:
//   folded   no score region: the scale of the exponential is folded into the
//   query
//            tile, and the maximum is rounded up to an integer, so that the
//            factors are exact powers of two made by a shift;
//   plain    otherwise: scores in their own unit, exact maximum, scale applied
//            after subtraction, as the text says it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHALGORITHM_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHALGORITHM_H

#include "../ExprEmitter.h"
#include "../OpaqueLoads.h"
#include "../ShortTiles.h"
#include "FlashLoops.h"

namespace attn {

/// What a schedule attribute says.
struct FlashFactors {
  /// Keys of a score register tile, channels of an output register tile.
  int lanes, keyUnroll, valueUnroll;
  /// Whether channels and keys are in the lanes of vectors, and not queries:
  /// the one difference between #attn.decode_schedule and #attn.flash_schedule.
  bool isDecode = false;
  /// Whether the products are those of a matrix unit (#attn.matrix_schedule).
  bool isMatrix = false;
  /// Whether a block of threads computes a query tile
  /// (#attn.gpu_attention_schedule): `lanes` threads beside each other, `y`
  /// below.
  bool isGpu = false;
  int y = 0;

  /// Nothing if the attribute is another one.
  static std::optional<FlashFactors> of(mlir::Attribute schedule);
};

/// Independent chains that maximum, exponential and sum keep: 4 hide the
/// latency of an addition, and those of one vector fit 16 registers.
inline constexpr int chains = 4;

/// Queries whose exponentials are computed at a time where keys are the lanes:
/// at most `chains`, and a divisor of the rows.
int chainRows(int64_t rows);

/// attn.tile_any: an or over one coordinate of the tile's pairs in each lane of
/// the other one, then over the lanes.
struct TileTest {
  Halide::Func lanes, any;
  Halide::RVar step, lane;
  bool hasSteps = false; ///< Not where keys do not matter.
  int64_t numLanes = 0;  ///< Queries or, where those do not matter, keys.
};

/// The functions of one scf.for.
struct FlashStage {
  FlashLoop loop;
  bool full = false; ///< No edge: every key of every tile exists.
  int64_t keys = 0;  ///< Keys a tile.
  int update = 0;    ///< Number of the update definition of X.
  /// Of a device, threads beside each other that have keys of a row of scores.
  int keyThreads = 0;

  /// Keys, and values of a block of channels, as f32: they are used once for
  /// each vector of queries. Undefined where f32 is what is stored.
  Halide::Func wideKeys, wideValues;
  /// With keys and channels in lanes, sums that are left in lanes, one vector a
  /// query (and, of scores, a key); their sums by halves; and what channels
  /// that fill no vector add.
  Halide::Func laneScores, laneMaximum, laneSum, restScores;
  std::vector<Halide::Func> halfScores;
  Halide::RVar maxLane, sumLane;
  int scoreLanes = 0;                    ///< Lanes of `laneScores`.
  std::optional<Halide::RVar> scoreRest; ///< Channels that fill no vector.
  std::vector<TileTest> tests;           ///< Whether a tile is visited.
  Halide::Func scores;  ///< S(q, kk, t, counters...), a reduction over d.
  Halide::Func visible; ///< S after score regions and masks.
  Halide::Func tileMax; ///< Maximum of the tile.
  Halide::Func offset;  ///< What is subtracted before the exponential.
  std::vector<Halide::Func> expSteps; ///< Parts of the exponential, in order.
  Halide::Func weights;               ///< P.
  Halide::Func tileSum;               ///< Sum of P over the tile's keys.
  Halide::Func slowMix;               ///< The same where V is not finite.
  Halide::Func mix; ///< PV(q, di, dg, ...), a reduction over keys.
  /// With a matrix unit: what is subtracted in the exponent, P in pairs of keys
  /// with the sum behind them, and PV(q, channel, ...).
  Halide::Func exponent, packed, product;
  Halide::Func laneMax, finite; ///< Whether V is free of NaN and infinity.
  Halide::RVar depth;           ///< d of the scores.
  Halide::RVar maxGroup, sumGroup, mixKey, slowMixKey, finiteKey, finiteChunk,
      finiteLane, wideValueKey;
  Halide::RVar column, block, tile; ///< The update of X: ri, rb, rt.
  bool hasFiniteTest() const { return finite.defined(); }
};

/// All values of a kernel, transposed: (key, channel, other dimensions...).
struct MatrixValues {
  Halide::Func func;
  Halide::Var key{"vk"}, channel{"vd"};
  /// The dimensions of the tensor that are neither rows nor channels.
  std::vector<Halide::Var> outer;
  std::vector<unsigned> outerDims;
  std::vector<Halide::Expr> outerSizes;
  Halide::RVar block; ///< Of keys that are transposed at a time.
};

struct FlashAlgorithm {
  int64_t rows = 0, headSize = 0, valueSize = 0;
  int64_t columns = 0;   ///< MD: columns of a block of X.
  int64_t lanes = 0;     ///< Vector lanes.
  bool isDecode = false; ///< See FlashFactors.
  bool isMatrix = false;
  bool isGpu = false;
  int64_t queryLanes = 0; ///< Rows that lie side by side in `query`.
  int keyGroup = 0; ///< Keys that maximum, exponential and sum take at a time.
  int64_t blocks() const { return (valueSize + columns - 1) / columns; }
  /// Blocks dg before those of channels.
  int64_t firstBlock() const { return isGpu ? 4 : 1; }

  Halide::Var q{"q"}, kk{"kk"}, t{"t"}, d{"d"}, di{"di"}, dg{"dg"}, qv{"qv"},
      qg{"qg"}, lane{"lane"};
  std::vector<Halide::Var> counters; ///< Of the scf.forall, in order.
  unsigned tileCounter = 0;          ///< Which of them numbers query tiles.

  /// Qs(qv, d, qg, counters...), scaled and transposed; with a matrix unit
  /// Qs(q, d, counters...) in pairs of channels.
  Halide::Func query;
  /// With a matrix unit: what scores are multiplied with, and the values with
  /// the keys of one of their rows.
  Halide::Expr scoreFactor, valueKeys;
  MatrixValues transposed;
  std::vector<FlashStage> stages;
  /// Vectors of queries that the last tile does not fill. Not with channels in
  /// the lanes, nor with a matrix unit.
  ShortTiles shortTiles;
  OpaqueLoads loads;    ///< Loaded numbers that loop bounds depend on.
  Halide::Func state;   ///< X.
  Halide::Func inverse; ///< 1 / sum, 0 where nothing is visible.
  Halide::Func result, lse;
  /// The dimensions of `result` and `lse`; `row` is a position.
  std::vector<Halide::Var> resultVars, lseVars;
  Halide::Var row{"i"};
};

/// Builds the functions. The order of things to call is: this, then a schedule.
mlir::FailureOr<FlashAlgorithm> buildFlashAlgorithm(FlashNest &nest,
                                                    FlashFactors factors,
                                                    const ExprEmitter &values);

/// Schedule/FlashCpu.cpp, DecodeCpu.cpp, MatrixCpu.cpp and FlashGpu.cpp.
mlir::LogicalResult scheduleFlashCpu(FlashAlgorithm &algorithm,
                                     FlashFactors factors,
                                     const TargetInfo &target, KernelOp kernel);
mlir::LogicalResult scheduleDecodeCpu(FlashAlgorithm &algorithm,
                                      FlashFactors factors,
                                      const TargetInfo &target,
                                      KernelOp kernel);
mlir::LogicalResult scheduleMatrixCpu(FlashAlgorithm &algorithm,
                                      FlashFactors factors,
                                      const TargetInfo &target,
                                      KernelOp kernel);
mlir::LogicalResult scheduleFlashGpu(FlashAlgorithm &algorithm,
                                     FlashFactors factors,
                                     const TargetInfo &target, KernelOp kernel);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHALGORITHM_H

//===- FlashThreads.cpp - values of a tile that threads share -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keys and values of a tile lie in shared memory. Rows past the last one are
// zero there, so that loops over keys have as many steps as the tile has rows.
//
// What never contributes (see FlashStages.cpp) is found without a test of the
// values: the weight of a hidden pair is -0, which no exponential is. It adds
// nothing to a sum, and where it meets a value the value's place takes 0.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "FlashBuilder.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;

/// The bits of -0.
static constexpr int32_t hiddenBits = std::numeric_limits<int32_t>::min();

/// The same number as if it were bits, which fast-math knows nothing of.
static Expr selectBits(const Expr &condition, const Expr &value, int32_t bits) {
  return Halide::reinterpret<float>(Halide::select(
      condition, Halide::reinterpret<int32_t>(value), Expr(bits)));
}

/// What is subtracted from the scores of a tile, as a thread knows it.
Expr FlashBuilder::offsetOfThread(FlashStage &stage, const Expr &thread,
                                  const Expr &tile) const {
  Expr maximum = stage.tileMax(at({out.q, thread, tile}));
  return folded ? Halide::ceil(maximum) : maximum;
}

LogicalResult FlashBuilder::buildThreadWeights(FlashStage &stage,
                                               ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  // Each thread finds the maximum of its rows for itself: another one cannot
  // hand it over without a barrier.
  RDom keys(0, static_cast<int>(stage.keys), "maxKey" + suffix);
  std::vector<Halide::Var> row = vars({out.q, out.di, out.t});
  stage.tileMax = Func("tileMax" + suffix);
  stage.tileMax(row) = lowest;
  stage.tileMax(row) = Halide::max(stage.tileMax(at({out.q, out.di, out.t})),
                                   stage.visible(at({out.q, keys.x, out.t})));
  stage.maxGroup = keys.x;

  Expr thread = out.kk / static_cast<int>(stage.keys / stage.keyThreads);
  Expr weight = weightOf(stage, stage.visible(at({out.q, out.kk, out.t})),
                         offsetOfThread(stage, thread, out.t),
                         [](const char *, const Expr &value) { return value; });
  if (stage.loop.hasMask()) {
    FailureOr<Expr> visible = isVisible(stage, inside, out.q, out.kk);
    if (failed(visible))
      return failure();
    weight = selectBits(*visible, weight, hiddenBits);
  }
  stage.weights = Func("weights" + suffix);
  stage.weights(vars({out.q, out.kk, out.t})) = weight;
  return success();
}

LogicalResult FlashBuilder::buildThreadMix(FlashStage &stage,
                                           ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  TileMixOp op = stage.loop.mix;
  FailureOr<Expr> value = loadTile(stage.loop.value, inside, out.kk, out.d,
                                   /*clampRow=*/!stage.full);
  if (failed(value))
    return failure();
  if (!stage.full)
    value = selectBits(out.kk < *validKeys(stage, inside), *value, 0);
  stage.wideValues = Func("wideValues" + suffix);
  stage.wideValues(vars({out.d, out.kk, out.t})) = *value;

  RDom keys(0, static_cast<int>(stage.keys), "mixKey" + suffix);
  // Threads without a channel repeat the last one; it is not stored.
  int columns = static_cast<int>(out.columns);
  Expr channel = Halide::min(out.dg * columns + out.di,
                             static_cast<int>(out.valueSize) - 1);
  Expr element = stage.wideValues(at({channel, keys.x, out.t}));
  FailureOr<Expr> changed = changeValue(op, inside, element, keys.x, channel);
  if (failed(changed))
    return failure();
  element = *changed;
  // What a region makes of a row that does not exist.
  if (!op.getValues().empty() && !stage.full)
    element = selectBits(keys.x < *validKeys(stage, inside), element, 0);
  // The sum of the weights is that of a channel of ones.
  element =
      Halide::select(out.dg == static_cast<int>(out.blocks()), 1.0f, element);
  Expr weight = stage.weights(at({out.q, keys.x, out.t}));
  if (stage.loop.hasMask())
    element = selectBits(Halide::reinterpret<int32_t>(weight) != hiddenBits,
                         element, 0);
  stage.mix = Func("mix" + suffix);
  stage.mix(vars({out.q, out.di, out.dg, out.t})) = 0.0f;
  stage.mix(vars({out.q, out.di, out.dg, out.t})) += weight * element;
  stage.mixKey = keys.x;
  return success();
}

/// The update of X for one tile: what a thread carries, number by number.
void FlashBuilder::setThreadState(FlashStage &stage, const Expr &oldFactor,
                                  const Expr &tileFactor, const Expr &after) {
  FlashLoop &loop = stage.loop;
  Expr number = stage.block;
  auto carried = [&](const Expr &which) -> Expr {
    return out.state(at({out.q, out.di, which}));
  };
  int first = static_cast<int>(out.firstBlock());
  Expr self = carried(number);
  auto mix = [&](const Expr &block) -> Expr {
    return stage.mix(at({out.q, out.di, block, stage.tile}));
  };
  Expr accumulator = (loop.accumulatorRescale ? self * carried(0) : self) +
                     mix(Halide::max(number - first, 0)) * carried(1);
  Expr sum = (loop.sumRescale ? carried(3) * carried(0) : carried(3)) +
             mix(static_cast<int>(out.blocks())) * carried(1);
  out.state(at({out.q, out.di, number})) = Halide::select(
      Halide::likely(number >= first), accumulator, number == 0, oldFactor,
      number == 1, tileFactor, number == 2, after, sum);
}

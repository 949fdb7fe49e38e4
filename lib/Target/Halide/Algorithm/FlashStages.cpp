//===- FlashStages.cpp - one loop over key tiles as Halide functions ------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What never contributes, and how that is kept:
//   - a hidden pair has score -inf, set in integer bits (fast-math knows no
//     infinity); its weight is exactly 0, whatever the key is;
//   - 0 * V is NaN where V is not finite. In loops with a mask each value tile
//     is tested once; only where it has such an element the product takes the
//     slow form that asks the mask again and puts 0 in the value's place, as
//     it always does for values that a region changes;
//   - keys past the edge have score -inf and their values are not read.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "FlashBuilder.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// Whether the tile of V holds neither NaN nor infinity: the greatest magnitude
/// of its elements, as integers, is below that of infinity.
void FlashBuilder::buildFinite(FlashStage &stage, ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  // The last chunk of a row overlaps the one before: no element past the row.
  int lanes = static_cast<int>(
      std::min<int64_t>(out.lanes, llvm::bit_floor<uint64_t>(out.valueSize)));
  int chunks = static_cast<int>(llvm::divideCeil(out.valueSize, lanes));
  int keys = static_cast<int>(stage.keys);
  RDom elements(0, chunks, 0, keys, "finite" + suffix);
  Expr key = elements.y;
  if (!stage.full) {
    Expr last = *validKeys(stage, inside) - 1;
    elements.where(elements.y <= last);
  }
  Expr start =
      Halide::min(elements.x * lanes, static_cast<int>(out.valueSize) - lanes);
  Expr element = *loadTile(stage.loop.value, inside, key, start + out.lane,
                           /*clampRow=*/false);
  Expr magnitude = Halide::reinterpret<int32_t>(element) &
                   std::numeric_limits<int32_t>::max();
  stage.laneMax = Func("valueLaneMax" + suffix);
  stage.laneMax(vars({out.lane, out.t})) = 0;
  stage.laneMax(vars({out.lane, out.t})) =
      Halide::max(stage.laneMax(at({out.lane, out.t})), magnitude);
  RDom lane(0, lanes, "finiteLane" + suffix);
  stage.finite = Func("valueMax" + suffix);
  stage.finite(vars({out.t})) = 0;
  stage.finite(vars({out.t})) = Halide::max(stage.finite(at({out.t})),
                                            stage.laneMax(at({lane.x, out.t})));
  stage.finiteChunk = elements.x;
  stage.finiteKey = elements.y;
  stage.finiteLane = lane.x;
}

FailureOr<Expr> FlashBuilder::changeValue(TileMixOp op, ExprEmitter &inside,
                                          const Expr &element, const Expr &key,
                                          const Expr &channel) {
  if (op.getValues().empty())
    return element;
  auto args = positions(op.getPosition(), inside, out.q, key);
  if (failed(args))
    return failure();
  args->insert(args->begin(), element);
  args->push_back(channel);
  auto changed = inside.emitRegion(op.getValues(), *args, op.getCaptures());
  if (failed(changed))
    return failure();
  return Halide::cast<float>(changed->front());
}

LogicalResult FlashBuilder::buildMix(FlashStage &stage, ExprEmitter &inside) {
  if (out.isGpu)
    return buildThreadMix(stage, inside);
  std::string suffix = std::to_string(stage.update);
  int keys = static_cast<int>(stage.keys);
  int columns = static_cast<int>(out.columns);
  TileMixOp op = stage.loop.mix;
  bool hasRegion = !op.getValues().empty();
  // A tail block of channels repeats the last one; it is not stored.
  Expr channel = out.dg * columns + out.di;
  if (out.valueSize % columns)
    channel = Halide::min(channel, static_cast<int>(out.valueSize) - 1);

  std::vector<Var> pure = vars({out.q, out.di, out.dg, out.t});
  // What a region adds may be NaN where the values are not.
  bool alwaysAsks =
      stage.loop.hasMask() && hasRegion && !op.getCaptures().empty();
  if (stage.loop.hasMask() && !alwaysAsks)
    buildFinite(stage, inside);
  if (out.isMatrix && failed(buildMatrixMix(stage, inside)))
    return failure();
  // Vectors of channels are read once for all queries, and need no copy.
  if (!out.isDecode && !out.isMatrix &&
      isHalfFloat(
          getElementTypeOrSelf(stage.loop.value.getTensor().getType()))) {
    // An update, whose domain says which keys there are: what Halide finds out
    // about what a product reads is the whole tile at times, past the last key.
    RDom wideKeys(0, keys, "wideValueKey" + suffix);
    if (!stage.full)
      wideKeys.where(wideKeys <= *validKeys(stage, inside) - 1);
    FailureOr<Expr> value = loadTile(stage.loop.value, inside, wideKeys,
                                     channel, /*clampRow=*/false);
    if (failed(value))
      return failure();
    stage.wideValues = Func("wideValues" + suffix);
    stage.wideValues(vars({out.di, out.kk, out.dg, out.t})) =
        Halide::undef<float>();
    stage.wideValues(at({out.di, wideKeys, out.dg, out.t})) = *value;
    stage.wideValueKey = wideKeys.x;
  }
  for (bool slow : {false, true}) {
    if (slow && !stage.hasFiniteTest())
      break;
    if (!slow && out.isMatrix)
      continue;
    RDom mixKeys(0, keys, (slow ? "slowKey" : "mixKey") + suffix);
    Expr key = mixKeys;
    if (!stage.full) {
      Expr last = *validKeys(stage, inside) - 1;
      mixKeys.where(Halide::likely(mixKeys <= last));
      key = Halide::unsafe_promise_clamped(mixKeys, 0, last);
    }
    FailureOr<Expr> value = loadTile(stage.loop.value, inside, mixKeys, channel,
                                     /*clampRow=*/false);
    if (failed(value))
      return failure();
    Expr element = *value;
    if (stage.wideValues.defined())
      element = stage.wideValues(at({out.di, key, out.dg, out.t}));
    FailureOr<Expr> changed =
        changeValue(op, inside, element, mixKeys, channel);
    if (failed(changed))
      return failure();
    element = *changed;
    if (slow || alwaysAsks) {
      FailureOr<Expr> keep = isVisible(stage, inside, out.q, mixKeys);
      if (failed(keep))
        return failure();
      element = Halide::reinterpret<float>(Halide::select(
          *keep, Halide::reinterpret<int32_t>(element), Expr(0)));
    }
    if (!slow && !stage.wideValues.defined()) {
      FailureOr<Expr> asking = askForNextTile(
          stage, stage.loop.value, inside, element, mixKeys, channel, mixKeys);
      if (failed(asking))
        return failure();
      element = *asking;
    }
    Func mix((slow ? "slowMix" : "mix") + suffix);
    mix(pure) = forUsedRows(0.0f);
    mix(pure) += stage.weights(at({out.q, key, out.t})) * element;
    (slow ? stage.slowMix : stage.mix) = mix;
    (slow ? stage.slowMixKey : stage.mixKey) = mixKeys.x;
  }
  return success();
}

/// 2^x for integers x <= 0, exactly.
static Expr powerOfTwo(const Expr &x) {
  Expr exponent = Halide::max(x + 127.0f, 0.0f);
  return Halide::reinterpret<float>(Halide::cast<int32_t>(exponent) << 23);
}

LogicalResult FlashBuilder::buildUpdate(FlashStage &stage, ExprEmitter &around,
                                        ExprEmitter &inside) {
  FlashLoop &loop = stage.loop;
  scf::ForOp forOp = loop.loop;
  FailureOr<Expr> begin = around.get(forOp.getLowerBound());
  FailureOr<Expr> end = around.get(forOp.getUpperBound());
  FailureOr<Expr> step = around.get(forOp.getStep());
  if (failed(begin) || failed(end) || failed(step))
    return failure();
  const TensorSource *source = inside.getTensor(loop.key.getTensor());
  // No loop can run more often than this; the exact range is the `where`.
  Expr tiles = (source->sizes[loop.key.getDims()[0]] + *step - 1) / *step;
  // The columns of a device are threads, which walk over blocks alone.
  int columns = out.isGpu ? 1 : static_cast<int>(out.columns);
  RDom r(0, columns, 0, static_cast<int>(out.blocks() + out.firstBlock()), 0,
         tiles, "r" + std::to_string(stage.update));
  r.where(*begin + r.z * *step < *end);
  if (failed(addGuards(stage, r, around)))
    return failure();
  stage.column = r.x;
  stage.block = r.y;
  stage.tile = r.z;

  // In vectors of channels the four numbers of a query are computed together,
  // from what they were before.
  auto slot = [&](int number) -> Expr {
    return out.isGpu ? out.state(at({out.q, out.di, number}))
                     : out.state(at({out.q, number, 0}));
  };
  Expr before = slot(2);
  Expr tileMax = out.isGpu ? offsetOfThread(stage, out.di, r.z)
                           : stage.offset(at({out.q, r.z}));
  Expr after = Halide::max(before, tileMax);
  Expr oldFactor, tileFactor;
  if (folded) {
    oldFactor = powerOfTwo(before - after);
    tileFactor = powerOfTwo(tileMax - after);
  } else {
    TileRescaleOp rescale =
        loop.sumRescale ? loop.sumRescale : loop.accumulatorRescale;
    float scale = rescale ? rescale.getScale().convertToFloat() : 0.0f;
    oldFactor = attn::exp2((before - after) * scale);
    tileFactor =
        attn::exp2((tileMax - after) * loop.exp.getScale().convertToFloat());
  }
  if (loop.sumRescale && loop.accumulatorRescale &&
      loop.sumRescale.getScale() != loop.accumulatorRescale.getScale())
    return loop.accumulatorRescale.emitOpError(
        "not supported by the Halide target: sum and accumulator are rescaled "
        "with different constants");

  if (out.isGpu) {
    setThreadState(stage, oldFactor, tileFactor, after);
    return success();
  }
  Expr self = out.state(at({out.q, r.x, r.y}));
  // With one block of channels its number is a constant, which bounds storage.
  Expr channels = out.blocks() == 1 ? Expr(0) : r.y - 1;
  Expr mixed = stage.mix(at({out.q, r.x, channels, r.z}));
  if (stage.hasFiniteTest()) // Halide computes only the one that is chosen.
    mixed = Halide::select(stage.finite(at({r.z})) < kInfinityBits, mixed,
                           stage.slowMix(at({out.q, r.x, channels, r.z})));
  Expr accumulator =
      (loop.accumulatorRescale ? self * slot(0) : self) + mixed * slot(1);
  Expr oldNow = out.isDecode ? oldFactor : slot(0);
  Expr tileNow = out.isDecode ? tileFactor : slot(1);
  Expr sum = (loop.sumRescale ? slot(3) * oldNow : slot(3)) +
             stage.tileSum(at({out.q, r.z})) * tileNow;
  out.state(at({out.q, r.x, r.y})) =
      Halide::select(Halide::likely(r.y >= 1), accumulator, r.x == 0, oldFactor,
                     r.x == 1, tileFactor, r.x == 2, after, sum);
  return success();
}

LogicalResult FlashBuilder::buildStage(FlashLoop &loop) {
  FlashStage stage;
  stage.loop = loop;
  stage.full = loop.isFull();
  stage.keys = loop.keys();
  stage.update = static_cast<int>(out.stages.size());
  stage.keyThreads = static_cast<int>(std::min(stage.keys, out.columns));
  FailureOr<ExprEmitter> around = hideBounds(loop);
  if (failed(around))
    return failure();
  ExprEmitter inside = *around;
  scf::ForOp forOp = loop.loop;
  FailureOr<Expr> begin = around->get(forOp.getLowerBound());
  FailureOr<Expr> step = around->get(forOp.getStep());
  if (failed(begin) || failed(step))
    return failure();
  std::optional<int64_t> stepValue = Halide::Internal::as_const_int(*step);
  if (!stepValue || *stepValue < 1)
    return forOp.emitOpError("expected a constant step above 0");
  inside.bind(forOp.getInductionVar(), *begin + out.t * *step);
  if (failed(boundKeys(loop, inside)))
    return failure();
  if (failed(validKeys(stage, inside)) || failed(buildTests(stage, inside)) ||
      failed(buildScores(stage, inside)) || failed(buildVisible(stage, inside)))
    return failure();
  if (failed(buildWeights(stage, inside)) || failed(buildMix(stage, inside)) ||
      failed(buildUpdate(stage, *around, inside)))
    return failure();
  out.stages.push_back(std::move(stage));
  return success();
}

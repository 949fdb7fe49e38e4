//===- FlashScores.cpp - scores of a tile of pairs ------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two forms of the product of queries and keys: queries in the lanes of
// vectors, or channels, of which the lanes are added up in the end. Then, for
// either, score regions and masks.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "../ReadAhead.h"
#include "FlashBuilder.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// Numbers in a cache line.
static constexpr int lineFloats = cacheLineBytes / sizeof(float);

/// The conjunction of the masks of a loop for one pair.
FailureOr<Expr> FlashBuilder::isVisible(FlashStage &stage, ExprEmitter &inside,
                                        const Expr &row, const Expr &key) {
  Expr visible = Halide::Internal::const_true();
  for (Operation *op : stage.loop.scoreOps) {
    auto mask = dyn_cast<TileMaskOp>(op);
    if (!mask)
      continue;
    auto where = positions(mask.getPosition(), inside, row, key);
    if (failed(where))
      return failure();
    auto keep = inside.emitRegion(mask.getBody(), *where, mask.getCaptures());
    if (failed(keep))
      return failure();
    visible = visible && keep->front();
  }
  return visible;
}

/// What channel `depth` adds to a score.
FailureOr<Expr> FlashBuilder::scoreTerm(FlashStage &stage, ExprEmitter &inside,
                                        const Expr &depth) {
  FailureOr<Expr> key = loadTile(stage.loop.key, inside, out.kk, depth,
                                 /*clampRow=*/!stage.full);
  if (failed(key))
    return failure();
  if (stage.wideKeys.defined())
    key = Expr(stage.wideKeys(at({depth, out.kk, out.t})));
  int lanes = static_cast<int>(out.queryLanes);
  Expr query = out.query(at({out.q % lanes, depth, out.q / lanes}));
  TileScoresOp op = stage.loop.scores;
  if (op.getCombine().empty()) {
    // Rows of keys can be far apart, which no prefetcher foresees. Each step of
    // a register tile asks for one line: of its rows in turn, then of the next
    // channels.
    if (!stage.wideKeys.defined()) {
      int unroll = factors.keyUnroll, size = static_cast<int>(out.headSize);
      key = askForNextTile(stage, stage.loop.key, inside, *key,
                           out.kk + depth % unroll,
                           depth / unroll * lineFloats % size, depth);
      if (failed(key))
        return failure();
    }
    return query * *key;
  }
  auto args = positions(op.getPosition(), inside, out.q, out.kk);
  if (failed(args))
    return failure();
  args->insert(args->begin(), {query, *key});
  args->push_back(depth);
  auto combined = inside.emitRegion(op.getCombine(), *args, op.getCaptures());
  if (failed(combined))
    return failure();
  return combined->front();
}

LogicalResult FlashBuilder::buildScores(FlashStage &stage,
                                        ExprEmitter &inside) {
  if (out.isDecode)
    return buildLaneScores(stage, inside);
  if (out.isMatrix)
    return buildMatrixScores(stage, inside);
  std::string suffix = std::to_string(stage.update);
  RDom depth(0, static_cast<int>(out.headSize), "depth" + suffix);
  stage.depth = depth.x;
  // On a device all queries of a tile read the keys that are in shared memory.
  if (out.isGpu ||
      isHalfFloat(getElementTypeOrSelf(stage.loop.key.getTensor().getType()))) {
    FailureOr<Expr> key = loadTile(stage.loop.key, inside, out.kk, out.d,
                                   /*clampRow=*/!stage.full);
    if (failed(key))
      return failure();
    stage.wideKeys = Func("wideKeys" + suffix);
    stage.wideKeys(vars({out.d, out.kk, out.t})) =
        out.isGpu ? afterTests(stage, *key) : *key;
  }
  FailureOr<Expr> term = scoreTerm(stage, inside, depth);
  if (failed(term))
    return failure();
  stage.scores = Func("scores" + suffix);
  stage.scores(vars({out.q, out.kk, out.t})) =
      forUsedRows(zeroAfterTests(stage));
  stage.scores(vars({out.q, out.kk, out.t})) += *term;
  return success();
}

/// Scores with channels in the lanes of vectors, which are added up in the end.
/// Channels that fill no vector are added one by one.
LogicalResult FlashBuilder::buildLaneScores(FlashStage &stage,
                                            ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  int size = static_cast<int>(out.headSize);
  // As many vectors of sums a key and query as hide the latency of an addition
  // where queries do not.
  int width = static_cast<int>(llvm::bit_floor<uint64_t>(std::min<int64_t>(
      out.lanes * std::max<int64_t>(2 * chains / out.rows, 1), size)));
  stage.scoreLanes = width;
  RDom depth(0, size / width, "depth" + suffix);
  FailureOr<Expr> term = scoreTerm(stage, inside, depth * width + out.lane);
  if (failed(term))
    return failure();
  std::vector<Var> pair = vars({out.q, out.kk, out.t});
  stage.laneScores = Func("laneScores" + suffix);
  // Keys are read in order, which the processor foresees. The values of the
  // tile come in blocks of channels, which it does not: they are asked for
  // while the scores are computed.
  FailureOr<Expr> valueRow =
      loadStored(stage.loop.value, inside, out.kk, 0, /*clampRow=*/false);
  if (failed(valueRow))
    return failure();
  stage.laneScores(vars({out.lane, out.q, out.kk, out.t})) = readAhead(
      zeroAfterTests(stage), *valueRow, static_cast<int>(out.valueSize));
  stage.laneScores(vars({out.lane, out.q, out.kk, out.t})) += *term;
  // Half of the lanes is added to the other half until one is left.
  Func lanes = stage.laneScores;
  for (int half = width / 2; half >= 1; half /= 2) {
    Func sum("halfScores" + std::to_string(half) + "_" + suffix);
    sum(vars({out.lane, out.q, out.kk, out.t})) =
        lanes(at({out.lane, out.q, out.kk, out.t})) +
        lanes(at({out.lane + half, out.q, out.kk, out.t}));
    stage.halfScores.push_back(sum);
    lanes = sum;
  }
  Expr score = lanes(at({0, out.q, out.kk, out.t}));
  if (size % width) {
    RDom rest(size / width * width, size % width, "scoreRest" + suffix);
    FailureOr<Expr> last = scoreTerm(stage, inside, rest);
    if (failed(last))
      return failure();
    stage.restScores = Func("restScores" + suffix);
    stage.restScores(pair) = 0.0f;
    stage.restScores(pair) += *last;
    stage.scoreRest = rest.x;
    score += stage.restScores(at({out.q, out.kk, out.t}));
  }
  stage.scores = Func("scores" + suffix);
  stage.scores(pair) = score;
  stage.depth = depth.x;
  return success();
}

LogicalResult FlashBuilder::buildVisible(FlashStage &stage,
                                         ExprEmitter &inside) {
  Expr score = stage.scores(at({out.q, out.kk, out.t}));
  TileScoresOp scores = stage.loop.scores;
  if (!scores.getCombine().empty()) {
    FailureOr<Expr> scale = inside.get(scores.getScale());
    if (failed(scale))
      return failure();
    score = score * Halide::cast<float>(*scale);
  }
  if (out.isMatrix && !folded)
    score = score * out.scoreFactor;
  for (Operation *op : stage.loop.scoreOps) {
    auto body = dyn_cast<TileScoreOp>(op);
    if (!body)
      continue;
    auto args = positions(body.getPosition(), inside, out.q, out.kk);
    if (failed(args))
      return failure();
    args->insert(args->begin(), score);
    auto changed = inside.emitRegion(body.getBody(), *args, body.getCaptures());
    if (failed(changed))
      return failure();
    score = Halide::cast<float>(changed->front());
  }
  if (stage.loop.hasMask() || !stage.full) {
    FailureOr<Expr> keep = isVisible(stage, inside, out.q, out.kk);
    FailureOr<Expr> valid = validKeys(stage, inside);
    if (failed(keep) || failed(valid))
      return failure();
    if (!stage.full)
      keep = *keep && out.kk < *valid;
    // In integers: fast-math would drop a select of -inf.
    score = Halide::reinterpret<float>(Halide::select(
        *keep, Halide::reinterpret<int32_t>(score), Expr(kMinusInfinityBits)));
  }
  // Nothing happens to a score: the run-time reads it where it is.
  if (out.isMatrix && folded && stage.full && !stage.loop.hasMask()) {
    stage.visible = stage.scores;
    return success();
  }
  stage.visible = Func("visible" + std::to_string(stage.update));
  stage.visible(vars({out.q, out.kk, out.t})) = score;
  return success();
}

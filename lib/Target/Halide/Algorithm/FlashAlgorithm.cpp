//===- FlashAlgorithm.cpp - tiled attention as Halide functions
//------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What never contributes, and how that is kept:
//   - a hidden pair has score -inf, set in integer bits (fast-math knows no
//     infinity); its weight is exactly 0, whatever the key is;
//   - 0 * V is NaN where V is not finite. In loops with a mask each value tile
//   is
//     tested once; only where it has such an element the product takes the slow
//     form that asks the mask again and puts 0 in the value's place;
//   - keys past the edge are not summed over at all, queries past it are copies
//   of
//     the last one and not stored.
//
//===----------------------------------------------------------------------===//
#include "FlashAlgorithm.h"
#include "../Math.h"

#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// The running maximum starts here: above -inf, so that a hidden score minus it
/// is -inf and not NaN.
static constexpr float lowest = std::numeric_limits<float>::lowest();

namespace {
/// Builds one FlashAlgorithm. `values` knows the kernel's arguments and the
/// counters of the scf.forall.
struct FlashBuilder {
  FlashNest &nest;
  FlashScheduleAttr schedule;
  ExprEmitter values;
  FlashAlgorithm out = {};
  /// See FlashAlgorithm.h.
  bool folded = false;
  /// The base-2 scale that is folded into the query tile, or 1.
  float foldedScale = 1.0f;

  FailureOr<FlashAlgorithm> run();

private:
  void bindCounters();
  LogicalResult bindLoads();
  LogicalResult checkFirstRow();
  void chooseExponent();
  LogicalResult buildQuery();
  LogicalResult buildStage(FlashLoop &loop);
  LogicalResult buildScores(FlashStage &stage, ExprEmitter &inside);
  LogicalResult buildVisible(FlashStage &stage, ExprEmitter &inside);
  void buildWeights(FlashStage &stage, ExprEmitter &inside);
  LogicalResult buildMix(FlashStage &stage, ExprEmitter &inside);
  void buildFinite(FlashStage &stage, ExprEmitter &inside);
  LogicalResult buildUpdate(FlashStage &stage, ExprEmitter &inside);
  void buildStart();
  LogicalResult buildResults();

  FailureOr<Expr> loadTile(TileLoadOp load, ExprEmitter &inside, Expr row,
                           Expr column, bool clampRow);
  FailureOr<SmallVector<Expr>>
  positions(OperandRange position, ExprEmitter &inside, Expr row, Expr key);
  FailureOr<Expr> isVisible(FlashStage &stage, ExprEmitter &inside, Expr row,
                            Expr key);
  /// leading arguments, then the counters of the scf.forall.
  std::vector<Expr> at(std::initializer_list<Expr> leading) const {
    std::vector<Expr> args(leading);
    args.insert(args.end(), out.counters.begin(), out.counters.end());
    return args;
  }
  std::vector<Var> vars(std::initializer_list<Var> leading) const {
    std::vector<Var> args(leading);
    args.insert(args.end(), out.counters.begin(), out.counters.end());
    return args;
  }
  /// The keys [0, validKeys) of tile t exist. The number is at least 1 wherever
  /// a loop runs, at most the tile's.
  FailureOr<Expr> validKeys(FlashStage &stage, ExprEmitter &inside) {
    return inside.get(stage.loop.key.getRows());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// One element of a tile_load as f32.
FailureOr<Expr> FlashBuilder::loadTile(TileLoadOp load, ExprEmitter &inside,
                                       Expr row, Expr column, bool clampRow) {
  const TensorSource *source = inside.getTensor(load.getTensor());
  if (!source)
    return load.emitOpError("not supported by the Halide target: the tensor is "
                            "not an argument of the kernel");
  SmallVector<Expr> indices;
  for (Value index : load.getIndices()) {
    FailureOr<Expr> expr = inside.get(index);
    if (failed(expr))
      return failure();
    indices.push_back(*expr);
  }
  unsigned rowDim = load.getDims()[0], columnDim = load.getDims()[1];
  if (columnDim + 1 != indices.size())
    return load.emitOpError("expected the columns along the last dimension "
                            "(because they are loaded as vectors), got "
                            "dimension ")
           << columnDim;
  Expr position = indices[rowDim] + row;
  indices[rowDim] = clampRow ? Halide::clamp(Halide::likely(position), 0,
                                             source->sizes[rowDim] - 1)
                             : position;
  indices[columnDim] = indices[columnDim] + column;
  return Halide::cast<float>(source->load(indices));
}

/// b, h, i, j of a region, from the positions of row 0 and column 0.
FailureOr<SmallVector<Expr>> FlashBuilder::positions(OperandRange position,
                                                     ExprEmitter &inside,
                                                     Expr row, Expr key) {
  SmallVector<Expr> result;
  for (auto [number, value] : llvm::enumerate(position)) {
    FailureOr<Expr> expr = inside.get(value);
    if (failed(expr))
      return failure();
    result.push_back(number == 2   ? *expr + row
                     : number == 3 ? *expr + key
                                   : *expr);
  }
  return result;
}

/// The conjunction of the masks of a loop for one pair.
FailureOr<Expr> FlashBuilder::isVisible(FlashStage &stage, ExprEmitter &inside,
                                        Expr row, Expr key) {
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

//===----------------------------------------------------------------------===//
// Query tile
//===----------------------------------------------------------------------===//

void FlashBuilder::bindCounters() {
  for (auto [number, counter] :
       llvm::enumerate(nest.forall.getInductionVars())) {
    out.counters.emplace_back("c" + std::to_string(number));
    values.bind(counter, out.counters.back());
    if (counter == nest.tileCounter)
      out.tileCounter = number;
  }
}

/// Numbers that are loaded outside the key loops, for their bounds.
LogicalResult FlashBuilder::bindLoads() {
  for (auto extract : nest.forall.getBody()->getOps<tensor::ExtractOp>()) {
    FailureOr<Expr> value = values.get(extract);
    if (failed(value))
      return failure();
    values.bind(extract, out.loads.hide(*value, out.counters));
  }
  return success();
}

/// Rows of the result are found by dividing a position by the tile's rows.
LogicalResult FlashBuilder::checkFirstRow() {
  FailureOr<Expr> first = values.get(nest.firstRow());
  if (failed(first))
    return failure();
  Expr difference = Halide::Internal::simplify(
      *first - out.counters[out.tileCounter] * static_cast<int>(out.rows));
  if (!Halide::Internal::is_const_zero(difference))
    return nest.query.emitOpError("expected row 0 of the query tile to be the "
                                  "tile's number times ")
           << out.rows << " (because the tile has " << out.rows
           << " rows), got another expression";
  return success();
}

void FlashBuilder::chooseExponent() {
  std::optional<float> scale;
  folded = nest.maximumStart.getValue().isInfinity() &&
           nest.maximumStart.getValue().isNegative();
  auto same = [&](const APFloat &value) {
    float number = value.convertToFloat();
    folded &= number > 0.0f && (!scale || *scale == number);
    scale = number;
  };
  for (FlashLoop &loop : nest.loops) {
    folded &= !loop.hasScoreRegion() && loop.scores.getCombine().empty() &&
              loop.sumRescale && loop.accumulatorRescale &&
              loop.scores.getScale() == nest.loops.front().scores.getScale();
    same(loop.exp.getScale());
    if (loop.sumRescale)
      same(loop.sumRescale.getScale());
    if (loop.accumulatorRescale)
      same(loop.accumulatorRescale.getScale());
  }
  if (nest.lse)
    same(nest.finish.getScale());
  if (folded)
    foldedScale = *scale;
}

LogicalResult FlashBuilder::buildQuery() {
  FlashLoop &first = nest.loops.front();
  Expr row = out.qg * static_cast<int>(out.lanes) + out.qv;
  FailureOr<Expr> element =
      loadTile(nest.query, values, row, out.d, /*clampRow=*/true);
  if (failed(element))
    return failure();
  // With a combine region the scale belongs to the sum and not to q.
  Expr scale = 1.0f;
  if (first.scores.getCombine().empty()) {
    FailureOr<Expr> operand = values.get(first.scores.getScale());
    if (failed(operand))
      return failure();
    scale = Halide::cast<float>(*operand) * foldedScale;
  }
  out.query = Func("query");
  out.query(vars({out.qv, out.d, out.qg})) = *element * scale;
  return success();
}

//===----------------------------------------------------------------------===//
// One loop over key tiles
//===----------------------------------------------------------------------===//

LogicalResult FlashBuilder::buildScores(FlashStage &stage,
                                        ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  RDom depth(0, static_cast<int>(out.headSize), "depth" + suffix);
  stage.depth = depth.x;
  stage.scores = Func("scores" + suffix);
  int lanes = static_cast<int>(out.lanes);
  FailureOr<Expr> key = loadTile(stage.loop.key, inside, out.kk, depth,
                                 /*clampRow=*/!stage.full);
  if (failed(key))
    return failure();
  Expr query = out.query(at({out.q % lanes, depth, out.q / lanes}));
  Expr term = query * *key;
  TileScoresOp op = stage.loop.scores;
  if (!op.getCombine().empty()) {
    auto args = positions(op.getPosition(), inside, out.q, out.kk);
    if (failed(args))
      return failure();
    args->insert(args->begin(), {query, *key});
    args->push_back(depth.x);
    auto combined = inside.emitRegion(op.getCombine(), *args, op.getCaptures());
    if (failed(combined))
      return failure();
    term = combined->front();
  }
  stage.scores(vars({out.q, out.kk, out.t})) = 0.0f;
  stage.scores(vars({out.q, out.kk, out.t})) += term;
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
  stage.visible = Func("visible" + std::to_string(stage.update));
  stage.visible(vars({out.q, out.kk, out.t})) = score;
  return success();
}

/// tile_max, tile_exp and the sum of a tile.
void FlashBuilder::buildWeights(FlashStage &stage, ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  // Maximum and sum take keyGroup keys at a time, so that their chains of
  // dependent operations are short. Past the edge scores are -inf and weights
  // 0.
  int groups = static_cast<int>(stage.keys) / keyGroup;
  RDom maxGroups(0, groups, "maxGroup" + suffix),
      sumGroups(0, groups, "sumGroup" + suffix);
  auto keyOf = [&](const RDom &group, int number) -> Expr {
    Expr key = group.x * keyGroup + number;
    if (stage.full)
      return key;
    Expr last = *validKeys(stage, inside) - 1;
    return Halide::unsafe_promise_clamped(
        key, 0, last / keyGroup * keyGroup + (keyGroup - 1));
  };
  auto reduce = [&](const RDom &group, Func func, auto combine) {
    Expr part[keyGroup];
    for (int number = 0; number < keyGroup; ++number)
      part[number] = func(at({out.q, keyOf(group, number), out.t}));
    return combine(combine(part[0], part[1]), combine(part[2], part[3]));
  };
  if (!stage.full)
    for (RDom *group : {&maxGroups, &sumGroups})
      group->where(group->x * keyGroup <= *validKeys(stage, inside) - 1);
  stage.maxGroup = maxGroups.x;
  stage.sumGroup = sumGroups.x;
  stage.tileMax = Func("tileMax" + suffix);
  stage.tileMax(vars({out.q, out.t})) = lowest;
  stage.tileMax(vars({out.q, out.t})) =
      Halide::max(stage.tileMax(at({out.q, out.t})),
                  reduce(maxGroups, stage.visible,
                         [](Expr a, Expr b) { return Halide::max(a, b); }));
  Expr maximum = stage.tileMax(at({out.q, out.t}));
  stage.offset = Func("offset" + suffix);
  stage.offset(vars({out.q, out.t})) = folded ? Halide::ceil(maximum) : maximum;

  // 2^x in steps that the schedule keeps in registers for several keys at a
  // time; see Math.cpp for the trick.
  std::vector<Var> pair = vars({out.q, out.kk, out.t});
  auto step = [&](const char *name, Expr value) -> Expr {
    Func part(name + suffix);
    part(pair) = value;
    stage.expSteps.push_back(part);
    return part(at({out.q, out.kk, out.t}));
  };
  float scale = stage.loop.exp.getScale().convertToFloat();
  const float magic = 12582912.0f + 127.0f;
  Expr x = stage.visible(at({out.q, out.kk, out.t})) -
           stage.offset(at({out.q, out.t}));
  if (!folded)
    x = x * scale;
  // Strict, so that a NaN passes: it must reach the result.
  Expr clamped = Halide::select(x < -127.0f, Expr(-127.0f), x);
  if (scale <= 0.0f)
    clamped = Halide::select(clamped > 128.0f, Expr(128.0f), clamped);
  clamped = step("expClamped", Halide::strict_float(clamped));
  Expr rounded = step("expRounded", Halide::strict_float(clamped + magic));
  Expr integer = step("expInteger", Halide::strict_float(rounded - magic));
  Expr fraction = step("expFraction", Halide::strict_float(clamped - integer));
  Expr power = step("expPower", Halide::reinterpret<int32_t>(rounded) << 23);
  Expr polynomial = exp2Coefficients().front();
  for (float coefficient : exp2Coefficients().drop_front())
    polynomial = step("expPoly", polynomial * fraction + coefficient);
  stage.weights = Func("weights" + suffix);
  stage.weights(pair) = polynomial * Halide::reinterpret<float>(power);

  stage.tileSum = Func("tileSum" + suffix);
  stage.tileSum(vars({out.q, out.t})) = 0.0f;
  stage.tileSum(vars({out.q, out.t})) +=
      reduce(sumGroups, stage.weights, [](Expr a, Expr b) { return a + b; });
}

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

LogicalResult FlashBuilder::buildMix(FlashStage &stage, ExprEmitter &inside) {
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
  if (stage.loop.hasMask())
    buildFinite(stage, inside);
  for (bool slow : {false, true}) {
    if (slow && !stage.hasFiniteTest())
      break;
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
    if (hasRegion) {
      auto args = positions(op.getPosition(), inside, out.q, mixKeys);
      if (failed(args))
        return failure();
      args->insert(args->begin(), element);
      args->push_back(channel);
      auto changed = inside.emitRegion(op.getValues(), *args, op.getCaptures());
      if (failed(changed))
        return failure();
      element = Halide::cast<float>(changed->front());
    }
    if (slow) {
      FailureOr<Expr> keep = isVisible(stage, inside, out.q, mixKeys);
      if (failed(keep))
        return failure();
      element = Halide::reinterpret<float>(Halide::select(
          *keep, Halide::reinterpret<int32_t>(element), Expr(0)));
    }
    Func mix((slow ? "slowMix" : "mix") + suffix);
    mix(pure) = 0.0f;
    mix(pure) += stage.weights(at({out.q, key, out.t})) * element;
    (slow ? stage.slowMix : stage.mix) = mix;
    (slow ? stage.slowMixKey : stage.mixKey) = mixKeys.x;
  }
  return success();
}

/// 2^x for integers x <= 0, exactly.
static Expr powerOfTwo(Expr x) {
  Expr exponent = Halide::max(x + 127.0f, 0.0f);
  return Halide::reinterpret<float>(Halide::cast<int32_t>(exponent) << 23);
}

LogicalResult FlashBuilder::buildUpdate(FlashStage &stage,
                                        ExprEmitter &inside) {
  FlashLoop &loop = stage.loop;
  scf::ForOp forOp = loop.loop;
  FailureOr<Expr> begin = values.get(forOp.getLowerBound());
  FailureOr<Expr> end = values.get(forOp.getUpperBound());
  FailureOr<Expr> step = values.get(forOp.getStep());
  if (failed(begin) || failed(end) || failed(step))
    return failure();
  const TensorSource *source = inside.getTensor(loop.key.getTensor());
  // No loop can run more often than this; the exact range is the `where`.
  Expr tiles = (source->sizes[loop.key.getDims()[0]] + *step - 1) / *step;
  int columns = static_cast<int>(out.columns);
  RDom r(0, columns, 0, static_cast<int>(out.blocks()) + 1, 0, tiles,
         "r" + std::to_string(stage.update));
  r.where(*begin + r.z * *step < *end);
  stage.column = r.x;
  stage.block = r.y;
  stage.tile = r.z;

  auto slot = [&](int number) { return out.state(at({out.q, number, 0})); };
  Expr before = slot(2), tileMax = stage.offset(at({out.q, r.z}));
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

  Expr self = out.state(at({out.q, r.x, r.y}));
  // With one block of channels its number is a constant, which bounds storage.
  Expr channels = out.blocks() == 1 ? Expr(0) : r.y - 1;
  Expr mixed = stage.mix(at({out.q, r.x, channels, r.z}));
  if (stage.hasFiniteTest()) // Halide computes only the one that is chosen.
    mixed = Halide::select(stage.finite(at({r.z})) < kInfinityBits, mixed,
                           stage.slowMix(at({out.q, r.x, channels, r.z})));
  Expr accumulator =
      (loop.accumulatorRescale ? self * slot(0) : self) + mixed * slot(1);
  Expr sum = (loop.sumRescale ? slot(3) * slot(0) : slot(3)) +
             stage.tileSum(at({out.q, r.z})) * slot(1);
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
  ExprEmitter inside = values;
  scf::ForOp forOp = loop.loop;
  FailureOr<Expr> begin = values.get(forOp.getLowerBound());
  FailureOr<Expr> step = values.get(forOp.getStep());
  if (failed(begin) || failed(step))
    return failure();
  std::optional<int64_t> stepValue = Halide::Internal::as_const_int(*step);
  if (!stepValue || *stepValue < 1)
    return forOp.emitOpError("expected a constant step above 0");
  inside.bind(forOp.getInductionVar(), *begin + out.t * *step);
  if (failed(validKeys(stage, inside)) || failed(buildScores(stage, inside)) ||
      failed(buildVisible(stage, inside)))
    return failure();
  buildWeights(stage, inside);
  if (failed(buildMix(stage, inside)) || failed(buildUpdate(stage, inside)))
    return failure();
  out.stages.push_back(std::move(stage));
  return success();
}

//===----------------------------------------------------------------------===//
// Start and end of a query tile
//===----------------------------------------------------------------------===//

void FlashBuilder::buildStart() {
  auto number = [](TileFillOp fill) {
    return fill.getValue().convertToFloat();
  };
  APFloat maximum = nest.maximumStart.getValue();
  Expr start = maximum.isInfinity() ? lowest : number(nest.maximumStart);
  out.state = Func("state");
  out.state(vars({out.q, out.di, out.dg})) =
      Halide::select(out.dg >= 1, number(nest.accumulatorStart), out.di == 2,
                     start, out.di == 3, number(nest.sumStart), 0.0f);
}

/// The variables of a stored result, in Halide's order, and the arguments of
/// `state` for the counters.
static std::vector<Var> storeVars(FlashAlgorithm &out, FlashNest &nest,
                                  FlashStore &store,
                                  std::vector<Expr> &counters) {
  std::vector<Var> result;
  counters.assign(out.counters.size(), Expr());
  counters[out.tileCounter] = out.row / static_cast<int>(out.rows);
  for (unsigned dim = store.counters.size(); dim-- > 0;) {
    if (store.channelDim && dim == *store.channelDim) {
      result.push_back(out.d);
      continue;
    }
    if (dim == store.rowDim) {
      result.push_back(out.row);
      continue;
    }
    Value counter = store.counters[dim];
    if (!counter) { // A dimension of size 1.
      result.emplace_back("one" + std::to_string(dim));
      continue;
    }
    unsigned number = cast<BlockArgument>(counter).getArgNumber();
    result.push_back(out.counters[number]);
    counters[number] = out.counters[number];
  }
  return result;
}

LogicalResult FlashBuilder::buildResults() {
  int rows = static_cast<int>(out.rows),
      columns = static_cast<int>(out.columns);
  // The sum is 0 exactly where nothing is visible; asked in bits because a NaN
  // must not pass for it.
  auto isEmpty = [](const Expr &sum) {
    return Halide::reinterpret<int32_t>(sum) == 0;
  };
  Expr sum = out.state(at({out.q, 3, 0}));
  out.inverse = Func("inverse");
  out.inverse(vars({out.q})) = Halide::select(isEmpty(sum), 0.0f, 1.0f / sum);

  std::vector<Expr> counters;
  out.resultVars = storeVars(out, nest, nest.result, counters);
  auto with = [&](std::initializer_list<Expr> leading) {
    std::vector<Expr> args(leading);
    args.insert(args.end(), counters.begin(), counters.end());
    return args;
  };
  auto element =
      getHalideType(nest.result.insert.getDestType().getElementType());
  out.result = Func("result");
  out.result(out.resultVars) = Halide::cast(
      *element,
      out.state(with({out.row % rows, out.d % columns, out.d / columns + 1})) *
          out.inverse(with({out.row % rows})));
  if (!nest.lse)
    return success();
  out.lseVars = storeVars(out, nest, *nest.lse, counters);
  Expr total = out.state(with({out.row % rows, 3, 0}));
  Expr maximum = out.state(with({out.row % rows, 2, 0}));
  if (!folded)
    maximum = maximum * nest.finish.getScale().convertToFloat();
  Expr value = maximum * 0.693147181f + Halide::log(total);
  // Halide's logarithm makes a number of NaN.
  Expr totalBits = Halide::reinterpret<int32_t>(total);
  Expr bits = Halide::select(totalBits > kInfinityBits || totalBits < 0,
                             totalBits, Halide::reinterpret<int32_t>(value));
  out.lse = Func("lse");
  out.lse(out.lseVars) = Halide::reinterpret<float>(
      Halide::select(isEmpty(total), Expr(kMinusInfinityBits), bits));
  return success();
}

FailureOr<FlashAlgorithm> FlashBuilder::run() {
  out.rows = nest.rows();
  out.headSize = nest.headSize();
  out.valueSize = nest.valueSize();
  out.columns = schedule.getValueUnroll();
  out.lanes = schedule.getVector();
  bindCounters();
  chooseExponent();
  if (failed(bindLoads()) || failed(checkFirstRow()) || failed(buildQuery()))
    return failure();
  buildStart();
  for (FlashLoop &loop : nest.loops)
    if (failed(buildStage(loop)))
      return failure();
  if (failed(buildResults()))
    return failure();
  return std::move(out);
}

FailureOr<FlashAlgorithm> attn::buildFlashAlgorithm(FlashNest &nest,
                                                    FlashScheduleAttr schedule,
                                                    const ExprEmitter &values) {
  return FlashBuilder{nest, schedule, values}.run();
}

//===- FlashAlgorithm.cpp - tiled attention as Halide functions -----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a query tile has once: the scaled and transposed queries, the running
// state before the first key, the results.
//
//===----------------------------------------------------------------------===//
#include "../GpuLaunch.h"
#include "../Math.h"
#include "../ReadAhead.h"
#include "FlashBuilder.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

std::optional<FlashFactors> FlashFactors::of(Attribute schedule) {
  auto read = [](auto attribute) -> FlashFactors {
    return {static_cast<int>(attribute.getVector()),
            static_cast<int>(attribute.getKeyUnroll()),
            static_cast<int>(attribute.getValueUnroll()),
            isa<DecodeScheduleAttr>(attribute),
            isa<MatrixScheduleAttr>(attribute)};
  };
  if (auto flash = dyn_cast_or_null<FlashScheduleAttr>(schedule))
    return read(flash);
  if (auto decode = dyn_cast_or_null<DecodeScheduleAttr>(schedule))
    return read(decode);
  if (auto matrix = dyn_cast_or_null<MatrixScheduleAttr>(schedule))
    return read(matrix);
  if (auto gpu = dyn_cast_or_null<GpuAttentionScheduleAttr>(schedule)) {
    FlashFactors factors = {static_cast<int>(gpu.getX()), 1, 1};
    factors.isGpu = true;
    factors.y = static_cast<int>(gpu.getY());
    return factors;
  }
  return std::nullopt;
}

int attn::chainRows(int64_t rows) {
  int count = chains;
  while (rows % count != 0)
    --count;
  return count;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// One element of a tile_load, as it is stored.
FailureOr<Expr> FlashBuilder::loadStored(TileLoadOp load, ExprEmitter &inside,
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
  return source->load(indices);
}

/// `value`; where it is computed, the cache line of an element of the tile
/// after this one is asked for.
FailureOr<Expr> FlashBuilder::askForNextTile(FlashStage &stage, TileLoadOp load,
                                             ExprEmitter &inside,
                                             const Expr &value, const Expr &row,
                                             const Expr &column,
                                             const Expr &once) {
  if (!stage.full || out.isDecode)
    return value;
  const TensorSource *source = inside.getTensor(load.getTensor());
  unsigned rowDim = load.getDims()[0];
  FailureOr<Expr> first = inside.get(load.getIndices()[rowDim]);
  if (failed(first))
    return failure();
  Expr next = Halide::min(*first + row + static_cast<int>(stage.keys),
                          source->sizes[rowDim] - 1);
  FailureOr<Expr> element =
      loadStored(load, inside, next - *first, column, /*clampRow=*/false);
  if (failed(element))
    return failure();
  return readAhead(value, *element, 1, once);
}

/// One element of a tile_load as f32.
FailureOr<Expr> FlashBuilder::loadTile(TileLoadOp load, ExprEmitter &inside,
                                       Expr row, Expr column, bool clampRow) {
  FailureOr<Expr> stored = loadStored(load, inside, row, column, clampRow);
  if (failed(stored))
    return failure();
  return Halide::cast<float>(inside.halves.widen(
      *stored, getElementTypeOrSelf(load.getTensor().getType())));
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
    loaded.push_back(*value);
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

/// How many vectors of queries a tile has. The last tile of a sequence has
/// fewer than the others.
LogicalResult FlashBuilder::findUsedRows() {
  int lanes = static_cast<int>(out.lanes);
  if (out.isDecode || out.isMatrix || out.isGpu || out.rows <= lanes)
    return success();
  FailureOr<Expr> rows = values.get(nest.query.getRows());
  if (failed(rows))
    return failure();
  usedVectors = (*rows + lanes - 1) / lanes;
  return success();
}

Expr FlashBuilder::forUsedRows(const Expr &value) const {
  return usedVectors.defined() ? ShortTiles::mark(value, usedVectors) : value;
}

LogicalResult FlashBuilder::buildQuery() {
  if (out.isMatrix)
    return failure(failed(buildMatrixQuery()) ||
                   failed(buildTransposedValues()));
  FlashLoop &first = nest.loops.front();
  Expr row = out.qg * static_cast<int>(out.queryLanes) + out.qv;
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
// Start and end of a query tile
//===----------------------------------------------------------------------===//

LogicalResult FlashBuilder::buildStart() {
  auto number = [](TileFillOp fill) -> Expr {
    return fill.getValue().convertToFloat();
  };
  Expr maximum = nest.maximumStart.getValue().isInfinity()
                     ? Expr(lowest)
                     : number(nest.maximumStart);
  Expr weight = 1.0f;
  if (nest.sink) {
    auto args = positions(nest.sink.getPosition(), values, out.q, 0);
    if (failed(args))
      return failure();
    args->insert(args->begin(),
                 number(nest.sink.getScores().getDefiningOp<TileFillOp>()));
    auto yielded =
        values.emitRegion(nest.sink.getBody(), *args, nest.sink.getCaptures());
    if (failed(yielded))
      return failure();
    // In bits: fast-math assumes infinity and NaN away. -inf is a sink that is
    // not there, infinity one that takes all weight.
    Expr bits = Halide::reinterpret<int32_t>(yielded->front());
    Expr magnitude = bits & std::numeric_limits<int32_t>::max();
    Expr isFinite = magnitude < kInfinityBits;
    Expr finite =
        Halide::reinterpret<float>(Halide::select(isFinite, bits, Expr(0)));
    Expr exact = Halide::clamp(finite * foldedScale, lowest, -lowest);
    // The running maximum is a whole number where factors are made by a shift.
    Expr rounded = folded ? Halide::ceil(exact) : exact;
    Expr factor = folded ? attn::exp2(exact - rounded) : Expr(1.0f);
    maximum = Halide::select(isFinite, rounded, bits == kInfinityBits, -lowest,
                             lowest);
    weight = Halide::reinterpret<float>(
        Halide::select(isFinite, Halide::reinterpret<int32_t>(factor),
                       bits == kMinusInfinityBits, Expr(0), bits));
  }
  out.state = Func("state");
  Expr place = out.isGpu ? out.dg : out.di;
  out.state(vars({out.q, out.di, out.dg})) =
      Halide::select(out.dg >= static_cast<int>(out.firstBlock()),
                     number(nest.accumulatorStart), place == 2, maximum,
                     place == 3, number(nest.sumStart) * weight, 0.0f);
  return success();
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
  std::vector<Expr> counters;
  out.resultVars = storeVars(out, nest, nest.result, counters);
  auto with = [&](std::initializer_list<Expr> leading) {
    std::vector<Expr> args(leading);
    args.insert(args.end(), counters.begin(), counters.end());
    return args;
  };
  auto invert = [&](const Expr &sum) {
    return Halide::select(isEmpty(sum), 0.0f, 1.0f / sum);
  };
  Type element = nest.result.insert.getDestType().getElementType();
  int firstBlock = static_cast<int>(out.firstBlock());
  Expr row = out.row % rows, column = out.d % columns;
  Expr mixed = out.state(with({row, column, out.d / columns + firstBlock}));
  if (out.isGpu) {
    mixed = mixed * invert(out.state(with({row, column, 3})));
    mixed = keepAlive(mixed, out.query(with({0, 0, row})));
    // Halide brings to the device what it sees in use there.
    std::map<std::string, Expr> places;
    for (auto [counter, value] : llvm::zip(out.counters, counters))
      places[counter.name()] = value;
    for (const Expr &number : loaded)
      mixed = keepAlive(mixed, Halide::Internal::substitute(places, number));
  } else {
    out.inverse = Func("inverse");
    out.inverse(vars({out.q})) = invert(out.state(at({out.q, 3, 0})));
    mixed = mixed * out.inverse(with({row}));
  }
  out.result = Func("result");
  out.result(out.resultVars) =
      isHalfFloat(element) ? values.halves.narrow(mixed, element)
                           : Halide::cast(*getHalideType(element), mixed);
  if (!nest.lse)
    return success();
  out.lseVars = storeVars(out, nest, *nest.lse, counters);
  auto carried = [&](int number) -> Expr {
    return out.isGpu ? out.state(with({row, 0, number}))
                     : out.state(with({row, number, 0}));
  };
  Expr total = carried(3), maximum = carried(2);
  // To base 2 where it is folded, else in units of which the scale makes base
  // 2: with log2 e that is the natural logarithm, and the factor is 1.
  double unit = 0.69314718055994531;
  if (!folded)
    unit *= nest.finish.getScale().convertToFloat();
  Expr value = maximum * static_cast<float>(unit) + attn::log(total);
  // Not through the sum, which fast-math takes for finite.
  Expr totalBits = Halide::reinterpret<int32_t>(total);
  Expr bits = Halide::select(totalBits >= kInfinityBits || totalBits < 0,
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
  out.columns = factors.isGpu ? factors.lanes : factors.valueUnroll;
  out.lanes = factors.lanes;
  out.isDecode = factors.isDecode;
  out.isMatrix = factors.isMatrix;
  out.isGpu = factors.isGpu;
  out.queryLanes = out.isDecode || out.isGpu ? 1 : out.lanes;
  // Whole vectors of keys, as many as make up for chains that queries are not.
  out.keyGroup = out.isDecode ? static_cast<int>(out.lanes) *
                                    std::max(chains / chainRows(out.rows), 1)
                              : chains;
  bindCounters();
  chooseExponent();
  if (failed(bindLoads()) || failed(checkFirstRow()) ||
      failed(findUsedRows()) || failed(buildQuery()) || failed(buildStart()))
    return failure();
  for (FlashLoop &loop : nest.loops)
    if (failed(buildStage(loop)))
      return failure();
  if (failed(buildResults()))
    return failure();
  return std::move(out);
}

FailureOr<FlashAlgorithm> attn::buildFlashAlgorithm(FlashNest &nest,
                                                    FlashFactors factors,
                                                    const ExprEmitter &values) {
  return FlashBuilder{nest, factors, values}.run();
}

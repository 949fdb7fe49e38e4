//===- FlashLoops.cpp - the tiled attention loops, taken apart ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FlashLoops.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

bool FlashLoop::isFull() {
  APInt rows;
  return matchPattern(key.getRows(), m_ConstantInt(&rows)) &&
         rows.getSExtValue() == keys();
}

bool FlashLoop::hasMask() {
  return llvm::any_of(scoreOps,
                      [](Operation *op) { return isa<TileMaskOp>(op); });
}

bool FlashLoop::hasScoreRegion() {
  return llvm::any_of(scoreOps,
                      [](Operation *op) { return isa<TileScoreOp>(op); });
}

/// Reports that `value` does not come from the operation that is expected
/// there.
static LogicalResult expected(Operation *at, StringRef what, Value value) {
  InFlightDiagnostic diagnostic = at->emitOpError("expected ")
                                  << what << ", got ";
  if (Operation *op = value.getDefiningOp())
    diagnostic << op->getName();
  else
    diagnostic << "an argument of a block";
  return diagnostic;
}

/// The loop-carried value behind the operand of a tile_sum or tile_mix, through
/// a tile_rescale where there is one.
static Value stripRescale(Value carry, TileRescaleOp &rescale) {
  rescale = carry.getDefiningOp<TileRescaleOp>();
  return rescale ? rescale.getInput() : carry;
}

/// The number of the iter_arg that `value` is, or failure.
static FailureOr<unsigned> iterArgNumber(scf::ForOp loop, Value value,
                                         Operation *at, StringRef role) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument.getArgNumber() == 0)
    return expected(at,
                    ("the " + role +
                     " of the tiles before, an iter_arg of the "
                     "loop")
                        .str(),
                    value);
  return argument.getArgNumber() - 1;
}

/// Goes through the scf.if around a tile to the block that computes it. The
/// other branch must hand on what there was.
static FailureOr<Block *> enterGuards(FlashLoop &result) {
  scf::ForOp loop = result.loop;
  Block *block = loop.getBody();
  for (;;) {
    Operation *yield = block->getTerminator();
    auto ifOp = yield->getNumOperands() == 0
                    ? scf::IfOp()
                    : yield->getOperand(0).getDefiningOp<scf::IfOp>();
    if (!ifOp || ifOp->getBlock() != block)
      return block;
    if (!llvm::equal(yield->getOperands(), ifOp.getResults()))
      return yield->emitOpError("expected all results of the scf.if in their "
                                "order, got other values");
    if (!llvm::equal(ifOp.elseYield().getOperands(), loop.getRegionIterArgs()))
      return ifOp.emitOpError("expected the iter_args of the loop from the "
                              "other branch (because a tile that is not "
                              "visited changes nothing), got other values");
    result.guards.push_back(ifOp.getCondition());
    block = ifOp.thenBlock();
  }
}

/// Reads one scf.for from what it yields back to its loads.
static FailureOr<FlashLoop> readLoop(scf::ForOp loop) {
  FlashLoop result;
  result.loop = loop;
  if (loop.getInitArgs().size() != 3)
    return loop.emitOpError(
               "expected three iter_args (running maximum, running "
               "sum, accumulator), got ")
           << loop.getInitArgs().size();
  FailureOr<Block *> body = enterGuards(result);
  if (failed(body))
    return failure();
  auto yield = cast<scf::YieldOp>((*body)->getTerminator());
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    unsigned arg = number;
    if (auto op = value.getDefiningOp<TileMaxOp>()) {
      result.maximum = op;
      result.maximumArg = arg;
    } else if (auto op = value.getDefiningOp<TileSumOp>()) {
      result.sum = op;
      result.sumArg = arg;
    } else if (auto op = value.getDefiningOp<TileMixOp>()) {
      result.mix = op;
      result.accumulatorArg = arg;
    } else {
      return expected(yield, "attn.tile_max, attn.tile_sum or attn.tile_mix",
                      value);
    }
  }
  if (!result.maximum || !result.sum || !result.mix)
    return yield.emitOpError(
        "expected one attn.tile_max, one attn.tile_sum and "
        "one attn.tile_mix, got one of them twice");

  // Each result goes on from the iter_arg at its own place.
  Value sumCarry = stripRescale(result.sum.getCarry(), result.sumRescale);
  Value mixCarry =
      stripRescale(result.mix.getCarry(), result.accumulatorRescale);
  for (auto [op, carry, arg, role] :
       {std::tuple<Operation *, Value, unsigned, StringRef>(
            result.maximum, result.maximum.getCarry(), result.maximumArg,
            "running maximum"),
        {result.sum, sumCarry, result.sumArg, "running sum"},
        {result.mix, mixCarry, result.accumulatorArg, "accumulator"}}) {
    FailureOr<unsigned> number = iterArgNumber(loop, carry, op, role);
    if (failed(number))
      return failure();
    if (*number != arg)
      return op->emitOpError("expected the ")
             << role << " at the same place of iter_args and scf.yield, got "
             << *number << " and " << arg;
  }
  for (TileRescaleOp rescale : {result.sumRescale, result.accumulatorRescale})
    if (rescale && (rescale.getBefore() != result.maximum.getCarry() ||
                    rescale.getAfter() != result.maximum.getResult()))
      return rescale.emitOpError("expected to rescale from the running maximum "
                                 "before this tile to the "
                                 "one after it, got other values");

  // Weights, scores, loads.
  result.exp = result.sum.getWeights().getDefiningOp<TileExpOp>();
  if (!result.exp)
    return expected(result.sum, "weights from attn.tile_exp",
                    result.sum.getWeights());
  if (result.mix.getWeights() != result.exp.getResult())
    return result.mix.emitOpError(
        "expected the weights that attn.tile_sum adds up, got another value");
  if (result.exp.getMaximum() != result.maximum.getResult())
    return result.exp.emitOpError(
        "expected the maximum that includes this tile, "
        "the result of attn.tile_max, got another "
        "value");
  if (result.exp.getScores() != result.maximum.getScores())
    return result.exp.emitOpError(
        "expected the scores that attn.tile_max reads, got another value");
  Value scores = result.exp.getScores();
  while (Operation *op = scores.getDefiningOp()) {
    if (auto score = dyn_cast<TileScoreOp>(op))
      scores = score.getScores();
    else if (auto mask = dyn_cast<TileMaskOp>(op))
      scores = mask.getScores();
    else
      break;
    result.scoreOps.insert(result.scoreOps.begin(), op);
  }
  result.scores = scores.getDefiningOp<TileScoresOp>();
  if (!result.scores)
    return expected(result.exp, "scores from attn.tile_scores", scores);
  result.key = result.scores.getKey().getDefiningOp<TileLoadOp>();
  if (!result.key)
    return expected(result.scores, "keys from attn.tile_load",
                    result.scores.getKey());
  result.value = result.mix.getValue().getDefiningOp<TileLoadOp>();
  if (!result.value)
    return expected(result.mix, "values from attn.tile_load",
                    result.mix.getValue());
  if (result.value.getResult().getType().getShape()[0] != result.keys())
    return result.value.emitOpError("expected as many rows as the key tile, ")
           << result.keys() << ", got "
           << result.value.getResult().getType().getShape()[0];
  return result;
}

/// Reads a tensor.parallel_insert_slice: which loop counter or row indexes each
/// dimension of the destination.
static FailureOr<FlashStore> readStore(FlashNest &nest,
                                       tensor::ParallelInsertSliceOp insert,
                                       bool hasChannels) {
  FlashStore store;
  store.insert = insert;
  std::optional<unsigned> rowDim;
  int64_t rank = insert.getDestType().getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    OpFoldResult offset = insert.getMixedOffsets()[dim];
    OpFoldResult size = insert.getMixedSizes()[dim];
    if (!isConstantIntValue(insert.getMixedStrides()[dim], 1))
      return insert.emitOpError("expected stride 1 in dimension ") << dim;
    store.counters.push_back(Value());
    auto value = dyn_cast<Value>(offset);
    if (hasChannels && dim == rank - 1) {
      if (!isConstantIntValue(offset, 0) ||
          !isConstantIntValue(size, nest.valueSize()))
        return insert.emitOpError("expected all ")
               << nest.valueSize()
               << " channels of the accumulator in the last dimension";
      store.channelDim = dim;
    } else if (value && value == nest.firstRow() && !rowDim) {
      rowDim = dim;
    } else if (value &&
               llvm::is_contained(nest.forall.getInductionVars(), value)) {
      store.counters.back() = value;
    } else if (!isConstantIntValue(offset, 0) || !isConstantIntValue(size, 1)) {
      return insert.emitOpError("expected a counter of the scf.forall or the "
                                "first row of the query tile as the offset of "
                                "dimension ")
             << dim;
    }
  }
  if (!rowDim)
    return insert.emitOpError("expected the first row of the query tile as the "
                              "offset of one dimension");
  store.rowDim = *rowDim;
  return store;
}

/// Reads what maximum, sum and accumulator start from.
static LogicalResult readStart(FlashNest &nest, ArrayRef<Value> state) {
  Value maximum = state[0];
  if (auto first = maximum.getDefiningOp<TileMaxOp>()) {
    nest.sink = first.getScores().getDefiningOp<TileScoreOp>();
    if (!nest.sink || !nest.sink.getScores().getDefiningOp<TileFillOp>() ||
        nest.sink.getResult().getType().getShape()[1] != 1)
      return first.emitOpError("expected the first maximum to be that of a "
                               "sink (one column of attn.tile_score of "
                               "attn.tile_fill), got other scores");
    maximum = first.getCarry();
  }
  nest.maximumStart = maximum.getDefiningOp<TileFillOp>();
  nest.sumStart = state[1].getDefiningOp<TileFillOp>();
  nest.accumulatorStart = state[2].getDefiningOp<TileFillOp>();
  if (!nest.maximumStart || !nest.sumStart || !nest.accumulatorStart)
    return nest.finish.emitOpError(
        "expected maximum, sum and accumulator to start from attn.tile_fill");
  if (nest.sink && !(nest.maximumStart.getValue().isInfinity() &&
                     nest.maximumStart.getValue().isNegative()))
    return nest.maximumStart.emitOpError("expected -inf (because a sink is the "
                                         "first score of all), got another "
                                         "number");
  return success();
}

FailureOr<FlashNest> attn::readFlashNest(KernelOp kernel) {
  FlashNest nest;
  auto foralls = kernel.getBody().front().getOps<scf::ForallOp>();
  if (!llvm::hasSingleElement(foralls))
    return kernel.emitOpError(
               "expected one scf.forall over query tiles (because "
               "a kernel is one loop nest), got ")
           << llvm::range_size(foralls);
  nest.forall = *foralls.begin();
  for (auto [lower, step] :
       llvm::zip(nest.forall.getMixedLowerBound(), nest.forall.getMixedStep()))
    if (!isConstantIntValue(lower, 0) || !isConstantIntValue(step, 1))
      return nest.forall.emitOpError(
          "expected lower bounds 0 and steps 1 (because a tile number is "
          "multiplied by the tile's rows)");

  auto finishes = nest.forall.getBody()->getOps<TileFinishOp>();
  if (!llvm::hasSingleElement(finishes))
    return nest.forall.emitOpError("expected one attn.tile_finish, got ")
           << llvm::range_size(finishes);
  nest.finish = *finishes.begin();

  // From the finish up through the loops to the fills.
  std::array<Value, 3> state = {nest.finish.getMaximum(), nest.finish.getSum(),
                                nest.finish.getAccumulator()};
  while (auto loop = state[0].getDefiningOp<scf::ForOp>()) {
    FailureOr<FlashLoop> read = readLoop(loop);
    if (failed(read))
      return failure();
    std::array<unsigned, 3> numbers = {read->maximumArg, read->sumArg,
                                       read->accumulatorArg};
    for (auto [value, number] : llvm::zip(state, numbers)) {
      if (value != loop.getResult(number))
        return loop.emitOpError("expected maximum, sum and accumulator to be "
                                "handed on together, got values of different "
                                "loops");
      value = loop.getInitArgs()[number];
    }
    nest.loops.insert(nest.loops.begin(), *read);
  }
  if (failed(readStart(nest, state)))
    return failure();
  if (nest.loops.empty())
    return nest.finish.emitOpError("expected at least one scf.for over key "
                                   "tiles (because there is no query tile to "
                                   "tell the shape otherwise)");

  // One query tile and one size of everything.
  for (FlashLoop &loop : nest.loops) {
    auto query = loop.scores.getQuery().getDefiningOp<TileLoadOp>();
    if (!query)
      return expected(loop.scores, "queries from attn.tile_load",
                      loop.scores.getQuery());
    if (nest.query && query != nest.query)
      return loop.scores.emitOpError(
          "expected the query tile of the first loop, "
          "got another attn.tile_load");
    nest.query = query;
    if (loop.key.getTensor() != nest.loops.front().key.getTensor() ||
        loop.value.getTensor() != nest.loops.front().value.getTensor())
      return loop.loop.emitOpError("expected the key and value tensors of the "
                                   "first loop, got others");
  }

  for (Operation &op : nest.forall.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return op.emitOpError("expected tensor.parallel_insert_slice");
    bool isResult = insert.getSource() == nest.finish.getResult();
    bool isLse =
        nest.finish.getLse() && insert.getSource() == nest.finish.getLse();
    if (!isResult && !isLse)
      return insert.emitOpError(
          "expected to store a result of attn.tile_finish");
    FailureOr<FlashStore> store = readStore(nest, insert, isResult);
    if (failed(store))
      return failure();
    if (isResult)
      nest.result = *store;
    else
      nest.lse = *store;
  }
  if (!nest.result.insert)
    return nest.finish.emitOpError("expected its result to be stored by a "
                                   "tensor.parallel_insert_slice");
  SmallVector<Value> rest;
  for (Value counter : nest.forall.getInductionVars())
    if (!llvm::is_contained(nest.result.counters, counter))
      rest.push_back(counter);
  if (rest.size() != 1)
    return nest.forall.emitOpError(
               "expected one counter for query tiles and one "
               "for each other dimension of the result, got ")
           << rest.size() << " counters that index no dimension";
  nest.tileCounter = rest.front();
  return nest;
}

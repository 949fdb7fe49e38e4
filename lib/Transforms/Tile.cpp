//===- Tile.cpp - attn-tile ------------------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-tile: opens each attn.attention into FlashAttention's loops. A tile of
// queries walks over the tiles of keys with a running maximum m, a running sum
// l and an accumulator o; when a tile raises m, what was summed before is
// scaled down by 2^((m_old - m_new) * log2 e). The invariant after each tile: l
// and o are the sum and the mix over all keys so far, relative to m.
//
// Key tiles lie at multiples of the tile size. `key_ranges` cuts their sequence
// into three loops: a partial head, full tiles that need no mask, a partial
// tail.
//
//===----------------------------------------------------------------------===//

#include "IndexBuilder.h"
#include "TargetOf.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "attn-tile"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNTILEPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {

/// Where the dimensions of a head-split tensor stand.
struct HeadSplit {
  explicit HeadSplit(Layout layout)
      : batch(batchDim(layout)), sequence(sequenceDim(layout)),
        head(headDim(layout)) {}
  int64_t batch, sequence, head, channel = 3;

  /// The four entries, given by meaning, in the tensor's order.
  template <typename T>
  SmallVector<T> order(T batchEntry, T sequenceEntry, T headEntry,
                       T channelEntry) const {
    SmallVector<T> entries(4, batchEntry);
    entries[sequence] = sequenceEntry;
    entries[head] = headEntry;
    entries[channel] = channelEntry;
    return entries;
  }
};

/// Running maximum, running sum and accumulator.
struct State {
  Value maximum, sum, accumulator;
  SmallVector<Value> values() const { return {maximum, sum, accumulator}; }
  static State of(ValueRange values) {
    return {values[0], values[1], values[2]};
  }
};

/// One of the loops over key tiles.
struct KeyLoop {
  StringRef name;
  OpFoldResult begin, end;
  /// Whether all tiles lie inside the range, so that they have all their rows.
  bool wholeTiles;
  /// Whether tiles need the mask.
  bool masked;
};

/// Tiles one attn.attention. Preconditions are checked by `check`.
struct AttentionTiler {
  AttentionTiler(AttentionOp op, AttentionTiles tiles)
      : op(op), tiles(tiles), layout(op.getLayout()),
        compute(getComputeType(op.getQuery().getType().getElementType())),
        builder(op), index(builder, op.getLoc(), op->getBlock()) {}

  void run();

private:
  /// Builds the body of the loop over batch, heads and query tiles.
  void buildQueryTile(Value batch, Value head, Value tile,
                      ValueRange destinations);
  /// The loops over key tiles that can run at all, in order.
  SmallVector<KeyLoop> planKeyLoops();
  State buildKeyLoop(const KeyLoop &loop, State state);
  State buildKeyTile(Value key0, OpFoldResult rows, bool masked, State state);

  Value loadTile(StringRef name, Value tensor, Value head, Value row,
                 OpFoldResult rows, int64_t tileRows);
  Value fillTile(StringRef name, ArrayRef<int64_t> shape, float value);
  /// The sink of the head as the scores of one key.
  Value buildSink();
  /// Captures that `region` uses, and a copy of it with only these.
  SmallVector<Value> cloneRegion(Region &region, Region &target);
  /// The values outside the mask region that its leaves stand for.
  SmallVector<OpFoldResult> materializeLeaves();
  Value materialize(Value inRegion, IRMapping &mapping);

  AttentionOp op;
  AttentionTiles tiles;
  HeadSplit layout;
  /// What tiles hold.
  FloatType compute;
  OpBuilder builder;
  IndexBuilder index;

  // Sizes, and what identifies the query tile that is being built.
  OpFoldResult batches, queries, heads, keys;
  Value batch, head, keyHead, query0;
  OpFoldResult rows;
  Value queryTile;
};

} // namespace

/// Exponentials are taken to base 2.
static constexpr double log2e = 1.4426950408889634;

/// Names of block arguments.
static constexpr StringLiteral forallNames[] = {"b", "h", "it", "out",
                                                "lse_out"};
static constexpr StringLiteral loopNames[] = {"j0", "m", "l", "o"};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void AttentionTiler::run() {
  Location loc = op.getLoc();
  batches = index.size("batches", op.getQuery(), layout.batch);
  queries = index.size("n", op.getQuery(), layout.sequence);
  heads = index.size("heads", op.getQuery(), layout.head);
  keys = index.size("m", op.getKey(), layout.sequence);
  OpFoldResult queryTiles = index.apply(
      "tiles", index.dim(0).ceilDiv(index.constant(tiles.queries)), queries);

  OpFoldResult channels =
      builder.getIndexAttr(op.getResult().getType().getDimSize(layout.channel));
  SmallVector<Value> inits;
  inits.push_back(tensor::EmptyOp::create(
      builder, index.named("init"),
      layout.order<OpFoldResult>(batches, queries, heads, channels),
      op.getResult().getType().getElementType()));
  if (op.getLse())
    inits.push_back(
        tensor::EmptyOp::create(builder, index.named("lse_init"),
                                ArrayRef<OpFoldResult>{batches, heads, queries},
                                op.getLse().getType().getElementType()));

  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{batches, heads, queryTiles}, inits,
      /*mapping=*/std::nullopt);
  Block *body = forall.getBody();
  for (auto [argument, name] : llvm::zip(body->getArguments(), forallNames))
    argument.setLoc(index.named(name));
  builder.setInsertionPointToStart(body);
  buildQueryTile(body->getArgument(0), body->getArgument(1),
                 body->getArgument(2), body->getArguments().drop_front(3));
  op->replaceAllUsesWith(forall.getResults());
  op->erase();
}

void AttentionTiler::buildQueryTile(Value batchIndex, Value headIndex,
                                    Value tile, ValueRange destinations) {
  Location loc = op.getLoc();
  batch = batchIndex;
  head = headIndex;
  query0 = index.value(index.apply(
      "i0", index.dim(0) * index.constant(tiles.queries), OpFoldResult(tile)));
  rows = index.min("rows",
                   {index.constant(tiles.queries), index.dim(1) - index.dim(0)},
                   {OpFoldResult(query0), queries});

  // Groups of query heads share a key and value head.
  int64_t group = op.getQuery().getType().getDimSize(layout.head) /
                  op.getKey().getType().getDimSize(layout.head);
  keyHead = index.value(index.apply(
      "g", index.dim(0).floorDiv(index.constant(group)), OpFoldResult(head)));

  queryTile =
      loadTile("q_tile", op.getQuery(), head, query0, rows, tiles.queries);
  int64_t valueSize = op.getValue().getType().getDimSize(layout.channel);
  State state;
  state.maximum =
      fillTile("m0", tiles.queries, -std::numeric_limits<float>::infinity());
  // A sink is a key that was seen before all others and has no value: its
  // weight relative to itself is 1.
  if (op.getSinks())
    state.maximum =
        TileMaxOp::create(builder, index.named("m_sink"),
                          state.maximum.getType(), buildSink(), state.maximum);
  state.sum = fillTile("l0", tiles.queries, op.getSinks() ? 1 : 0);
  state.accumulator = fillTile("o0", {tiles.queries, valueSize}, 0);
  for (const KeyLoop &loop : planKeyLoops())
    state = buildKeyLoop(loop, state);

  // Only the tile's rows leave; their number is static where N is.
  int64_t staticRows = getConstantIntValue(rows).value_or(ShapedType::kDynamic);
  SmallVector<Type> resultTypes{RankedTensorType::get(
      {staticRows, valueSize}, op.getResult().getType().getElementType())};
  if (op.getLse())
    resultTypes.push_back(RankedTensorType::get(
        staticRows, op.getLse().getType().getElementType()));
  auto finish = TileFinishOp::create(
      builder, index.named("o"), resultTypes, state.accumulator, state.sum,
      state.maximum, index.value(rows), builder.getFloatAttr(compute, log2e));

  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  auto channels = builder.getIndexAttr(valueSize);
  auto forall = cast<scf::ForallOp>(builder.getBlock()->getParentOp());
  builder.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      builder, loc, finish.getResult(), destinations[0],
      layout.order<OpFoldResult>(batch, query0, head, zero),
      layout.order<OpFoldResult>(one, rows, one, channels),
      SmallVector<OpFoldResult>(4, one));
  if (op.getLse())
    tensor::ParallelInsertSliceOp::create(
        builder, loc, finish.getLse(), destinations[1],
        ArrayRef<OpFoldResult>{batch, head, query0},
        ArrayRef<OpFoldResult>{one, one, rows},
        SmallVector<OpFoldResult>(3, one));
}

SmallVector<KeyLoop> AttentionTiler::planKeyLoops() {
  AffineExpr size = index.constant(tiles.keys);
  AffineExpr down = index.dim(0).floorDiv(size) * size;
  AffineExpr up = index.dim(0).ceilDiv(size) * size;
  OpFoldResult zero = builder.getIndexAttr(0);
  auto isZero = [](OpFoldResult value) { return isZeroInteger(value); };

  if (op.getMask().empty()) {
    OpFoldResult fullEnd = index.apply("full_end", down, keys);
    SmallVector<KeyLoop> loops;
    if (!isZero(fullEnd))
      loops.push_back({"full", zero, fullEnd, true, false});
    if (!isEqualConstantIntOrValue(fullEnd, keys))
      loops.push_back({"tail", fullEnd, keys, false, false});
    return loops;
  }

  // A mask that was not analyzed hides anything.
  auto ranges = op.getKeyRangesAttr();
  if (!ranges) {
    return {{"partial", zero, keys, false, true}};
  }

  OpFoldResult query1 = index.apply("i1", index.dim(0) + index.dim(1),
                                    {OpFoldResult(query0), rows});
  SmallVector<OpFoldResult> operands{query0, query1, queries, keys};
  llvm::append_range(operands, materializeLeaves());
  auto bounds = [&](AffineMapAttr map) {
    SmallVector<AffineExpr> dims{index.dim(0), index.dim(1)}, symbols, results;
    for (unsigned symbol = 0; symbol < operands.size() - 2; ++symbol)
      symbols.push_back(index.dim(2 + symbol));
    for (AffineExpr result : map.getValue().getResults())
      results.push_back(result.replaceDimsAndSymbols(dims, symbols));
    return results;
  };
  OpFoldResult first = index.max("first", bounds(ranges.getBegin()), operands);
  OpFoldResult end = index.min("end", bounds(ranges.getEnd()), operands);
  OpFoldResult begin = index.apply("begin", down, first);
  OpFoldResult fullFirst =
      index.max("full_first", bounds(ranges.getFullBegin()), operands);
  OpFoldResult fullLast =
      index.min("full_last", bounds(ranges.getFullEnd()), operands);
  if (isZero(fullLast))
    return {{"partial", begin, end, false, true}};

  // Full tiles start at or after `begin`; the head is empty if they start
  // there. That the bounds are the same says nothing: a bound inside a tile
  // cuts this tile.
  SmallVector<KeyLoop> loops;
  OpFoldResult fullBegin = begin;
  if (!isEqualConstantIntOrValue(fullFirst, begin)) {
    OpFoldResult aligned = index.apply("full_first_tile", up, fullFirst);
    fullBegin =
        index.max("full_begin", {index.dim(0), index.dim(1)}, {begin, aligned});
    OpFoldResult headEnd =
        index.min("head_end", {index.dim(0), index.dim(1)}, {fullBegin, end});
    loops.push_back({"head", begin, headEnd, false, true});
  }
  OpFoldResult fullEnd =
      index.max("full_end", {down, index.dim(1)}, {fullLast, fullBegin});
  loops.push_back({"full", fullBegin, fullEnd, true, false});
  loops.push_back({"tail", fullEnd, end, false, true});
  return loops;
}

State AttentionTiler::buildKeyLoop(const KeyLoop &loop, State state) {
  auto forOp = scf::ForOp::create(
      builder, index.named(loop.name), index.value(loop.begin),
      index.value(loop.end), index.value(tiles.keys), state.values());
  Block *body = forOp.getBody();
  for (auto [argument, name] : llvm::zip(body->getArguments(), loopNames))
    argument.setLoc(index.named(name));

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  Value key0 = forOp.getInductionVar();
  OpFoldResult tileRows = builder.getIndexAttr(tiles.keys);
  if (!loop.wholeTiles)
    tileRows = index.min(
        "keys", {index.constant(tiles.keys), index.dim(1) - index.dim(0)},
        {OpFoldResult(key0), loop.end});
  State next = buildKeyTile(key0, tileRows, loop.masked,
                            State::of(forOp.getRegionIterArgs()));
  scf::YieldOp::create(builder, op.getLoc(), next.values());
  return State::of(forOp.getResults());
}

State AttentionTiler::buildKeyTile(Value key0, OpFoldResult tileRows,
                                   bool masked, State state) {
  SmallVector<Value> position{batch, head, query0, key0};
  auto scale = builder.getFloatAttr(compute, log2e);

  Value key = loadTile("k", op.getKey(), keyHead, key0, tileRows, tiles.keys);
  auto scoresType =
      TileType::get(builder.getContext(), {tiles.queries, tiles.keys}, compute);
  bool combines = !op.getCombine().empty();
  Region combine;
  SmallVector<Value> captures = cloneRegion(op.getCombine(), combine);
  auto product = TileScoresOp::create(
      builder, index.named("s"), scoresType, queryTile, key, op.getScale(),
      combines ? ValueRange(position) : ValueRange(), captures);
  product.getCombine().takeBody(combine);
  Value scores = product;

  if (!op.getScore().empty()) {
    Region body;
    captures = cloneRegion(op.getScore(), body);
    auto score = TileScoreOp::create(builder, index.named("biased"), scoresType,
                                     scores, position, captures);
    score.getBody().takeBody(body);
    scores = score;
  }
  if (masked) {
    Region body;
    captures = cloneRegion(op.getMask(), body);
    auto mask = TileMaskOp::create(builder, index.named("visible"), scoresType,
                                   scores, position, captures);
    mask.getBody().takeBody(body);
    scores = mask;
  }

  State next;
  next.maximum =
      TileMaxOp::create(builder, index.named("m_new"), state.maximum.getType(),
                        scores, state.maximum);
  Value weights = TileExpOp::create(builder, index.named("p"), scoresType,
                                    scores, next.maximum, scale);
  Value sum =
      TileRescaleOp::create(builder, index.named("l_old"), state.sum.getType(),
                            state.sum, state.maximum, next.maximum, scale);
  next.sum = TileSumOp::create(builder, index.named("l_new"), sum.getType(),
                               weights, sum);
  Value accumulator = TileRescaleOp::create(
      builder, index.named("o_old"), state.accumulator.getType(),
      state.accumulator, state.maximum, next.maximum, scale);

  Value value =
      loadTile("v", op.getValue(), keyHead, key0, tileRows, tiles.keys);
  bool transforms = !op.getValues().empty();
  Region values;
  captures = cloneRegion(op.getValues(), values);
  auto mix = TileMixOp::create(
      builder, index.named("o_new"), accumulator.getType(), weights, value,
      accumulator, transforms ? ValueRange(position) : ValueRange(), captures);
  mix.getValues().takeBody(values);
  next.accumulator = mix;
  return next;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value AttentionTiler::loadTile(StringRef name, Value tensor, Value tensorHead,
                               Value row, OpFoldResult validRows,
                               int64_t tileRows) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto tileType =
      TileType::get(builder.getContext(),
                    {tileRows, type.getDimSize(layout.channel)}, compute);
  return TileLoadOp::create(
      builder, index.named(name), tileType, tensor,
      layout.order<Value>(batch, row, tensorHead, index.value(0)),
      index.value(validRows),
      builder.getDenseI64ArrayAttr({layout.sequence, layout.channel}));
}

Value AttentionTiler::fillTile(StringRef name, ArrayRef<int64_t> shape,
                               float value) {
  return TileFillOp::create(builder, index.named(name),
                            TileType::get(builder.getContext(), shape, compute),
                            builder.getF32FloatAttr(value));
}

Value AttentionTiler::buildSink() {
  Value zero = fillTile("zero", {tiles.queries, 1}, 0);
  SmallVector<Value> position{batch, head, query0, index.value(0)};
  auto sink = TileScoreOp::create(builder, index.named("sink"), zero.getType(),
                                  zero, position, op.getSinks());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&sink.getBody());
  Location loc = op.getLoc();
  body->addArgument(compute, loc);
  for (unsigned n = 0; n < 4; ++n)
    body->addArgument(builder.getIndexType(), loc);
  Value sinks = body->addArgument(op.getSinks().getType(), loc);
  Value element = tensor::ExtractOp::create(builder, loc, sinks,
                                            ValueRange(body->getArgument(2)));
  YieldOp::create(builder, loc,
                  convertScalarToDtype(builder, loc, element, compute,
                                       /*isUnsignedCast=*/false));
  return sink;
}

SmallVector<Value> AttentionTiler::cloneRegion(Region &region, Region &target) {
  SmallVector<Value> used;
  if (region.empty())
    return used;
  IRMapping mapping;
  region.cloneInto(&target, mapping);
  Block &entry = target.front();
  unsigned first = entry.getNumArguments() - op.getCaptures().size();
  for (unsigned capture = op.getCaptures().size(); capture-- > 0;) {
    if (entry.getArgument(first + capture).use_empty())
      entry.eraseArgument(first + capture);
    else
      used.push_back(op.getCaptures()[capture]);
  }
  std::reverse(used.begin(), used.end());
  return used;
}

SmallVector<OpFoldResult> AttentionTiler::materializeLeaves() {
  Block &mask = op.getMask().front();
  IRMapping mapping;
  mapping.map(mask.getArgument(0), batch);
  mapping.map(mask.getArgument(1), head);
  for (auto [argument, capture] :
       llvm::zip(mask.getArguments().drop_front(4), op.getCaptures()))
    mapping.map(argument, capture);
  SmallVector<OpFoldResult> leaves;
  for (Value leaf : getMaskLeaves(op)) {
    Value value = materialize(leaf, mapping);
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, index.named("u"),
                                         builder.getIndexType(), value);
    leaves.push_back(getAsOpFoldResult(value));
  }
  return leaves;
}

Value AttentionTiler::materialize(Value inRegion, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(inRegion))
    return known;
  Operation *definition = inRegion.getDefiningOp();
  for (Value operand : definition->getOperands())
    materialize(operand, mapping);
  builder.clone(*definition, mapping);
  return mapping.lookup(inRegion);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Verifies that `key_ranges` belongs to a mask and has a symbol for each of
/// its leaves.
static LogicalResult check(AttentionOp op) {
  if (KeyRangesAttr ranges = op.getKeyRangesAttr()) {
    if (op.getMask().empty()) {
      op.emitOpError(
          "expected no key_ranges (because there is no mask region), "
          "got ")
          << ranges;
      return failure();
    }
    unsigned symbols = ranges.getBegin().getValue().getNumSymbols();
    unsigned leaves = getMaskLeaves(op).size();
    if (symbols != 2 + leaves)
      return op.emitOpError()
             << "expected key_ranges with " << 2 + leaves
             << " symbols (N, M and " << leaves << " leaves of the mask), got "
             << symbols << ": remove key_ranges and run attn-analyze-masks";
  }
  return success();
}

namespace {
struct AttnTilePass final : attn::impl::AttnTilePassBase<AttnTilePass> {
  using AttnTilePassBase::AttnTilePassBase;

  void runOnOperation() override {
    bool failedAny = checkOptions().failed();
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](KernelOp kernel) {
      kernel.walk([&](AttentionOp op) { ops.push_back(op); });
    });
    for (AttentionOp op : ops)
      if (failedAny || failed(tile(op)))
        failedAny = true;
    if (failedAny)
      signalPassFailure();
  }

private:
  LogicalResult checkOptions() {
    for (auto [name, value] : {std::pair("query-tile", int64_t(queryTile)),
                               {"key-tile", int64_t(keyTile)}})
      if (value < 0)
        return emitError(getOperation().getLoc())
               << "expected " << name
               << " >= 0 (because 0 leaves the choice to the target), got "
               << value;
    return success();
  }

  LogicalResult tile(AttentionOp op) {
    FailureOr<const TargetInfo *> target = getTargetOf(op);
    if (failed(target) || failed(check(op)))
      return failure();
    HeadSplit layout(op.getLayout());
    AttentionTiles tiles = chooseAttentionTiles(
        **target, op.getQuery().getType().getDimSize(layout.channel),
        op.getValue().getType().getDimSize(layout.channel),
        op.getQuery().getType().isDynamicDim(layout.sequence)
            ? -1
            : op.getQuery().getType().getDimSize(layout.sequence));
    if (queryTile)
      tiles.queries = queryTile;
    if (keyTile)
      tiles.keys = keyTile;

    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("AttentionTiled")
                       .category(DEBUG_TYPE)
                       .function(op->getParentOfType<KernelOp>().getName()))
        << remark::metric("Queries", tiles.queries)
        << remark::metric("Keys", tiles.keys);
    AttentionTiler(op, tiles).run();
    return success();
  }
};
} // namespace

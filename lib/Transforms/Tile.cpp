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
// KeyLoops.cpp says which key tiles a query tile visits.
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "TargetOf.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TileMap.h"
#include "attn/Analysis/Tuning.h"
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

/// Tiles one attn.attention. Preconditions are checked by `check`.
struct AttentionTiler {
  AttentionTiler(AttentionOp op, AttentionTiles tiles)
      : op(op), tiles(tiles), layout(op.getLayout()),
        compute(getComputeType(op.getQuery().getType().getElementType())),
        builder(op), index(builder, op.getLoc(), op->getBlock()) {}

  void run();

private:
  /// Builds the body of the loop over batch, heads and query tiles.
  void buildQueryTile(ValueRange counters, ValueRange destinations);
  State buildKeyTile(Value key0, OpFoldResult rows, bool masked, State state);

  Value loadTile(StringRef name, Value tensor, Value head, Value row,
                 OpFoldResult rows, int64_t tileRows);
  Value fillTile(StringRef name, ArrayRef<int64_t> shape, float value);
  /// The sink of the head as the scores of one key.
  Value buildSink();

  AttentionOp op;
  AttentionTiles tiles;
  HeadSplit layout;
  /// What tiles hold.
  FloatType compute;
  OpBuilder builder;
  IndexBuilder index;

  // Sizes, and what identifies the query tile that is being built.
  OpFoldResult batches, queries, heads, keys;
  Value batch, head, keyHead, query0, chunk;
  OpFoldResult rows;
  Value queryTile;
};

} // namespace

/// Exponentials are taken to base 2.
static constexpr double log2e = 1.4426950408889634;

/// Names of block arguments.
static constexpr StringLiteral forallNames[] = {"b", "h", "it", "out",
                                                "lse_out"};
static constexpr StringLiteral chunkedNames[] = {"c",  "b",   "h",
                                                 "it", "out", "lse_out"};
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
      builder.getIndexAttr(op.getValue().getType().getDimSize(layout.channel));
  SmallVector<OpFoldResult> counts{batches, heads, queryTiles};
  SmallVector<OpFoldResult> sizes =
      layout.order<OpFoldResult>(batches, queries, heads, channels);
  SmallVector<OpFoldResult> lseSizes{batches, heads, queries};
  ArrayRef<StringLiteral> argumentNames = forallNames;
  if (std::optional<int64_t> size = op.getChunk()) {
    OpFoldResult chunks = index.apply(
        "chunks", index.dim(0).ceilDiv(index.constant(*size)), keys);
    for (SmallVector<OpFoldResult> *list : {&counts, &sizes, &lseSizes})
      list->insert(list->begin(), chunks);
    argumentNames = chunkedNames;
  }
  SmallVector<Value> inits;
  inits.push_back(
      tensor::EmptyOp::create(builder, index.named("init"), sizes,
                              op.getResult().getType().getElementType()));
  if (op.getLse())
    inits.push_back(
        tensor::EmptyOp::create(builder, index.named("lse_init"), lseSizes,
                                op.getLse().getType().getElementType()));

  auto forall = scf::ForallOp::create(builder, loc, counts, inits,
                                      /*mapping=*/std::nullopt);
  Block *body = forall.getBody();
  for (auto [argument, name] : llvm::zip(body->getArguments(), argumentNames))
    argument.setLoc(index.named(name));
  builder.setInsertionPointToStart(body);
  buildQueryTile(body->getArguments().take_front(counts.size()),
                 body->getArguments().drop_front(counts.size()));
  op->replaceAllUsesWith(forall.getResults());
  op->erase();
}

void AttentionTiler::buildQueryTile(ValueRange counters,
                                    ValueRange destinations) {
  Location loc = op.getLoc();
  if (op.getChunk()) {
    chunk = counters.front();
    counters = counters.drop_front();
  }
  batch = counters[0];
  head = counters[1];
  Value tile = counters[2];
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
  QueryTile place{batch,      head,    query0, rows, tiles.queries,
                  tiles.keys, queries, keys,   {},   {}};
  if (chunk) {
    AffineExpr size = index.constant(*op.getChunk());
    place.chunkBegin =
        index.apply("chunk0", index.dim(0) * size, OpFoldResult(chunk));
    place.chunkEnd =
        index.apply("chunk1", index.dim(0) * size + size, OpFoldResult(chunk));
  }
  state = State::of(buildKeyLoops(
      op, place, builder, index, loopNames, state.values(),
      [&](Value key0, OpFoldResult tileRows, bool masked, ValueRange carried) {
        return buildKeyTile(key0, tileRows, masked, State::of(carried))
            .values();
      }));

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
  auto store = [&](Value rowsOfTile, Value destination,
                   SmallVector<OpFoldResult> offsets,
                   SmallVector<OpFoldResult> sizes) {
    if (chunk) {
      offsets.insert(offsets.begin(), chunk);
      sizes.insert(sizes.begin(), one);
    }
    tensor::ParallelInsertSliceOp::create(
        builder, loc, rowsOfTile, destination, offsets, sizes,
        SmallVector<OpFoldResult>(sizes.size(), one));
  };
  store(finish.getResult(), destinations[0],
        layout.order<OpFoldResult>(batch, query0, head, zero),
        layout.order<OpFoldResult>(one, rows, one, channels));
  if (op.getLse())
    store(finish.getLse(), destinations[1], {batch, head, query0},
          {one, one, rows});
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
  SmallVector<Value> captures = cloneTileRegion(op, op.getCombine(), combine);
  auto product = TileScoresOp::create(
      builder, index.named("s"), scoresType, queryTile, key, op.getScale(),
      combines ? ValueRange(position) : ValueRange(), captures);
  product.getCombine().takeBody(combine);
  Value scores = product;

  if (!op.getScore().empty()) {
    Region body;
    captures = cloneTileRegion(op, op.getScore(), body);
    auto score = TileScoreOp::create(builder, index.named("biased"), scoresType,
                                     scores, position, captures);
    score.getBody().takeBody(body);
    scores = score;
  }
  if (masked) {
    Region body;
    captures = cloneTileRegion(op, op.getMask(), body);
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
  captures = cloneTileRegion(op, op.getValues(), values);
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
    unsigned symbols = ranges.getNumSymbols();
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
  /// Tile sizes and, where the numbers of queries and keys are known, what
  /// becomes of the tiles.
  static void report(AttentionOp op, AttentionTiles tiles) {
    remark::detail::InFlightRemark remark = remark::passed(
        op.getLoc(), remark::RemarkOpts::name("AttentionTiled")
                         .category(DEBUG_TYPE)
                         .function(op->getParentOfType<KernelOp>().getName()));
    remark << remark::metric("Queries", tiles.queries)
           << remark::metric("Keys", tiles.keys);
    HeadSplit layout(op.getLayout());
    int64_t queries = op.getQuery().getType().getDimSize(layout.sequence);
    int64_t keys = op.getKey().getType().getDimSize(layout.sequence);
    if (!remark || ShapedType::isDynamic(queries) ||
        ShapedType::isDynamic(keys) || !op.getKeyRangesAttr())
      return;
    TileGrid grid{queries, keys, tiles.queries, tiles.keys, {}};
    grid.leaves.resize(op.getKeyRangesAttr().getNumSymbols() - 2);
    // Where leaves are not known each tile is a question to a solver.
    int64_t most = grid.leaves.empty() ? 1 << 22 : 1 << 14;
    if (grid.queryTiles() * grid.keyTiles() > most)
      return;
    TileCounts counts = countTiles(op.getKeyRangesAttr(), grid);
    remark << remark::metric("FullTiles", counts.full)
           << remark::metric("PartialTiles", counts.partial)
           << remark::metric("SkippedTiles", counts.skipped)
           << remark::metric("RunTimeTiles", counts.runTime);
  }

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
    AttentionTiles tiles = getAttentionTiles(op, **target);
    int64_t lanes = (*target)->f32Lanes();
    if (!tiles.isDecode && !tiles.isMatrix && tiles.queries % lanes != 0)
      return op.emitOpError("expected queries of #attn.tuned_attention to be a "
                            "multiple of ")
             << lanes << " (because these are the f32 lanes of "
             << (*target)->name << "), got " << tiles.queries;
    if (queryTile)
      tiles.queries = queryTile;
    if (keyTile)
      tiles.keys = keyTile;
    if (std::optional<int64_t> chunk = op.getChunk();
        chunk && *chunk % tiles.keys != 0)
      return op.emitOpError("expected chunk to be a multiple of the key tile (")
             << tiles.keys << " keys), got " << *chunk;

    report(op, tiles);
    AttentionTiler(op, tiles).run();
    return success();
  }
};
} // namespace

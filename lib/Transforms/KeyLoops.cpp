//===- KeyLoops.cpp - loops over the key tiles of a query tile -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Key tiles lie at multiples of the tile size. `key_ranges` cuts their sequence
// into segments: full ones, which need no mask, and partial ones. All full
// segments are one loop and all partial ones another, because the code of a
// tile is long: a loop over several segments counts the tiles of all of them
// and shifts its counter to where the segment lies.
//
//     begin            full_begin              full_end              end
//       |--- partial ------|------ full: no mask ------|--- partial ---|
//
// Ranges come in the order of their begins. One that begins before an earlier
// one has ended starts there, so that no tile is visited twice.
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace attn;

namespace {

/// Tiles [begin, end); begin is a multiple of the tile size.
struct Segment {
  OpFoldResult begin, end;
};

/// One of the loops over key tiles.
struct KeyLoop {
  StringRef name;
  SmallVector<Segment> segments;
  /// Keys end here; null if all tiles have all their keys.
  OpFoldResult end;
  /// Whether tiles need the mask.
  bool masked = false;
  /// Sets of which one must hold the tile, if there are any.
  ArrayRef<IntegerSetAttr> mustBeIn = {};
  /// Sets of which none may (`orNone`), or one must, hold the tile. A tile that
  /// is cut off by the end counts as being in one.
  ArrayRef<IntegerSetAttr> hidden = {};
  /// Whether attn.tile_any decides.
  bool askAny = false;
};

class KeyLoopBuilder {
public:
  KeyLoopBuilder(AttentionOp op, const QueryTile &tile, OpBuilder &builder,
                 IndexBuilder &index, ArrayRef<StringLiteral> names,
                 BuildKeyTile buildTile)
      : op(op), tile(tile), builder(builder), index(index), names(names),
        buildTile(buildTile) {
    AffineExpr size = index.constant(tile.tileKeys);
    down = index.dim(0).floorDiv(size) * size;
    up = index.dim(0).ceilDiv(size) * size;
  }

  SmallVector<KeyLoop> plan();
  SmallVector<Value> build(const KeyLoop &loop, ArrayRef<Value> state);

private:
  SmallVector<KeyLoop> planAll();
  void restrictToChunk(SmallVector<KeyLoop> &loops);
  SmallVector<KeyLoop> planWithoutMask();
  SmallVector<KeyLoop> planRanges(KeyRangesAttr ranges);

  /// A bound of a range.
  OpFoldResult lower(StringRef name, AffineMapAttr map);
  OpFoldResult upper(StringRef name, AffineMapAttr map);
  OpFoldResult select(StringRef name, Value condition, OpFoldResult value,
                      OpFoldResult otherwise);
  /// The constraints of a set, over `operands` and the symbols, as one number
  /// that is >= 0 where all hold.
  OpFoldResult slack(StringRef name, IntegerSet set,
                     ArrayRef<OpFoldResult> operands);
  Value isInAny(StringRef name, ArrayRef<IntegerSetAttr> sets,
                ArrayRef<OpFoldResult> operands, OpFoldResult other);
  Value isNatural(StringRef name, OpFoldResult value);

  Value shiftedCounter(Value counter, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> shifts);
  SmallVector<Value> guarded(Value condition, ValueRange state,
                             function_ref<SmallVector<Value>()> body);
  SmallVector<Value> buildTests(const KeyLoop &loop, Value key0,
                                OpFoldResult keys);
  Value askAny(Value key0, OpFoldResult keys);

  /// The values outside the mask region that its leaves stand for.
  SmallVector<OpFoldResult> materializeLeaves();
  Value materialize(Value inRegion, IRMapping &mapping);

  AttentionOp op;
  const QueryTile &tile;
  OpBuilder &builder;
  IndexBuilder &index;
  ArrayRef<StringLiteral> names;
  BuildKeyTile buildTile;
  AffineExpr down, up;
  /// i0 and i1; N, M and the leaves.
  SmallVector<OpFoldResult> query, symbols;
};

} // namespace

static bool isZero(OpFoldResult value) { return isZeroInteger(value); }

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Keeps what lies in the chunk. Its bounds are those of tiles, so that
/// segments still begin with a tile.
void KeyLoopBuilder::restrictToChunk(SmallVector<KeyLoop> &loops) {
  auto notAbove = [&](StringRef name, OpFoldResult value) {
    return index.min(name, {index.dim(0), index.dim(1)},
                     {value, tile.chunkEnd});
  };
  for (KeyLoop &loop : loops) {
    for (Segment &segment : loop.segments) {
      segment.begin = index.max("chunk_begin", {index.dim(0), index.dim(1)},
                                {segment.begin, tile.chunkBegin});
      segment.end = notAbove("chunk_end", segment.end);
    }
    if (loop.end)
      loop.end = notAbove("chunk_last", loop.end);
  }
}

SmallVector<KeyLoop> KeyLoopBuilder::plan() {
  SmallVector<KeyLoop> loops = planAll();
  if (tile.chunkBegin)
    restrictToChunk(loops);
  return loops;
}

SmallVector<KeyLoop> KeyLoopBuilder::planAll() {
  if (op.getMask().empty())
    return planWithoutMask();
  KeyRangesAttr ranges = op.getKeyRangesAttr();
  if (ranges)
    return planRanges(ranges);
  // A mask that was not analyzed hides anything.
  KeyLoop all;
  all.name = "partial";
  all.segments = {{builder.getIndexAttr(0), tile.keys}};
  all.end = tile.keys;
  all.masked = true;
  return {all};
}

SmallVector<KeyLoop> KeyLoopBuilder::planWithoutMask() {
  OpFoldResult fullEnd = index.apply("full_end", down, tile.keys);
  SmallVector<KeyLoop> loops;
  if (!isZero(fullEnd)) {
    loops.emplace_back();
    loops.back().name = "full";
    loops.back().segments = {{builder.getIndexAttr(0), fullEnd}};
  }
  if (!isEqualConstantIntOrValue(fullEnd, tile.keys)) {
    loops.emplace_back();
    loops.back().name = "tail";
    loops.back().segments = {{fullEnd, tile.keys}};
    loops.back().end = tile.keys;
  }
  return loops;
}

SmallVector<KeyLoop> KeyLoopBuilder::planRanges(KeyRangesAttr ranges) {
  OpFoldResult query1 = index.apply("i1", index.dim(0) + index.dim(1),
                                    {OpFoldResult(tile.query0), tile.rows});
  query = {tile.query0, query1};
  symbols = {tile.queries, tile.keys};
  llvm::append_range(symbols, materializeLeaves());

  KeyLoop full, partial;
  full.name = "full";
  partial.name = "partial";
  partial.masked = true;
  partial.mustBeIn = ranges.getVisible();
  full.hidden = partial.hidden = ranges.getHidden();
  partial.askAny = !ranges.getExact();

  OpFoldResult zero = builder.getIndexAttr(0), cursor = zero, lastEnd;
  for (KeyRangeAttr range : ranges.getRanges()) {
    bool isFirst = range == ranges.getRanges().front() && !lastEnd;
    bool isLast = range == ranges.getRanges().back();
    OpFoldResult first = lower("first", range.getBegin());
    OpFoldResult end = upper("end", range.getEnd());
    OpFoldResult fullFirst = lower("full_first", range.getFullBegin());
    OpFoldResult fullLast = upper("full_last", range.getFullEnd());
    if (range.getWhere()) {
      // A range that is not there ends before it begins.
      Value there = isNatural(
          "there", slack("where", range.getWhere().getValue(), query));
      end = select("end", there, end, zero);
      fullLast = select("full_last", there, fullLast, zero);
    }
    // Where a range is not there its begin may be anything.
    OpFoldResult begin =
        isFirst && !range.getWhere()
            ? index.apply("begin", down, first)
            : index.max("begin", {down, index.dim(1)}, {first, cursor});

    if (!full.hidden.empty()) {
      // Each tile is tested.
      partial.segments.push_back({begin, end});
      full.segments.push_back(
          {begin,
           index.min("whole_end", {down, index.dim(1)}, {tile.keys, end})});
    } else if (isZero(fullLast)) {
      partial.segments.push_back({begin, end});
    } else {
      OpFoldResult aligned = index.apply("full_first_tile", up, fullFirst);
      OpFoldResult fullBegin = index.max(
          "full_begin", {index.dim(0), index.dim(1)}, {begin, aligned});
      OpFoldResult fullEnd =
          index.max("full_end", {down, index.dim(1)}, {fullLast, fullBegin});
      if (!isEqualConstantIntOrValue(fullBegin, begin))
        partial.segments.push_back(
            {begin, index.min("head_end", {index.dim(0), index.dim(1)},
                              {fullBegin, end})});
      full.segments.push_back({fullBegin, fullEnd});
      partial.segments.push_back({fullEnd, end});
    }
    lastEnd = lastEnd ? index.max("last_end", {index.dim(0), index.dim(1)},
                                  {lastEnd, end})
                      : end;
    // At least 0: a range that is not there ends at 0 and begins here.
    if (!isLast)
      cursor = index.max("covered", {up, index.dim(1)}, {end, cursor});
  }
  partial.end = lastEnd;
  SmallVector<KeyLoop> loops;
  if (!full.segments.empty())
    loops.push_back(full);
  loops.push_back(partial);
  return loops;
}

static SmallVector<AffineExpr> overDims(ArrayRef<AffineExpr> exprs,
                                        unsigned numDims, unsigned numSymbols,
                                        const IndexBuilder &index) {
  SmallVector<AffineExpr> dims, symbols, result;
  for (unsigned dim = 0; dim < numDims; ++dim)
    dims.push_back(index.dim(dim));
  for (unsigned symbol = 0; symbol < numSymbols; ++symbol)
    symbols.push_back(index.dim(numDims + symbol));
  for (AffineExpr expr : exprs)
    result.push_back(expr.replaceDimsAndSymbols(dims, symbols));
  return result;
}

OpFoldResult KeyLoopBuilder::lower(StringRef name, AffineMapAttr map) {
  SmallVector<OpFoldResult> operands(query);
  llvm::append_range(operands, symbols);
  return index.max(
      name, overDims(map.getValue().getResults(), 2, symbols.size(), index),
      operands);
}

OpFoldResult KeyLoopBuilder::upper(StringRef name, AffineMapAttr map) {
  SmallVector<OpFoldResult> operands(query);
  llvm::append_range(operands, symbols);
  return index.min(
      name, overDims(map.getValue().getResults(), 2, symbols.size(), index),
      operands);
}

OpFoldResult KeyLoopBuilder::select(StringRef name, Value condition,
                                    OpFoldResult value,
                                    OpFoldResult otherwise) {
  if (isEqualConstantIntOrValue(value, otherwise))
    return value;
  return arith::SelectOp::create(builder, index.named(name), condition,
                                 index.value(value), index.value(otherwise))
      .getResult();
}

OpFoldResult KeyLoopBuilder::slack(StringRef name, IntegerSet set,
                                   ArrayRef<OpFoldResult> operands) {
  SmallVector<AffineExpr> constraints;
  for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
    constraints.push_back(constraint);
    if (set.isEq(number))
      constraints.push_back(-constraint);
  }
  SmallVector<OpFoldResult> all(operands);
  llvm::append_range(all, symbols);
  return index.min(
      name, overDims(constraints, operands.size(), symbols.size(), index), all);
}

Value KeyLoopBuilder::isNatural(StringRef name, OpFoldResult value) {
  return arith::CmpIOp::create(builder, index.named(name),
                               arith::CmpIPredicate::sge, index.value(value),
                               index.value(0));
}

/// Whether one of the sets holds, or `other` >= 0.
Value KeyLoopBuilder::isInAny(StringRef name, ArrayRef<IntegerSetAttr> sets,
                              ArrayRef<OpFoldResult> operands,
                              OpFoldResult other) {
  Value most;
  auto add = [&](OpFoldResult value) {
    most = most ? arith::MaxSIOp::create(builder, index.named("slack"), most,
                                         index.value(value))
                      .getResult()
                : index.value(value);
  };
  for (IntegerSetAttr set : sets)
    add(slack("slack", set.getValue(), operands));
  if (other)
    add(other);
  return isNatural(name, most);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> KeyLoopBuilder::build(const KeyLoop &loop,
                                         ArrayRef<Value> state) {
  AffineExpr size = index.constant(tile.tileKeys);
  OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult begin = loop.segments.front().begin,
               end = loop.segments.front().end;
  // Several segments: tiles that were counted before each, and how far the
  // counter is from where they lie.
  SmallVector<OpFoldResult> offsets{zero}, shifts;
  bool several = loop.segments.size() > 1;
  if (several) {
    for (const Segment &segment : loop.segments) {
      shifts.push_back(index.apply("shift", index.dim(0) - index.dim(1),
                                   {segment.begin, offsets.back()}));
      OpFoldResult length =
          index.max("length",
                    {(index.dim(1) - index.dim(0)).ceilDiv(size) * size,
                     index.constant(0)},
                    {segment.begin, segment.end});
      offsets.push_back(index.apply("offset", index.dim(0) + index.dim(1),
                                    {offsets.back(), length}));
    }
    begin = zero;
    end = offsets.back();
  }

  auto forOp =
      scf::ForOp::create(builder, index.named(loop.name), index.value(begin),
                         index.value(end), index.value(tile.tileKeys), state);
  Block *body = forOp.getBody();
  for (auto [argument, name] : llvm::zip(body->getArguments(), names))
    argument.setLoc(index.named(name));
  if (several)
    body->getArgument(0).setLoc(index.named("t0"));

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  Value key0 = forOp.getInductionVar();
  if (several)
    key0 = shiftedCounter(key0, ArrayRef(offsets).drop_front().drop_back(),
                          shifts);
  OpFoldResult keys = builder.getIndexAttr(tile.tileKeys);
  if (loop.end)
    keys = index.min("keys", {size, index.dim(1) - index.dim(0)},
                     {OpFoldResult(key0), loop.end});

  // Tests go around the tile, the cheap one first.
  ValueRange carried = forOp.getRegionIterArgs();
  auto tileBody = [&] { return buildTile(key0, keys, loop.masked, carried); };
  auto asked = [&]() -> SmallVector<Value> {
    if (!loop.askAny)
      return tileBody();
    return guarded(askAny(key0, keys), carried, tileBody);
  };
  SmallVector<Value> tests = buildTests(loop, key0, keys), next;
  if (tests.empty()) {
    next = asked();
  } else {
    Value all = tests.front();
    for (Value test : ArrayRef(tests).drop_front())
      all = arith::AndIOp::create(builder, index.named("visit"), all, test);
    next = guarded(all, carried, asked);
  }
  scf::YieldOp::create(builder, op.getLoc(), next);
  return llvm::to_vector_of<Value>(forOp.getResults());
}

/// The position that belongs to a counter of all segments' tiles.
Value KeyLoopBuilder::shiftedCounter(Value counter,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> shifts) {
  Value shift = index.value(shifts.back());
  for (size_t segment = offsets.size(); segment-- > 0;) {
    Value isEarlier = arith::CmpIOp::create(builder, index.named("earlier"),
                                            arith::CmpIPredicate::slt, counter,
                                            index.value(offsets[segment]));
    shift = arith::SelectOp::create(builder, index.named("shift"), isEarlier,
                                    index.value(shifts[segment]), shift);
  }
  return arith::AddIOp::create(builder, index.named(names.front()), counter,
                               shift);
}

/// `body` where the condition holds; elsewhere what is carried stays.
SmallVector<Value>
KeyLoopBuilder::guarded(Value condition, ValueRange state,
                        function_ref<SmallVector<Value>()> body) {
  auto ifOp = scf::IfOp::create(builder, op.getLoc(), state.getTypes(),
                                condition, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  SmallVector<Value> next = body();
  scf::YieldOp::create(builder, op.getLoc(), next);
  builder.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(builder, op.getLoc(), state);
  return llvm::to_vector_of<Value>(ifOp.getResults());
}

SmallVector<Value> KeyLoopBuilder::buildTests(const KeyLoop &loop, Value key0,
                                              OpFoldResult keys) {
  SmallVector<Value> tests;
  if (loop.mustBeIn.empty() && loop.hidden.empty())
    return tests;
  OpFoldResult key1 = index.min(
      "j1", {index.dim(0) + index.constant(tile.tileKeys), index.dim(1)},
      {OpFoldResult(key0), tile.keys});
  SmallVector<OpFoldResult> operands(query);
  operands.append({OpFoldResult(key0), key1});
  if (!loop.mustBeIn.empty())
    tests.push_back(isInAny("sees", loop.mustBeIn, operands, {}));
  if (loop.hidden.empty())
    return tests;
  if (!loop.masked) { // Full: not in any.
    Value hides = isInAny("hides", loop.hidden, operands, {});
    Value no = arith::ConstantIntOp::create(builder, op.getLoc(),
                                            builder.getI1Type(), 1);
    tests.push_back(
        arith::XOrIOp::create(builder, index.named("full"), hides, no));
    return tests;
  }
  // What the other loop leaves: also a tile that the end cuts off.
  OpFoldResult cut = index.apply(
      "cut", index.dim(0) + index.constant(tile.tileKeys - 1) - index.dim(1),
      {OpFoldResult(key0), tile.keys});
  tests.push_back(isInAny("hides", loop.hidden, operands, cut));
  return tests;
}

Value KeyLoopBuilder::askAny(Value key0, OpFoldResult keys) {
  Region body;
  SmallVector<Value> captures = cloneTileRegion(op, op.getMask(), body);
  auto any = TileAnyOp::create(
      builder, index.named("any"), builder.getI1Type(),
      ValueRange{tile.batch, tile.head, tile.query0, key0},
      index.value(tile.rows), index.value(keys), captures,
      builder.getDenseI64ArrayAttr({tile.tileRows, tile.tileKeys}));
  any.getBody().takeBody(body);
  return any;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> KeyLoopBuilder::materializeLeaves() {
  Block &mask = op.getMask().front();
  IRMapping mapping;
  mapping.map(mask.getArgument(0), tile.batch);
  mapping.map(mask.getArgument(1), tile.head);
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

Value KeyLoopBuilder::materialize(Value inRegion, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(inRegion))
    return known;
  Operation *definition = inRegion.getDefiningOp();
  for (Value operand : definition->getOperands())
    materialize(operand, mapping);
  builder.clone(*definition, mapping);
  return mapping.lookup(inRegion);
}

SmallVector<Value> attn::buildKeyLoops(AttentionOp op, const QueryTile &tile,
                                       OpBuilder &builder, IndexBuilder &index,
                                       ArrayRef<StringLiteral> names,
                                       SmallVector<Value> state,
                                       BuildKeyTile buildTile) {
  KeyLoopBuilder loops(op, tile, builder, index, names, buildTile);
  for (const KeyLoop &loop : loops.plan())
    state = loops.build(loop, state);
  return state;
}

SmallVector<Value> attn::cloneTileRegion(AttentionOp op, Region &region,
                                         Region &target) {
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

//===- Rotary.cpp - the RotaryEmbedding operator --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Turns pairs of channels by angles whose cosines and sines come in caches: of
// each position of the batch, or of all positions with a list of position ids.
//
//===----------------------------------------------------------------------===//

#include "Build.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

namespace {
enum Input : unsigned { X, Cos, Sin, Ids };

/// What stands beside x in the loop nest.
struct Rotation {
  int64_t pairs;                  // of channels that turn
  SmallVector<Size, 2> positions; // B, S
  bool isInterleaved;
  bool hasIds;
};
} // namespace

/// Cosines or sines: (B, S, pairs), or (positions, pairs) with position ids.
static LogicalResult checkCache(NodeImport &node, unsigned number,
                                const Datum &x, const Rotation &rotation) {
  const Datum &cache = node.input(number);
  int64_t rank = rotation.hasIds ? 2 : 3;
  bool agrees = !cache.isList && cache.rank() == rank;
  if (agrees && !rotation.hasIds)
    for (auto [size, wanted] : llvm::zip(cache.sizes, rotation.positions))
      agrees &= !numberOf(size) || !numberOf(wanted) || isEqual(size, wanted);
  if (!agrees || cache.element != x.element ||
      numberOf(cache.sizes.back()) != rotation.pairs)
    return node.error("expected a cache of the operand's type with " +
                      Twine(rank) + " dimensions, the last of " +
                      Twine(rotation.pairs) + ", in input " + Twine(number) +
                      ", got " + describe(cache));
  return success();
}

static LogicalResult importRotaryEmbedding(NodeImport &node) {
  Datum operand = node.input(X);
  ElementType type = operand.element;
  int64_t heads = node.integer("num_heads", 0);
  int64_t channels = node.integer("rotary_embedding_dim", 0);
  Rotation rotation{0, {}, node.integer("interleaved", 0) != 0, node.has(Ids)};
  if (operand.isList || !isFloat(type) ||
      (operand.rank() != 3 && operand.rank() != 4))
    return node.error("expected floating-point numbers of rank 3 or 4, got " +
                      describe(operand));
  std::optional<int64_t> last = numberOf(operand.sizes.back());
  bool isFlat = operand.rank() == 3;
  if (!last || (isFlat && (heads < 1 || *last % heads != 0)))
    return node.error("expected channels that are known at import, of rank 3 a "
                      "multiple of num_heads = " +
                      Twine(heads) + ", got " + describe(operand));
  // As (B, S, H, D) or (B, H, S, D).
  SmallVector<Size> sizes = operand.sizes;
  if (isFlat)
    sizes = {sizes[0], sizes[1], sizeOf(node, heads),
             sizeOf(node, *last / heads)};
  int64_t sequence = isFlat ? 1 : 2, size = *numberOf(sizes.back());
  if (channels == 0)
    channels = size;
  if (channels < 0 || channels > size || channels % 2 != 0)
    return node.error("expected an even rotary_embedding_dim of at most " +
                      Twine(size) + " channels, got " + Twine(channels));
  rotation.pairs = channels / 2;
  rotation.positions = {sizes[0], sizes[sequence]};
  if (failed(checkCache(node, Cos, operand, rotation)) ||
      failed(checkCache(node, Sin, operand, rotation)))
    return failure();
  auto isIdOfPosition = [&](const Datum &ids) {
    if (ids.isList || ids.element != ElementType::Int64 || ids.rank() != 2)
      return false;
    return llvm::all_of(llvm::zip(ids.sizes, rotation.positions),
                        [](auto pair) {
                          auto [a, b] = pair;
                          return !numberOf(a) || !numberOf(b) || isEqual(a, b);
                        });
  };
  if (rotation.hasIds && !isIdOfPosition(node.input(Ids)))
    return node.error("expected position_ids to be INT64 (B, S), got " +
                      describe(node.input(Ids)));

  Datum x = reshape(node, operand, sizes);
  mlir::Value source = node.tensor(x), cos = node.tensor(Cos),
              sin = node.tensor(Sin);
  mlir::Value ids, positions;
  if (rotation.hasIds) {
    ids = node.tensor(Ids);
    positions = toIndex(node, node.input(Cos).sizes[0]);
  }
  const Datum &cosines = node.input(Cos), &sines = node.input(Sin);
  if (!llvm::equal(cosines.sizes, sines.sizes, isEqual))
    return node.error("expected caches of one shape, got " + describe(cosines) +
                      " and " + describe(sines));
  // Two sizes that are not known to be equal: no index may leave the smaller.
  const Datum &indexed = rotation.hasIds ? node.input(Ids) : cosines;
  SmallVector<mlir::Value, 2> bounds;
  for (auto [size, wanted] : llvm::zip(indexed.sizes, rotation.positions))
    bounds.push_back(isEqual(size, wanted) ? mlir::Value()
                                           : toIndex(node, size));
  mlir::Type wide = node.builder.getF32Type();
  auto body = [&](OpBuilder &builder, ValueRange at) -> mlir::Value {
    Location loc = node.loc;
    auto number = [&](int64_t value) -> mlir::Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto compare = [&](arith::CmpIPredicate predicate, mlir::Value a,
                       mlir::Value b) -> mlir::Value {
      return arith::CmpIOp::create(builder, loc, predicate, a, b);
    };
    auto select = [&](mlir::Value condition, mlir::Value a,
                      mlir::Value b) -> mlir::Value {
      return arith::SelectOp::create(builder, loc, condition, a, b);
    };
    auto read = [&](mlir::Value tensor, ValueRange position) -> mlir::Value {
      mlir::Value element = extract(builder, loc, tensor, position);
      return isHalf(type) ? arith::ExtFOp::create(builder, loc, wide, element)
                          : element;
    };
    // The channel's partner, its pair, and whether it is the first of it.
    mlir::Value channel = at.back(), first, pair, partner;
    mlir::Value last = number(size - 1);
    if (rotation.isInterleaved) {
      mlir::Value parity =
          arith::RemUIOp::create(builder, loc, channel, number(2));
      first = compare(arith::CmpIPredicate::eq, parity, number(0));
      pair = arith::DivUIOp::create(builder, loc, channel, number(2));
      partner =
          select(first, arith::AddIOp::create(builder, loc, channel, number(1)),
                 arith::SubIOp::create(builder, loc, channel, number(1)));
    } else {
      mlir::Value half = number(rotation.pairs);
      first = compare(arith::CmpIPredicate::ult, channel, half);
      mlir::Value below = arith::SubIOp::create(builder, loc, channel, half);
      mlir::Value above = arith::AddIOp::create(builder, loc, channel, half);
      pair = select(first, channel, below);
      partner = select(first, above, below);
    }
    // Channels that do not turn read anything that is there.
    mlir::Value turns =
        compare(arith::CmpIPredicate::ult, channel, number(2 * rotation.pairs));
    pair = arith::MinUIOp::create(
        builder, loc, pair, number(std::max<int64_t>(rotation.pairs - 1, 0)));
    partner = arith::MinUIOp::create(builder, loc, partner, last);
    mlir::Value row[] = {at[0], at[sequence]};
    for (auto [index, bound] : llvm::zip(row, bounds))
      if (bound)
        index = arith::MinUIOp::create(
            builder, loc, index,
            arith::SubIOp::create(builder, loc, bound, number(1)));
    SmallVector<mlir::Value> where = {row[0], row[1], pair};
    if (rotation.hasIds) {
      mlir::Value id = extract(builder, loc, ids, row);
      mlir::Value position =
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(), id);
      // An id that is none of the positions must not leave the cache.
      position = arith::MinSIOp::create(
          builder, loc, position,
          arith::SubIOp::create(builder, loc, positions, number(1)));
      position = arith::MaxSIOp::create(builder, loc, position, number(0));
      where = {position, pair};
    }
    SmallVector<mlir::Value> other(at);
    other.back() = partner;
    mlir::Value own = read(source, at);
    if (rotation.pairs == 0)
      return extract(builder, loc, source, at);
    mlir::Value cosine =
        arith::MulFOp::create(builder, loc, own, read(cos, where));
    mlir::Value sine = arith::MulFOp::create(builder, loc, read(source, other),
                                             read(sin, where));
    mlir::Value turned =
        select(first, arith::SubFOp::create(builder, loc, cosine, sine),
               arith::AddFOp::create(builder, loc, cosine, sine));
    mlir::Value result = select(turns, turned, own);
    return isHalf(type)
               ? arith::TruncFOp::create(builder, loc,
                                         mlirType(type, node.context()), result)
               : result;
  };
  Datum result = generate(node, type, sizes, body);
  node.setResult(0, reshape(node, result, operand.sizes));
  return success();
}

ArrayRef<Operator> rotaryOperators() {
  static const Operator rows[] = {
      {"RotaryEmbedding", 23, 3, 4, 1, importRotaryEmbedding,
       "heads and channels known at import"},
  };
  return rows;
}

} // namespace attn::onnx

//===- Rotary.cpp - the RotaryEmbedding operator --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Turns pairs of channels by angles whose cosines and sines come in caches: of
// each position of the batch, or of all positions with a list of position ids:
// attn.rotary.
//
//===----------------------------------------------------------------------===//

#include "Build.h"

#include "attn/Dialect/IR/Attn.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

namespace {
enum Input : unsigned { X, Cos, Sin, Ids };

/// What the node's attributes and inputs say.
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

  const Datum &cosines = node.input(Cos), &sines = node.input(Sin);
  if (!llvm::equal(cosines.sizes, sines.sizes, isEqual))
    return node.error("expected caches of one shape, got " + describe(cosines) +
                      " and " + describe(sines));
  if (rotation.pairs == 0) {
    node.setResult(0, operand);
    return success();
  }
  Datum x = reshape(node, operand, sizes);
  mlir::Value source = node.tensor(x);
  mlir::Value turned = RotaryOp::create(
      node.builder, node.loc, source.getType(), source, node.tensor(Cos),
      node.tensor(Sin), rotation.hasIds ? node.tensor(Ids) : mlir::Value(),
      isFlat ? Layout::BSHD : Layout::BHSD,
      rotation.isInterleaved ? RotaryForm::Interleaved : RotaryForm::Half);
  Datum result = makeDatum(type, sizes, turned);
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

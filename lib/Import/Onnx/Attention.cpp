//===- Attention.cpp - the Attention operator -----------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention of versions 23 to 25, step by step as graph operations: scores,
// soft-cap, masks, softmax, mix. What is fused is the business of
// attn-fuse-attention; the operator's optional output of scores is what there
// is at its place. Halves are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "ElementOps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

namespace {

enum Input : unsigned { Q, K, V, Mask, PastKey, PastValue, KeyLengths };
enum Output : unsigned { Result, PresentKey, PresentValue, Scores };

/// One Attention node.
class AttentionImport {
public:
  explicit AttentionImport(NodeImport &node) : node(node) {}
  LogicalResult run();

private:
  LogicalResult readAttributes();
  LogicalResult readTensors();
  /// Queries, keys or values with heads, in `layout`.
  FailureOr<Datum> readHeads(unsigned number, int64_t heads);
  FailureOr<Datum> appendTo(unsigned past, Datum fresh);
  LogicalResult applyMasks();
  LogicalResult applyDenseMask();
  LogicalResult applyPositions();
  void mask(mlir::Attribute rule, mlir::Value operand = {});
  /// Sets the scores output if it is the one at this step.
  void noteScores(int64_t mode, Datum scores);

  Size keyCount() const { return key.sizes[layout == Layout::BSHD ? 1 : 2]; }
  Size queryCount() const {
    return query.sizes[layout == Layout::BSHD ? 1 : 2];
  }
  mlir::Type typeOf(ArrayRef<Size> sizes) {
    return tensorType(node, inner, sizes);
  }

  NodeImport &node;
  bool isCausal = false, hasRank3 = false;
  int64_t queryHeads = 0, keyHeads = 0, mode = 0, left = -1, right = -1;
  double softcap = 0;
  std::optional<double> scale;
  Layout layout = Layout::BHSD;
  ElementType type, inner;
  Datum query, key, value;
  std::optional<Size> pastCount;
  /// (B, H, N, M)
  SmallVector<Size> sizes;
  mlir::Value scores;
};

} // namespace

LogicalResult AttentionImport::readAttributes() {
  isCausal = node.integer("is_causal", 0) != 0;
  queryHeads = node.integer("q_num_heads", 0);
  keyHeads = node.integer("kv_num_heads", 0);
  mode = node.integer("qk_matmul_output_mode", 0);
  softcap = node.number("softcap", 0);
  if (node.hasAttribute("scale"))
    scale = node.number("scale", 1);
  if (node.opset >= 25) {
    left = node.integer("left_window_size", -1);
    right = node.integer("right_window_size", -1);
  }
  // Softmax is computed in f32 or f64, whichever holds the type of the inputs.
  node.ignore("softmax_precision");
  if (mode < 0 || mode > 3)
    return node.error("expected qk_matmul_output_mode of 0 to 3, got " +
                      Twine(mode));
  if (left < -1 || right < -1)
    return node.error("expected window sizes of -1 or more, got " +
                      Twine(left) + " and " + Twine(right));
  if (!(softcap >= 0))
    return node.error("expected a softcap of 0 or more, got " +
                      std::to_string(softcap));
  return success();
}

FailureOr<Datum> AttentionImport::readHeads(unsigned number, int64_t heads) {
  Datum operand = node.input(number);
  if (operand.isList || operand.element != type ||
      operand.rank() != (hasRank3 ? 3 : 4))
    return node.error("expected queries, keys and values of one type and rank "
                      "(3 or 4), got " +
                      describe(operand) + " in input " + Twine(number));
  Datum wide = castTo(node, operand, inner);
  if (!hasRank3) {
    if (!numberOf(wide.sizes[1]) || !numberOf(wide.sizes[3]))
      return node.error("expected numbers of heads and channels that are known "
                        "at import, got " +
                        describe(operand));
    return wide;
  }
  std::optional<int64_t> channels = numberOf(wide.sizes[2]);
  if (!channels || heads < 1 || *channels % heads != 0)
    return node.error("expected channels that are known at import and a "
                      "multiple of the number of heads, " +
                      Twine(heads) + ", got " + describe(operand));
  SmallVector<Size> split = {wide.sizes[0], wide.sizes[1], sizeOf(node, heads),
                             sizeOf(node, *channels / heads)};
  mlir::Value tensor =
      SplitHeadsOp::create(node.builder, node.loc, typeOf(split),
                           node.tensor(wide), heads, Layout::BSHD);
  Datum result = makeDatum(inner, split, tensor);
  return layout == Layout::BSHD ? result
                                : transpose(node, result, {0, 2, 1, 3});
}

/// Keys or values of the past, then the new ones; both (B, H, S, D).
FailureOr<Datum> AttentionImport::appendTo(unsigned past, Datum fresh) {
  Datum before = node.input(past);
  bool fits = !before.isList && before.element == type && before.rank() == 4;
  for (int64_t dim : {0, 1, 3}) {
    std::optional<int64_t> a, b;
    if (fits) {
      a = numberOf(before.sizes[dim]);
      b = numberOf(fresh.sizes[dim]);
    }
    fits = fits && (!a || !b || *a == *b);
  }
  if (!fits)
    return node.error("expected a past of the new keys' or values' type and "
                      "sizes (B, H, past, D), got " +
                      describe(before));
  pastCount = before.sizes[2];
  Datum parts[] = {castTo(node, before, inner), fresh};
  return concatenate(node, parts, 2);
}

LogicalResult AttentionImport::readTensors() {
  type = node.input(Q).element;
  if (node.input(Q).isList || !isFloat(type))
    return node.error("expected floating-point numbers, got " +
                      describe(node.input(Q)));
  inner = isHalf(type) ? ElementType::Float : type;
  hasRank3 = node.input(Q).rank() == 3;
  if (hasRank3 && (queryHeads < 1 || keyHeads < 1))
    return node.error("expected q_num_heads and kv_num_heads (because the "
                      "inputs are of rank 3), got " +
                      Twine(queryHeads) + " and " + Twine(keyHeads));
  if (node.has(PastKey) != node.has(PastValue) ||
      (node.has(PastKey) && node.has(KeyLengths)))
    return node.error("expected past_key and past_value together and without "
                      "nonpad_kv_seqlen, got others");
  // A past has (B, H, S, D); without one, rank 3 is best read as it lies.
  bool needsHeadsFirst =
      node.has(PastKey) || node.wants(PresentKey) || node.wants(PresentValue);
  layout = hasRank3 && !needsHeadsFirst ? Layout::BSHD : Layout::BHSD;
  FailureOr<Datum> q = readHeads(Q, queryHeads);
  if (failed(q))
    return failure();
  FailureOr<Datum> k = readHeads(K, keyHeads);
  if (failed(k))
    return failure();
  FailureOr<Datum> v = readHeads(V, keyHeads);
  if (failed(v))
    return failure();
  if (node.has(PastKey)) {
    k = appendTo(PastKey, *k);
    v = appendTo(PastValue, *v);
    if (failed(k) || failed(v))
      return failure();
  }
  query = *q;
  key = *k;
  value = *v;
  int64_t headDim = layout == Layout::BSHD ? 2 : 1;
  int64_t groups = *numberOf(key.sizes[headDim]);
  int64_t heads = *numberOf(query.sizes[headDim]);
  if (groups < 1 || heads % groups != 0 ||
      !isEqual(key.sizes[headDim], value.sizes[headDim]) ||
      !isEqual(query.sizes[3], key.sizes[3]))
    return node.error("expected as many key as value heads, of which the query "
                      "heads are a multiple, and keys of the queries' "
                      "channels, got " +
                      describe(query) + ", " + describe(key) + " and " +
                      describe(value));
  auto setPresent = [&](Output output, Datum &datum) {
    if (node.wants(output))
      node.setResult(output, castTo(node, datum, type));
  };
  setPresent(PresentKey, key);
  setPresent(PresentValue, value);
  sizes = {query.sizes[0], query.sizes[headDim], queryCount(), keyCount()};
  return success();
}

void AttentionImport::noteScores(int64_t step, Datum datum) {
  if (mode == step && node.wants(Scores))
    node.setResult(Scores, castTo(node, datum, type));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void AttentionImport::mask(mlir::Attribute rule, mlir::Value operand) {
  scores =
      MaskOp::create(node.builder, node.loc, scores.getType(), scores, rule,
                     operand ? mlir::ValueRange(operand) : mlir::ValueRange());
}

/// A mask that ends before the last key hides the rest.
LogicalResult AttentionImport::applyDenseMask() {
  Datum operand = node.input(Mask);
  bool isBool = operand.element == ElementType::Bool;
  if (operand.isList || operand.rank() < 1 || operand.rank() > 4 ||
      !(isBool || isFloat(operand.element)))
    return node.error("expected a mask of BOOL or of floating-point numbers "
                      "with 1 to 4 dimensions, got " +
                      describe(operand));
  if (!isBool)
    operand = castTo(node, operand, inner);
  Size last = operand.sizes.back(), rest = subtract(node, keyCount(), last);
  if (numberOf(rest).value_or(0) < 0)
    return node.error("expected a mask of at most as many keys as there are, "
                      "got " +
                      describe(operand));
  if (numberOf(rest) != 0) {
    SmallVector<Size> restSizes = operand.sizes;
    restSizes.back() = rest;
    Datum hidden = makeScalar(
        operand.element, isBool ? 0 : -std::numeric_limits<double>::infinity());
    Datum parts[] = {operand, broadcastTo(node, hidden, restSizes)};
    operand = concatenate(node, parts, operand.rank() - 1);
  }
  Datum all = makeDatum(inner, sizes, scores);
  FailureOr<SmallVector<Size>> broadcast = broadcastSizes(node, {operand, all});
  if (failed(broadcast))
    return failure();
  mask(DenseMaskAttr::get(node.context()), node.tensor(operand));
  return success();
}

/// Causality and windows, which count from the position of query 0.
LogicalResult AttentionImport::applyPositions() {
  if (!isCausal && left < 0 && right < 0)
    return success();
  // Which keys stand before the queries: the past, or of a cache those that are
  // not padding.
  Alignment alignment = Alignment::TopLeft;
  mlir::Value offset;
  if (pastCount && isEqual(add(node, *pastCount, queryCount()), keyCount())) {
    alignment = Alignment::BottomRight;
  } else if (pastCount) {
    alignment = Alignment::Offset;
    Datum count =
        makeKnown(ElementType::Int64, {}, {Scalar::ofSize(*pastCount)});
    Datum repeated = broadcastTo(node, count, sizes[0]);
    offset = node.tensor(repeated);
  } else if (node.has(KeyLengths)) {
    alignment = Alignment::Offset;
    Datum count =
        makeKnown(ElementType::Int64, {}, {Scalar::ofSize(queryCount())});
    Datum pair[] = {node.input(KeyLengths), count};
    FailureOr<Datum> difference = elementwise(
        node, pair, ElementType::Int64,
        [](OpBuilder &builder, Location loc, ValueRange v) -> mlir::Value {
          return arith::SubIOp::create(builder, loc, v[0], v[1]);
        });
    if (failed(difference))
      return failure();
    offset = node.tensor(*difference);
  }
  if (isCausal)
    mask(CausalAttr::get(node.context(), alignment), offset);
  if (left >= 0 || right >= 0)
    mask(WindowAttr::get(node.context(), left, right, alignment), offset);
  return success();
}

LogicalResult AttentionImport::applyMasks() {
  if (node.has(KeyLengths)) {
    const Datum &lengths = node.input(KeyLengths);
    if (lengths.element != ElementType::Int64 || lengths.rank() != 1)
      return node.error("expected nonpad_kv_seqlen to be INT64 (B), got " +
                        describe(lengths));
  }
  if (node.has(Mask) && failed(applyDenseMask()))
    return failure();
  if (failed(applyPositions()))
    return failure();
  if (node.has(KeyLengths))
    mask(KeyLengthsAttr::get(node.context()), node.tensor(KeyLengths));
  return success();
}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

LogicalResult AttentionImport::run() {
  if (failed(readAttributes()) || failed(readTensors()))
    return failure();
  OpBuilder &builder = node.builder;
  Location loc = node.loc;
  mlir::Value factor;
  if (scale) {
    mlir::Type element = mlirType(inner, node.context());
    factor = constantLike(builder, loc, element, *scale);
  }
  scores = ScoresOp::create(builder, loc, typeOf(sizes), node.tensor(query),
                            node.tensor(key), factor, layout);
  noteScores(0, makeDatum(inner, sizes, scores));
  if (softcap > 0) {
    mlir::Type wide = inner == ElementType::Double ? builder.getF64Type()
                                                   : builder.getF32Type();
    scores = SoftcapOp::create(builder, loc, scores,
                               constantLike(builder, loc, wide, softcap));
  }
  noteScores(1, makeDatum(inner, sizes, scores));
  if (failed(applyMasks()))
    return failure();
  noteScores(2, makeDatum(inner, sizes, scores));
  mlir::Value weights =
      SoftmaxOp::create(builder, loc, scores.getType(), mlir::Type(), scores)
          .getResult();
  noteScores(3, makeDatum(inner, sizes, weights));

  SmallVector<Size> mixedSizes = query.sizes;
  mixedSizes.back() = value.sizes.back();
  mlir::Value mixed = MixOp::create(builder, loc, typeOf(mixedSizes), weights,
                                    node.tensor(value), layout);
  SmallVector<Size> resultSizes = mixedSizes;
  if (hasRank3) {
    resultSizes = {sizes[0], sizes[2],
                   multiply(node, sizes[1], value.sizes.back())};
    mixed =
        MergeHeadsOp::create(builder, loc, typeOf(resultSizes), mixed, layout);
  }
  Datum result = makeDatum(inner, resultSizes, mixed);
  node.setResult(Result, castTo(node, result, type));
  return success();
}

static LogicalResult importAttention(NodeImport &node) {
  return AttentionImport(node).run();
}

ArrayRef<Operator> attentionOperators() {
  static const Operator rows[] = {
      {"Attention", 23, 3, 7, 4, importAttention,
       "heads and channels known at import; softmax in f32 or f64"},
  };
  return rows;
}

} // namespace attn::onnx

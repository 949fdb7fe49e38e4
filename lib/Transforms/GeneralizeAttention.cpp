//===- GeneralizeAttention.cpp - unfused attention -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Products of queries and keys, and of weights and values, as contractions;
// masks and score rules as element-wise operations. The formulas are those of
// the fused level: the same code writes them into regions, and the regions are
// copied here. A query head h reads key head h / (H / G): heads are split into
// (G, H / G), which makes every indexing map a projected permutation.
//
//===----------------------------------------------------------------------===//

#include "GeneralizeAttention.h"
#include "AttentionMatcher.h"
#include "HostSizes.h"
#include "RuleInliner.h"
#include "Scalarize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace attn;

/// Copies one side of inlined regions to where its arguments are known:
/// `arguments` are the side's own ones.
static Value copySide(OpBuilder &builder, AttentionRegions &regions,
                      AttentionRegions::Side &side, ValueRange arguments,
                      Value result) {
  IRMapping mapping;
  mapping.map(side.block->getArguments().take_front(side.numOwnArguments),
              arguments);
  for (auto [number, capture] : llvm::enumerate(regions.captures))
    mapping.map(side.captured(number), capture);
  for (Operation &op : *side.block)
    builder.clone(op, mapping);
  return mapping.lookup(result);
}

static FloatType elementOf(Value tensor) {
  return cast<FloatType>(
      cast<RankedTensorType>(tensor.getType()).getElementType());
}

/// Puts a tensor in the place of a result, converted to its type.
static void replaceBy(OpBuilder &builder, Value result, Value tensor) {
  if (tensor.getType() != result.getType())
    tensor = arith::TruncFOp::create(builder, result.getLoc(), result.getType(),
                                     tensor);
  result.replaceAllUsesWith(tensor);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {

/// Loops of both contractions: batch, key head, query head of that key head,
/// query, key, channel.
enum Loop : unsigned { B, G, R, N, M, D, NumLoops };

/// One operand of a contraction and the loops that its dimensions run over.
struct Factor {
  Value tensor;
  SmallVector<unsigned> loops;
};

} // namespace

/// Splits the heads of a tensor, dimension `dim`, into (groups, heads /
/// groups).
static Value splitHeads(OpBuilder &builder, Location loc, Value tensor,
                        unsigned dim, int64_t groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, tensor);
  int64_t rest = shape[dim] / groups;
  shape[dim] = groups;
  shape.insert(shape.begin() + dim + 1, rest);
  sizes[dim] = builder.getIndexAttr(groups);
  sizes.insert(sizes.begin() + dim + 1, builder.getIndexAttr(rest));
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t in = 0, out = 0; in < type.getRank(); ++in) {
    reassociation.push_back({out++});
    if (in == dim)
      reassociation.back().push_back(out++);
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       reassociation, sizes);
}

/// The opposite of splitHeads, to the shape of `like`.
static Value mergeHeads(OpBuilder &builder, Location loc, Value tensor,
                        unsigned dim, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t out = 0, in = 0; out < type.getRank(); ++out) {
    reassociation.push_back({in++});
    if (out == dim)
      reassociation.back().push_back(in++);
  }
  return tensor::CollapseShapeOp::create(
      builder, loc, type.clone(elementOf(tensor)), tensor, reassociation);
}

/// Sums `multiply` of two factors over the loop `summed`, in the compute type.
static Value
contract(OpBuilder &builder, Location loc, const Factor &a, const Factor &b,
         ArrayRef<OpFoldResult> sizes, ArrayRef<unsigned> resultLoops,
         Loop summed,
         llvm::function_ref<Value(OpBuilder &, Value, Value)> multiply) {
  FloatType compute = getComputeType(elementOf(a.tensor));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(compute));
  Value init = tensor::EmptyOp::create(builder, loc, sizes, compute);
  init = linalg::FillOp::create(builder, loc, zero, init).getResult(0);
  SmallVector<utils::IteratorType> iterators(NumLoops,
                                             utils::IteratorType::parallel);
  iterators[summed] = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> loops :
       {ArrayRef(a.loops), ArrayRef(b.loops), resultLoops})
    maps.push_back(AffineMap::getMultiDimMapWithTargets(NumLoops, loops,
                                                        builder.getContext()));
  return linalg::GenericOp::create(
             builder, loc, init.getType(), ValueRange{a.tensor, b.tensor}, init,
             maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               Value x = convertFloat(inner, at, args[0], compute);
               Value y = convertFloat(inner, at, args[1], compute);
               Value product = multiply(inner, x, y);
               Value sum = arith::AddFOp::create(inner, at, args[2], product);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

/// The loops of a head-split tensor, whose heads are split or not.
static SmallVector<unsigned> headLoops(Layout layout, unsigned sequence,
                                       bool hasRest) {
  SmallVector<unsigned> loops = inLayout<unsigned>(layout, B, sequence, G, D);
  if (hasRest)
    loops.insert(loops.begin() + headDim(layout) + 1, R);
  return loops;
}

static int64_t numHeads(Value tensor, Layout layout) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(headDim(layout));
}

/// The sizes of a tensor of attention with the heads split.
static SmallVector<OpFoldResult> splitSizes(OpBuilder &builder, Location loc,
                                            Value tensor, unsigned dim,
                                            int64_t groups) {
  SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, tensor);
  int64_t heads = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  sizes[dim] = builder.getIndexAttr(groups);
  sizes.insert(sizes.begin() + dim + 1, builder.getIndexAttr(heads / groups));
  return sizes;
}

/// b, h, i, j and d in a contraction.
static SmallVector<Value> contractionPosition(OpBuilder &builder, Location loc,
                                              int64_t share) {
  auto loop = [&](Loop loop) -> Value {
    return linalg::IndexOp::create(builder, loc, loop);
  };
  Value head = loop(G);
  if (share != 1) {
    Value size = arith::ConstantIndexOp::create(builder, loc, share);
    Value first = arith::MulIOp::create(builder, loc, head, size);
    head = arith::AddIOp::create(builder, loc, first, loop(R));
  }
  Value batch = loop(B), query = loop(N), key = loop(M), channel = loop(D);
  return {batch, head, query, key, channel};
}

/// s[b,g,r,i,j] = sum_d scale q[b,i,g,r,d] k[b,j,g,d], or what `combine` says
void attn::generalizeScores(Operation *op, const BroadcastDims &broadcasts) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  ScoreSource source = ScoreSource::of(op);
  Layout layout = source.layout;
  Value result = op->getResult(0);
  int64_t groups = numHeads(source.key, layout);
  int64_t share = numHeads(source.query, layout) / groups;
  FloatType compute = getComputeType(elementOf(source.query));
  AttentionRegions regions(loc, compute);
  RuleContext context{builder,
                      regions,
                      {source.query, sequenceDim(layout)},
                      {source.key, sequenceDim(layout)},
                      broadcasts};
  Value scale;
  if (auto scores = dyn_cast<ScoresOp>(op)) {
    inlineCombine(context, scores);
    scale = scores.getScale();
  } else {
    inlineCombine(context, cast<AdditiveScoresOp>(op));
  }

  auto multiply = [&](OpBuilder &inner, Value q, Value k) -> Value {
    Value factor = scale;
    if (!factor && isa<ScoresOp>(op)) {
      auto channels =
          double(cast<RankedTensorType>(source.query.getType()).getDimSize(3));
      factor = arith::ConstantOp::create(
          inner, loc, inner.getFloatAttr(compute, 1.0 / std::sqrt(channels)));
    }
    if (!regions.combined) {
      Value scaled = arith::MulFOp::create(inner, loc, q, factor);
      return arith::MulFOp::create(inner, loc, scaled, k);
    }
    SmallVector<Value> arguments = {q, k};
    llvm::append_range(arguments, contractionPosition(inner, loc, share));
    Value combined =
        copySide(inner, regions, regions.combine, arguments, regions.combined);
    if (!factor)
      return combined;
    return arith::MulFOp::create(inner, loc, combined, factor);
  };
  Value product =
      contract(builder, loc,
               {splitHeads(builder, loc, source.query, headDim(layout), groups),
                headLoops(layout, N, /*hasRest=*/true)},
               {source.key, headLoops(layout, M, /*hasRest=*/false)},
               splitSizes(builder, loc, result, 1, groups), {B, G, R, N, M}, D,
               multiply);
  replaceBy(builder, result, mergeHeads(builder, loc, product, 1, result));
  op->erase();
}

/// o[b,i,g,r,d] = sum_j p[b,g,r,i,j] v[b,j,g,d], where p is not zero
void attn::generalizeMix(MixOp op, const BroadcastDims &broadcasts) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Layout layout = op.getLayout();
  Value value = op.getValue(), result = op.getResult();
  int64_t groups = numHeads(value, layout);
  int64_t share = numHeads(result, layout) / groups;
  FloatType compute = getComputeType(elementOf(value));
  AttentionRegions regions(loc, compute);
  RuleContext context{builder,
                      regions,
                      {op.getWeights(), 2},
                      {value, sequenceDim(layout)},
                      broadcasts};
  inlineValue(context, op);

  auto multiply = [&](OpBuilder &inner, Value p, Value v) -> Value {
    Value zero =
        arith::ConstantOp::create(inner, loc, inner.getZeroAttr(compute));
    Value used =
        arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::UNE, p, zero);
    if (regions.finalValue) {
      SmallVector<Value> arguments = {v};
      llvm::append_range(arguments, contractionPosition(inner, loc, share));
      v = copySide(inner, regions, regions.value, arguments,
                   regions.finalValue);
    }
    Value product = arith::MulFOp::create(inner, loc, p, v);
    return arith::SelectOp::create(inner, loc, used, product, zero);
  };
  unsigned heads = headDim(layout);
  Value mixed = contract(
      builder, loc,
      {splitHeads(builder, loc, op.getWeights(), 1, groups), {B, G, R, N, M}},
      {value, headLoops(layout, M, /*hasRest=*/false)},
      splitSizes(builder, loc, result, heads, groups),
      headLoops(layout, N, /*hasRest=*/true), M, multiply);
  replaceBy(builder, result, mergeHeads(builder, loc, mixed, heads, result));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

Value attn::mapElements(
    OpBuilder &builder, Location loc, Value like, Type element,
    ValueRange inputs, ArrayRef<AffineMap> maps,
    llvm::function_ref<Value(OpBuilder &, ValueRange, ValueRange)> body) {
  int64_t rank = cast<RankedTensorType>(like.getType()).getRank();
  Value init = tensor::EmptyOp::create(builder, loc,
                                       hostSizes(builder, loc, like), element);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, allMaps, iterators,
      [&](OpBuilder &inner, Location at, ValueRange args) {
        SmallVector<Value> indices;
        for (int64_t loop = 0; loop < rank; ++loop)
          indices.push_back(linalg::IndexOp::create(inner, at, loop));
        linalg::YieldOp::create(
            inner, at, body(inner, indices, args.take_front(inputs.size())));
      });
  // Indices that nothing reads.
  for (Operation &op : llvm::make_early_inc_range(*generic.getBody()))
    if (isa<linalg::IndexOp>(op) && op.use_empty())
      op.erase();
  return generic.getResult(0);
}

/// score rules: what the score region yields; masks: select(visible, score,
/// -inf)
void attn::generalizeScoreRule(Operation *op, const BroadcastDims &broadcasts) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value scores = op->getOperand(0), result = op->getResult(0);
  FloatType element = elementOf(scores), compute = getComputeType(element);
  AttentionRegions regions(loc, compute);
  RuleContext context{builder, regions, {scores, 2}, {scores, 3}, broadcasts};
  auto mask = dyn_cast<MaskOp>(op);
  Value changed = mask ? inlineMask(context, mask, regions.initialScore())
                       : inlineScoreRule(context, op, regions.initialScore());
  Value mapped = mapElements(
      builder, loc, scores, element, scores, builder.getMultiDimIdentityMap(4),
      [&](OpBuilder &inner, ValueRange position, ValueRange elements) -> Value {
        Value visible;
        if (regions.visible())
          visible = copySide(inner, regions, regions.mask, position,
                             regions.visible());
        SmallVector<Value> arguments = {
            convertFloat(inner, loc, elements[0], compute)};
        llvm::append_range(arguments, position);
        Value score =
            copySide(inner, regions, regions.score, arguments, changed);
        score = convertFloat(inner, loc, score, element);
        // What a mask before has hidden stays so, even if this adds a NaN.
        if (!mask)
          return arith::SelectOp::create(inner, loc,
                                         isNotHidden(inner, loc, elements[0]),
                                         score, elements[0]);
        if (!visible)
          return score;
        Value hidden = arith::ConstantOp::create(
            inner, loc,
            FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(),
                                                    /*Negative=*/true)));
        return arith::SelectOp::create(inner, loc, visible, score, hidden);
      });
  result.replaceAllUsesWith(mapped);
  op->erase();
}

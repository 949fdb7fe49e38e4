//===- Generalize.cpp - attn-generalize ------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-generalize: what fusion had to leave alone still compiles. Products of
// scores and of weights with values become contractions, masks and biases
// element-wise operations with broadcasts, all as linalg.generic. A query head
// h reads key head h / (H / G): heads are split into (G, H / G), which makes
// every indexing map a projected permutation.
//
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"
#include "HostSizes.h"
#include "Scalarize.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

#define DEBUG_TYPE "attn-generalize"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNGENERALIZEPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {

/// Loops of both contractions: batch, key head, query head of that key head,
/// query, key, channel.
enum Loop : unsigned { B, G, R, N, M, D, NumLoops };

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

/// The opposite of splitHeads, to a type.
static Value mergeHeads(OpBuilder &builder, Location loc, Value tensor,
                        unsigned dim, Type type) {
  SmallVector<ReassociationIndices> reassociation;
  int64_t rank = cast<RankedTensorType>(type).getRank();
  for (int64_t out = 0, in = 0; out < rank; ++out) {
    reassociation.push_back({in++});
    if (out == dim)
      reassociation.back().push_back(in++);
  }
  return tensor::CollapseShapeOp::create(builder, loc, type, tensor,
                                         reassociation);
}

static AffineMap loopMap(MLIRContext *context, ArrayRef<unsigned> loops) {
  return AffineMap::getMultiDimMapWithTargets(NumLoops, loops, context);
}

/// One operand of a contraction and the loops that its dimensions run over.
namespace {
struct Factor {
  Value tensor;
  SmallVector<unsigned> loops;
};
} // namespace

/// Sums products over the loop `summed`.
static Value
contract(OpBuilder &builder, Location loc, const Factor &a, const Factor &b,
         Type element, ArrayRef<OpFoldResult> sizes,
         ArrayRef<unsigned> resultLoops, Loop summed,
         llvm::function_ref<Value(OpBuilder &, Value, Value)> multiply) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value init = tensor::EmptyOp::create(builder, loc, sizes, element);
  init = linalg::FillOp::create(builder, loc, zero, init).getResult(0);
  SmallVector<utils::IteratorType> iterators(NumLoops,
                                             utils::IteratorType::parallel);
  iterators[summed] = utils::IteratorType::reduction;
  MLIRContext *context = builder.getContext();
  return linalg::GenericOp::create(
             builder, loc, init.getType(), ValueRange{a.tensor, b.tensor}, init,
             ArrayRef<AffineMap>{loopMap(context, a.loops),
                                 loopMap(context, b.loops),
                                 loopMap(context, resultLoops)},
             iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               Value product = multiply(inner, args[0], args[1]);
               Value sum = arith::AddFOp::create(inner, at, args[2], product);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

/// The loops of a head-split tensor with split heads.
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

/// s[b,g,r,i,j] = sum_d scale q[b,i,g,r,d] k[b,j,g,d]
static void generalize(ScoresOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Layout layout = op.getLayout();
  int64_t groups = numHeads(op.getKey(), layout);
  auto type = cast<RankedTensorType>(op.getType());
  auto element = cast<FloatType>(type.getElementType());
  Value scale = op.getScale();
  double channels = static_cast<double>(
      cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3));

  auto multiply = [&](OpBuilder &inner, Value q, Value k) -> Value {
    Value factor = scale;
    if (!factor)
      factor = arith::ConstantOp::create(
          inner, loc, inner.getFloatAttr(element, 1.0 / std::sqrt(channels)));
    else if (factor.getType() != element)
      factor =
          cast<FloatType>(factor.getType()).getWidth() < element.getWidth()
              ? arith::ExtFOp::create(inner, loc, element, factor).getResult()
              : arith::TruncFOp::create(inner, loc, element, factor)
                    .getResult();
    Value scaled = arith::MulFOp::create(inner, loc, q, factor);
    return arith::MulFOp::create(inner, loc, scaled, k);
  };
  Value product = contract(
      builder, loc,
      {splitHeads(builder, loc, op.getQuery(), headDim(layout), groups),
       headLoops(layout, N, /*hasRest=*/true)},
      {op.getKey(), headLoops(layout, M, /*hasRest=*/false)}, element,
      splitSizes(builder, loc, op.getResult(), 1, groups), {B, G, R, N, M}, D,
      multiply);
  op.getResult().replaceAllUsesWith(mergeHeads(builder, loc, product, 1, type));
  op.erase();
}

/// o[b,i,g,r,d] = sum_j p[b,g,r,i,j] v[b,j,g,d], where p is not zero
static void generalize(MixOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Layout layout = op.getLayout();
  int64_t groups = numHeads(op.getValue(), layout);
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();

  auto multiply = [&](OpBuilder &inner, Value p, Value v) -> Value {
    Value zero =
        arith::ConstantOp::create(inner, loc, inner.getZeroAttr(element));
    Value used =
        arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::UNE, p, zero);
    Value product = arith::MulFOp::create(inner, loc, p, v);
    return arith::SelectOp::create(inner, loc, used, product, zero);
  };
  unsigned heads = headDim(layout);
  Value mixed = contract(
      builder, loc,
      {splitHeads(builder, loc, op.getWeights(), 1, groups), {B, G, R, N, M}},
      {op.getValue(), headLoops(layout, M, /*hasRest=*/false)}, element,
      splitSizes(builder, loc, op.getResult(), heads, groups),
      headLoops(layout, N, /*hasRest=*/true), M, multiply);
  op.getResult().replaceAllUsesWith(
      mergeHeads(builder, loc, mixed, heads, type));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Masks and biases
//===----------------------------------------------------------------------===//

/// An element-wise operation on scores (B, H, N, M), whose body also gets the
/// position.
static Value
mapScores(OpBuilder &builder, Location loc, Value scores,
          llvm::function_ref<Value(OpBuilder &, Value, ValueRange)> body) {
  auto type = cast<RankedTensorType>(scores.getType());
  Value init = tensor::EmptyOp::create(
      builder, loc, hostSizes(builder, loc, scores), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(4);
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), scores, init,
             ArrayRef<AffineMap>{identity, identity}, iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               SmallVector<Value> position;
               for (int64_t loop = 0; loop < 4; ++loop)
                 position.push_back(linalg::IndexOp::create(inner, at, loop));
               linalg::YieldOp::create(inner, at,
                                       body(inner, args[0], position));
             })
      .getResult(0);
}

static void generalize(BiasOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  op.getResult().replaceAllUsesWith(mapScores(
      builder, loc, op.getScores(),
      [&](OpBuilder &inner, Value score, ValueRange position) -> Value {
        Value bias = extractBroadcast(inner, loc, op.getBias(), position);
        return arith::AddFOp::create(inner, loc, score, bias);
      }));
  op.erase();
}

/// Copies one side of inlined regions to where its arguments are known.
static Value copySide(OpBuilder &builder, AttentionRegions &regions,
                      AttentionRegions::Side &side, Value score,
                      ValueRange position, Value result) {
  IRMapping mapping;
  if (score)
    mapping.map(side.block->getArgument(0), score);
  mapping.map(side.position(), position);
  for (auto [number, capture] : llvm::enumerate(regions.captures))
    mapping.map(side.captured(number), capture);
  for (Operation &op : *side.block)
    builder.clone(op, mapping);
  return mapping.lookup(result);
}

/// select(visible, score, -inf)
static void generalize(MaskOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  AttentionRegions regions(op.getContext(), loc, element);
  Value masked = inlineMask(builder, regions, op, {op.getScores(), 2},
                            {op.getScores(), 3}, regions.initialScore());
  op.getResult().replaceAllUsesWith(mapScores(
      builder, loc, op.getScores(),
      [&](OpBuilder &inner, Value score, ValueRange position) -> Value {
        Value visible = copySide(inner, regions, regions.mask, Value(),
                                 position, regions.visible());
        Value shown =
            copySide(inner, regions, regions.score, score, position, masked);
        Value hidden = arith::ConstantOp::create(
            inner, loc,
            FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(),
                                                    /*Negative=*/true)));
        return arith::SelectOp::create(inner, loc, visible, shown, hidden);
      }));
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct AttnGeneralizePass final
    : attn::impl::AttnGeneralizePassBase<AttnGeneralizePass> {
  using AttnGeneralizePassBase::AttnGeneralizePassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<ScoresOp, MixOp, BiasOp, MaskOp>(op) || isNamedLinalg(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      remark::passed(op->getLoc(), remark::RemarkOpts::name("generalized")
                                       .category(DEBUG_TYPE)
                                       .function(getOperation().getSymName()))
          << remark::add("{0}", op->getName().getStringRef().str());
      rewrite(op);
    }
  }

private:
  /// A fill stays: a kernel reads its initial value from it.
  static bool isNamedLinalg(Operation *op) {
    return isa<linalg::LinalgOp>(op) &&
           !isa<linalg::GenericOp, linalg::FillOp>(op);
  }

  static void rewrite(Operation *op) {
    if (auto scores = dyn_cast<ScoresOp>(op))
      return generalize(scores);
    if (auto mix = dyn_cast<MixOp>(op))
      return generalize(mix);
    if (auto bias = dyn_cast<BiasOp>(op))
      return generalize(bias);
    if (auto mask = dyn_cast<MaskOp>(op))
      return generalize(mask);
    IRRewriter rewriter(op);
    // What has no generic form stays and is reported when its kernel is
    // compiled.
    (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
  }
};

} // namespace

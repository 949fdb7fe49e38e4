//===- AttnFolds.cpp - folders and canonicalisations ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What is the same with fewer operations: a view that is undone, a mask that
// hides nothing, a formula that is the identity. No pass relies on any of it.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace attn;

static bool isZeroSplat(Attribute attribute) {
  auto elements = dyn_cast_if_present<DenseFPElementsAttr>(attribute);
  return elements && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isZero();
}

static bool isTrueSplat(Attribute attribute) {
  auto elements = dyn_cast_if_present<DenseIntElementsAttr>(attribute);
  return elements && elements.isSplat() &&
         elements.getType().getElementType().isInteger(1) &&
         elements.getSplatValue<bool>();
}

/// The one value that a region's block yields, null for an empty region.
static Value getYielded(Region &region) {
  if (region.empty())
    return {};
  return cast<YieldOp>(region.front().getTerminator()).getValues().front();
}

/// Whether a region yields argument `index` as it is.
static bool yieldsArgument(Region &region, unsigned index) {
  Value yielded = getYielded(region);
  return yielded && yielded == region.getArgument(index);
}

/// Whether a predicate's region yields true for every pair.
static bool yieldsTrue(Region &region) {
  Value yielded = getYielded(region);
  return yielded && matchPattern(yielded, m_One());
}

//===----------------------------------------------------------------------===//
// Views and masks
//===----------------------------------------------------------------------===//

// split_heads(merge_heads(x)) -> x
OpFoldResult SplitHeadsOp::fold(FoldAdaptor) {
  auto merge = getInput().getDefiningOp<MergeHeadsOp>();
  if (merge && merge.getLayout() == getLayout() &&
      merge.getInput().getType() == getType())
    return merge.getInput();
  return {};
}

// merge_heads(split_heads(x)) -> x
OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  auto split = getInput().getDefiningOp<SplitHeadsOp>();
  if (split && split.getLayout() == getLayout() &&
      split.getInput().getType() == getType())
    return split.getInput();
  return {};
}

/// Whether a dense mask may end before the last key, and so hide keys.
static bool mayBeShort(Type mask, RankedTensorType scores) {
  auto type = cast<RankedTensorType>(mask);
  if (type.getRank() == 0)
    return false;
  int64_t size = type.getShape().back(), keys = scores.getShape().back();
  return size != 1 && (size != keys || ShapedType::isDynamic(size));
}

OpFoldResult MaskOp::fold(FoldAdaptor adaptor) {
  // mask(s, window<left = -1, right = -1>) -> s
  auto window = dyn_cast<WindowAttr>(getRule());
  if (window && window.getLeft() == -1 && window.getRight() == -1)
    return getScores();
  // mask(s, dense(true)) -> s
  if (isa<DenseMaskAttr>(getRule()) && isTrueSplat(adaptor.getInputs()[0]) &&
      !mayBeShort(getInputs()[0].getType(), getScores().getType()))
    return getScores();
  // mask(mask(s, rule), rule) -> mask(s, rule), but a float mask adds twice.
  auto inner = getScores().getDefiningOp<MaskOp>();
  if (inner && inner.getRule() == getRule() &&
      inner.getInputs() == getInputs() &&
      llvm::none_of(getInputs(), [](Value input) {
        return isa<FloatType>(getElementTypeOrSelf(input.getType()));
      }))
    return getScores();
  return {};
}

namespace {
/// mask(s, window<left = -1, right = 0>) -> mask(s, causal)
struct WindowToCausal final : OpRewritePattern<MaskOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(MaskOp op,
                                PatternRewriter &rewriter) const override {
    auto window = dyn_cast<WindowAttr>(op.getRule());
    if (!window || window.getLeft() != -1 || window.getRight() != 0)
      return rewriter.notifyMatchFailure(op,
                                         "not a window of all earlier keys");
    rewriter.modifyOpInPlace(op, [&] {
      op.setRuleAttr(CausalAttr::get(op.getContext(), window.getAlignment()));
    });
    return success();
  }
};

/// mask(s, any_of<[rule]>) -> mask(s, rule), mask(s, not<not<rule>>) -> mask(s,
/// rule)
struct UnwrapRule final : OpRewritePattern<MaskOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(MaskOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<Attribute> parts = getMaskParts(op.getRule());
    if (parts.size() != 1)
      return rewriter.notifyMatchFailure(op, "not a composition of one rule");
    Attribute inner = parts.front();
    if (isa<NotAttr>(op.getRule())) {
      if (!isa<NotAttr>(inner))
        return rewriter.notifyMatchFailure(op, "the negation matters");
      inner = getMaskParts(inner).front();
    }
    rewriter.modifyOpInPlace(op, [&] { op.setRuleAttr(inner); });
    return success();
  }
};
} // namespace

void MaskOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<WindowToCausal, UnwrapRule>(context);
}

// bias(s, 0) -> s
OpFoldResult BiasOp::fold(FoldAdaptor adaptor) {
  if (isZeroSplat(adaptor.getBias()))
    return getScores();
  return {};
}

//===----------------------------------------------------------------------===//
// Operands that say what is the case without them
//===----------------------------------------------------------------------===//

namespace {
/// scores(q, k, 1 / sqrt(D)) -> scores(q, k)
struct DropDefaultScale final : OpRewritePattern<ScoresOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(ScoresOp op,
                                PatternRewriter &rewriter) const override {
    APFloat scale(0.0);
    if (!op.getScale() || !matchPattern(op.getScale(), m_ConstantFloat(&scale)))
      return rewriter.notifyMatchFailure(op, "no constant scale");
    APFloat expected(1.0 /
                     std::sqrt(double(op.getQuery().getType().getDimSize(3))));
    bool losesInfo;
    expected.convert(scale.getSemantics(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
    if (!scale.bitwiseIsEqual(expected))
      return rewriter.notifyMatchFailure(op, "another scale than 1 / sqrt(D)");
    rewriter.modifyOpInPlace(op, [&] { op.getScaleMutable().clear(); });
    return success();
  }
};

/// linear(x, w, 0) -> linear(x, w)
struct DropZeroBias final : OpRewritePattern<LinearOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(LinearOp op,
                                PatternRewriter &rewriter) const override {
    Attribute bias;
    if (!op.getBias() || !matchPattern(op.getBias(), m_Constant(&bias)) ||
        !isZeroSplat(bias))
      return rewriter.notifyMatchFailure(op, "no bias of zeros");
    rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
    return success();
  }
};

/// pool(x, mask)<cls> -> pool(x)<cls>
struct DropMaskOfCls final : OpRewritePattern<PoolOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(PoolOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || op.getKind() != PoolKind::Cls)
      return rewriter.notifyMatchFailure(op, "the mask matters");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// dim_size of a range of one value -> that value
struct FixedDimSize final : OpRewritePattern<DimSizeOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(DimSizeOp op,
                                PatternRewriter &rewriter) const override {
    auto dim = SymbolTable::lookupNearestSymbolFrom<DimOp>(op, op.getDimAttr());
    if (!dim || dim.getMin() != dim.getMax())
      return rewriter.notifyMatchFailure(op, "the size varies");
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, dim.getMin());
    return success();
  }
};
} // namespace

void ScoresOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropDefaultScale>(context);
}
void LinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropZeroBias>(context);
}
void PoolOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropMaskOfCls>(context);
}
void DimSizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FixedDimSize>(context);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Whether a combine region is the product of its first two arguments.
static bool yieldsProduct(Region &region) {
  Value yielded = getYielded(region);
  auto product =
      yielded ? yielded.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!product)
    return false;
  Value query = region.getArgument(0), key = region.getArgument(1);
  return (product.getLhs() == query && product.getRhs() == key) ||
         (product.getLhs() == key && product.getRhs() == query);
}

namespace {
/// attention without the regions that say what their absence means
struct DropIdentityRegions final : OpRewritePattern<AttentionOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Region *> identities;
    if (yieldsProduct(op.getCombine()))
      identities.push_back(&op.getCombine());
    if (yieldsArgument(op.getScore(), 0))
      identities.push_back(&op.getScore());
    if (yieldsTrue(op.getMask()))
      identities.push_back(&op.getMask());
    if (yieldsArgument(op.getValues(), 0))
      identities.push_back(&op.getValues());
    if (identities.empty())
      return rewriter.notifyMatchFailure(op, "every region matters");
    for (Region *region : identities)
      rewriter.eraseBlock(&region->front());
    return success();
  }
};

/// fused_linear without an epilogue that yields acc
struct DropIdentityEpilogue final : OpRewritePattern<FusedLinearOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(FusedLinearOp op,
                                PatternRewriter &rewriter) const override {
    if (!yieldsArgument(op.getEpilogue(), 0))
      return rewriter.notifyMatchFailure(op, "the epilogue matters");
    rewriter.eraseBlock(&op.getEpilogue().front());
    return success();
  }
};

/// One capture for equal ones, none for those that no region reads.
template <typename OpTy> struct DropCaptures final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    unsigned count = op.getCaptures().size();
    for (unsigned index = count; index-- > 0;) {
      Value capture = op.getCaptures()[index];
      auto first = llvm::find(op.getCaptures(), capture);
      unsigned firstIndex = std::distance(op.getCaptures().begin(), first);
      bool isRead = llvm::any_of(op->getRegions(), [&](Region &region) {
        return !region.empty() &&
               !getArgument(region, count, index).use_empty();
      });
      if (isRead && firstIndex == index)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        for (Region &region : op->getRegions()) {
          if (region.empty())
            continue;
          BlockArgument argument = getArgument(region, count, index);
          if (firstIndex != index)
            argument.replaceAllUsesWith(getArgument(region, count, firstIndex));
          region.eraseArgument(argument.getArgNumber());
        }
        op.getCapturesMutable().erase(index);
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "every capture is read");
  }

  /// Captures are the last `count` arguments of a region.
  static BlockArgument getArgument(Region &region, unsigned count,
                                   unsigned index) {
    return region.getArgument(region.getNumArguments() - count + index);
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropIdentityRegions, DropCaptures<AttentionOp>>(context);
}
void FusedLinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<DropIdentityEpilogue, DropCaptures<FusedLinearOp>>(context);
}

// tile_score(s){ s } -> s
OpFoldResult TileScoreOp::fold(FoldAdaptor) {
  if (yieldsArgument(getBody(), 0))
    return getScores();
  return {};
}

// tile_mask(s){ true } -> s
OpFoldResult TileMaskOp::fold(FoldAdaptor) {
  if (yieldsTrue(getBody()))
    return getScores();
  return {};
}

// tile_rescale(x, m, m) -> x
OpFoldResult TileRescaleOp::fold(FoldAdaptor) {
  if (getBefore() == getAfter())
    return getInput();
  return {};
}

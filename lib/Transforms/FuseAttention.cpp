//===- FuseAttention.cpp - attn-fuse-attention -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-fuse-attention: makes scores -> rules -> softmax -> mix one operation.
// Found by what the operations mean, not by a list of patterns: everything
// between the scores and the softmax must depend on that score alone. Where
// someone else needs the scores or the weights, the attention is fused all the
// same, and the operations stay for that user. What stands in the way is said
// at the operation, with the way out.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatcher.h"
#include "RuleInliner.h"
#include "Scalarize.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

#define DEBUG_TYPE "attn-fuse-attention"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNFUSEATTENTIONPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {

/// Replaces a match by one attn.attention.
class AttentionBuilder {
public:
  AttentionBuilder(AttentionMatcher &match, const BroadcastDims &broadcasts)
      : match(match), builder(match.mix), loc(match.mix.getLoc()),
        regions(loc, getComputeType(
                         getElementTypeOrSelf(match.scores.query.getType()))),
        context{builder,
                regions,
                {match.scores.query, sequenceDim(match.scores.layout)},
                {match.scores.key, sequenceDim(match.scores.layout)},
                broadcasts} {}

  AttentionOp build();

private:
  void inlineChain();
  Value createScale();
  void narrowResult(AttentionOp attention);
  Value operandInScore(OpOperand &operand);
  void replaceLse(AttentionOp attention);
  void eraseUnused();

  AttentionMatcher &match;
  OpBuilder builder;
  Location loc;
  AttentionRegions regions;
  RuleContext context;
  /// Values of the chain in the score region.
  IRMapping inScore;
};

} // namespace

/// The value of an operand of an element-wise operation in the score region.
Value AttentionBuilder::operandInScore(OpOperand &operand) {
  Value value = operand.get();
  if (Value mapped = inScore.lookupOrNull(value))
    return mapped;
  OpBuilder inside = regions.score.builder();
  Location at = operand.getOwner()->getLoc();
  Value element;
  if (TypedAttr constant = splatElement(value)) {
    element = arith::ConstantOp::create(inside, at, constant);
  } else {
    element = regions.score.captured(regions.capture(value));
    if (isa<RankedTensorType>(value.getType()))
      element = extractBroadcast(inside, at, element, regions.score.position());
  }
  auto number = dyn_cast<FloatType>(element.getType());
  if (!number || number.getWidth() >= regions.computeType().getWidth())
    return element;
  return convertFloat(inside, at, element, regions.computeType());
}

/// Fills the regions.
void AttentionBuilder::inlineChain() {
  if (auto scores = dyn_cast<ScoresOp>(match.scores.op))
    inlineCombine(context, scores);
  else
    inlineCombine(context, cast<AdditiveScoresOp>(match.scores.op));

  inScore.map(match.scores.op->getResult(0), regions.initialScore());
  for (Operation *op : match.between) {
    Value result;
    if (auto mask = dyn_cast<MaskOp>(op)) {
      result = inlineMask(context, mask, inScore.lookup(mask.getScores()));
    } else if (isScoreRule(op)) {
      result = inlineScoreRule(context, op, inScore.lookup(op->getOperand(0)));
    } else {
      SmallVector<Value> operands;
      for (OpOperand &operand : op->getOpOperands())
        operands.push_back(operandInScore(operand));
      OpBuilder inside = regions.score.builder();
      result = createScalar(inside, op, operands, regions.computeType());
    }
    inScore.map(op->getResult(0), result);
  }
  OpBuilder inside = regions.score.builder();
  regions.finalScore =
      convertFloat(inside, loc, inScore.lookup(match.softmax.getInput()),
                   regions.computeType());
  inlineValue(context, match.mix);
}

/// The factor of the products: 1 / sqrt(D) where attn.scores has none, 1 where
/// there are no products.
Value AttentionBuilder::createScale() {
  double scale = 1.0;
  if (auto scores = dyn_cast<ScoresOp>(match.scores.op)) {
    if (scores.getScale())
      return scores.getScale();
    scale = 1.0 / std::sqrt(double(scores.getQuery().getType().getDimSize(3)));
  }
  return arith::ConstantOp::create(
      builder, match.scores.op->getLoc(),
      builder.getFloatAttr(regions.computeType(), scale));
}

/// Takes in a conversion of the result to 16 bits, if that is its only use.
void AttentionBuilder::narrowResult(AttentionOp attention) {
  Value result = attention.getResult();
  if (!result.hasOneUse() || !regions.computeType().isF32())
    return;
  auto narrow = dyn_cast<arith::TruncFOp>(*result.user_begin());
  if (!narrow || !isHalf(narrow.getType()))
    return;
  result.setType(cast<RankedTensorType>(narrow.getType()));
  narrow.replaceAllUsesWith(result);
  narrow.erase();
}

AttentionOp AttentionBuilder::build() {
  inlineChain();
  Value scale = createScale();
  SoftmaxOp softmax = match.softmax;
  bool hasLse = softmax.getLse() && !softmax.getLse().use_empty();
  // The log-sum-exp of f16 scores in f32 is that of all f16 attention; of f64
  // conversions on the way it is converted.
  Type lse;
  if (hasLse)
    lse = cast<RankedTensorType>(softmax.getLse().getType())
              .clone(regions.computeType());
  MixOp mix = match.mix;
  auto attention = AttentionOp::create(
      builder, loc, mix.getResult().getType(), lse, match.scores.query,
      match.scores.key, match.value, scale, softmax.getSinks(),
      regions.captures, mix.getLayoutAttr(), /*chunk=*/nullptr,
      /*key_ranges=*/nullptr);
  regions.moveTo(attention);
  mix.getResult().replaceAllUsesWith(attention.getResult());
  narrowResult(attention);
  if (hasLse)
    replaceLse(attention);
  eraseUnused();
  return attention;
}

void AttentionBuilder::replaceLse(AttentionOp attention) {
  Value before = match.softmax.getLse(), lse = attention.getLse();
  if (before.getType() != lse.getType()) {
    bool widens =
        getElementTypeOrSelf(before.getType()).getIntOrFloatBitWidth() >
        getElementTypeOrSelf(lse.getType()).getIntOrFloatBitWidth();
    lse = widens ? arith::ExtFOp::create(builder, loc, before.getType(), lse)
                       .getResult()
                 : arith::TruncFOp::create(builder, loc, before.getType(), lse)
                       .getResult();
  }
  // Users of the log-sum-exp may stand in front of the mix.
  bool inOrder = llvm::all_of(before.getUsers(), [&](Operation *user) {
    return user->getBlock() != attention->getBlock() ||
           attention->isBeforeInBlock(user);
  });
  before.replaceAllUsesWith(lse);
  if (!inOrder)
    sortTopologically(attention->getBlock());
}

/// Erases what nobody else uses, users first. Weights that stay need no
/// log-sum-exp.
void AttentionBuilder::eraseUnused() {
  SmallVector<Operation *> chain = {match.mix};
  llvm::append_range(chain, match.conversions);
  chain.push_back(match.softmax);
  llvm::append_range(chain, llvm::reverse(match.between));
  chain.push_back(match.scores.op);
  llvm::append_range(chain, match.widened);
  for (Operation *op : chain) {
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    auto softmax = dyn_cast<SoftmaxOp>(op);
    if (!softmax || !softmax.getLse() || !softmax.getLse().use_empty())
      continue;
    OpBuilder at(softmax);
    auto weights =
        SoftmaxOp::create(at, softmax.getLoc(), softmax.getResult().getType(),
                          Type(), softmax.getInput(), softmax.getSinks());
    softmax.getResult().replaceAllUsesWith(weights.getResult());
    softmax.erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct AttnFuseAttentionPass final
    : attn::impl::AttnFuseAttentionPassBase<AttnFuseAttentionPass> {
  using AttnFuseAttentionPassBase::AttnFuseAttentionPassBase;

  void runOnOperation() override {
    FailureOr<BroadcastDims> broadcasts =
        BroadcastDims::compute(getOperation());
    if (failed(broadcasts))
      return signalPassFailure();
    SmallVector<MixOp> mixes;
    getOperation().walk([&](MixOp mix) { mixes.push_back(mix); });
    for (MixOp mix : mixes)
      visit(mix, *broadcasts);
    // What no attn.mix has led to.
    getOperation().walk([&](Operation *op) {
      if (ScoreSource::of(op) && !explained.contains(op))
        miss(op, {op, "no attn.mix uses the softmax of these scores",
                  "multiply the weights with the values by attn.mix"});
    });
    if (hasErrors)
      signalPassFailure();
  }

private:
  void visit(MixOp mix, const BroadcastDims &broadcasts) {
    AttentionMatcher matcher(mix);
    if (std::optional<Obstacle> obstacle = matcher.match()) {
      miss(mix, *obstacle);
      if (matcher.softmax)
        explain(matcher.softmax.getInput());
      return;
    }
    unsigned replaced = matcher.between.size() + matcher.conversions.size() + 3;
    Location loc = mix.getLoc();
    if (matcher.kept)
      keep(matcher);
    AttentionOp attention = AttentionBuilder(matcher, broadcasts).build();
    remark::passed(loc, options("attention-fused"))
        << remark::metric("OperationsReplaced", replaced)
        << remark::metric("Captures", attention.getCaptures().size())
        << remark::metric("HasScoreRegion", !attention.getScore().empty())
        << remark::metric("HasMaskRegion", !attention.getMask().empty());
  }

  /// Says that a tensor of N x M is computed beside the attention.
  void keep(AttentionMatcher &matcher) {
    explain(matcher.softmax.getInput());
    remark::missed(matcher.kept->at->getLoc(), options("scores-kept"))
        << remark::reason("{0}: the scores are computed a second time, as a "
                          "tensor",
                          matcher.kept->reason)
        << remark::suggest("{0}", matcher.kept->fix);
  }

  /// Remembers the scores above a value as reported.
  void explain(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !explained.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      explain(operand);
  }

  void miss(Operation *op, const Obstacle &obstacle) {
    remark::missed(op->getLoc(), options("attention-not-fused"))
        << remark::reason("{0}", obstacle.reason)
        << remark::suggest("{0}", obstacle.fix);
    if (!failIfNotFused)
      return;
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected to become part of an attn.attention "
                                 "(because of fail-if-not-fused), but "
                              << obstacle.reason << ": " << obstacle.fix;
    if (obstacle.at && obstacle.at != op)
      diag.attachNote(obstacle.at->getLoc()) << "the obstacle is here";
    hasErrors = true;
  }

  remark::RemarkOpts options(StringRef name) {
    return remark::RemarkOpts::name(name)
        .category(DEBUG_TYPE)
        .function(getOperation().getSymName());
  }

  llvm::SmallPtrSet<Operation *, 8> explained;
  bool hasErrors = false;
};

} // namespace

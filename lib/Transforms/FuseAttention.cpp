//===- FuseAttention.cpp - attn-fuse-attention -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-fuse-attention: finds scores -> anything element-wise -> softmax -> mix
// by what the operations mean, not by a list of patterns. From each attn.mix it
// walks up to the attn.scores; everything between must depend on that score
// alone and be seen by nobody else, so that the score tensor need not exist.
// What stands in the way is said at the operation, with the way out.
//
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"
#include "Scalarize.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

#define DEBUG_TYPE "attn-fuse-attention"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNFUSEATTENTIONPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {

/// Why an attention was not fused: what stands in the way, where, and what a
/// user can do about it.
struct Obstacle {
  Operation *at = nullptr;
  std::string reason, fix;
};

/// What lies between one attn.scores and the attn.mix that uses it.
class AttentionMatcher {
public:
  explicit AttentionMatcher(MixOp mix) : mix(mix) {}

  /// Fills in the fields below. Returns what stands in the way, if anything.
  std::optional<Obstacle> match();

  MixOp mix;
  SoftmaxOp softmax;
  ScoresOp scores;
  /// The operations from the scores to the softmax, operands first.
  llvm::SetVector<Operation *> between;

private:
  bool dependsOnScores(Value value);
  std::optional<Obstacle> checkUsers(Operation *op);
  std::optional<Obstacle> checkHiddenStayHidden();
  Obstacle noScores();

  DenseMap<Value, bool> known;
  SmallVector<ScoresOp> roots;
};

} // namespace

/// "attn.softmax", for messages.
static std::string nameOf(Operation *op) {
  return op->getName().getStringRef().str();
}

/// Collects the operations on the way from an attn.scores to `value`. False if
/// the value does not depend on scores through operations that the score region
/// can hold.
bool AttentionMatcher::dependsOnScores(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool depends = false;
  if (auto root = dyn_cast_or_null<ScoresOp>(op)) {
    roots.push_back(root);
    depends = true;
  } else if (auto masked = dyn_cast_or_null<MaskOp>(op)) {
    depends = dependsOnScores(masked.getScores());
  } else if (auto biased = dyn_cast_or_null<BiasOp>(op)) {
    depends = dependsOnScores(biased.getScores());
  } else if (op && isElementwise(op)) {
    for (Value operand : op->getOperands())
      depends |= dependsOnScores(operand);
  }
  if (depends && !isa<ScoresOp>(op))
    between.insert(op);
  known[value] = depends;
  return depends;
}

std::optional<Obstacle> AttentionMatcher::match() {
  softmax = mix.getWeights().getDefiningOp<SoftmaxOp>();
  if (!softmax || softmax.getResult() != mix.getWeights())
    return Obstacle{mix, "the weights are not the result of an attn.softmax",
                    "normalise the scores by attn.softmax"};
  if (!dependsOnScores(softmax.getInput()))
    return noScores();
  if (roots.size() > 1)
    return Obstacle{roots[1], "two attn.scores meet in one softmax",
                    "compute one product of concatenated queries and keys"};
  scores = roots.front();
  if (scores.getLayout() != mix.getLayout())
    return Obstacle{scores,
                    "attn.scores has layout " +
                        stringifyLayout(scores.getLayout()).str() +
                        " and attn.mix has layout " +
                        stringifyLayout(mix.getLayout()).str(),
                    "use one layout for query, key and value"};
  if (auto obstacle = checkUsers(scores))
    return obstacle;
  Type scoreType = getElementTypeOrSelf(scores.getResult().getType());
  bool isNarrow = widenedType(scoreType) != scoreType;
  for (Operation *op : between) {
    if (auto obstacle = checkUsers(op))
      return obstacle;
    if (isa<arith::BitcastOp>(op) && isNarrow)
      return Obstacle{op,
                      "arith.bitcast reads the bits of a score, which has "
                      "others in f32",
                      "compute with numbers"};
  }
  for (Operation *user : softmax.getResult().getUsers())
    if (user != mix)
      return Obstacle{
          softmax,
          isa<func::ReturnOp>(user)
              ? "the attention weights are a result of the function"
              : "the attention weights are also used by " + nameOf(user),
          "use only the result of attn.mix, or ask attn.softmax for its second "
          "result, the log-sum-exp"};
  return checkHiddenStayHidden();
}

/// The scores and what is computed from them must be seen by nobody else.
std::optional<Obstacle> AttentionMatcher::checkUsers(Operation *op) {
  for (Operation *user : op->getUsers())
    if (user != softmax && !between.contains(user))
      return Obstacle{op,
                      isa<func::ReturnOp>(user)
                          ? "the result of " + nameOf(op) +
                                " is a result of the function"
                          : "the result of " + nameOf(op) +
                                " is also used by " + nameOf(user),
                      "compute what the other user needs from another "
                      "attn.scores"};
  return std::nullopt;
}

/// A hidden score is -inf. What follows a mask must keep it so: sums with
/// finite values, products with positive constants, further masks.
std::optional<Obstacle> AttentionMatcher::checkHiddenStayHidden() {
  llvm::SmallDenseSet<Value> masked;
  for (Operation *op : between) {
    bool keeps = isa<MaskOp, BiasOp, arith::AddFOp>(op);
    if (isa<arith::SubFOp, arith::MulFOp, arith::DivFOp>(op)) {
      Value other = op->getOperand(1);
      bool isLeft = masked.contains(op->getOperand(0));
      if (!isLeft && isa<arith::MulFOp>(op))
        other = op->getOperand(0);
      keeps = !masked.contains(other);
      if (!isa<arith::SubFOp>(op)) {
        auto factor = dyn_cast_or_null<FloatAttr>(splatElement(other));
        keeps &= factor && !factor.getValue().isNegative() &&
                 factor.getValue().isFiniteNonZero();
      }
    }
    bool usesMasked = llvm::any_of(op->getOperands(),
                                   [&](Value v) { return masked.contains(v); });
    if (usesMasked && !keeps)
      return Obstacle{op,
                      nameOf(op) +
                          " follows a mask and may make a hidden score visible",
                      "move it in front of the attn.mask"};
    if (usesMasked || isa<MaskOp>(op))
      masked.insert(op->getResult(0));
  }
  return std::nullopt;
}

/// Says which operation ends the way up from the softmax.
Obstacle AttentionMatcher::noScores() {
  Value value = softmax.getInput();
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<MaskOp, BiasOp>(op) && !isElementwise(op))
      return {op,
              "the softmax is not of attn.scores: " + nameOf(op) +
                  " is neither element-wise nor a mask or a bias",
              "apply it to the query, the key or a bias instead"};
    value = op->getOperand(0);
  }
  return {softmax, "the softmax is not of attn.scores but of an argument",
          "compute the scores by attn.scores"};
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// A score operation inside the score region. Every float is widened there, so
/// that a conversion between f32 and a narrower type is none.
static Value createInScore(OpBuilder &builder, Operation *op,
                           ValueRange operands) {
  Type type = widenedType(getElementTypeOrSelf(op->getResult(0).getType()));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && operands[0].getType() == type)
    return operands[0];
  return builder
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              op->getAttrs())
      ->getResult(0);
}

/// The value of an operand of a score operation inside the score region.
static Value operandInScore(OpOperand &operand, AttentionRegions &regions,
                            const IRMapping &inScore) {
  Value value = operand.get();
  if (Value mapped = inScore.lookupOrNull(value))
    return mapped;
  OpBuilder builder = regions.score.builder();
  Location loc = operand.getOwner()->getLoc();
  if (TypedAttr element = splatElement(value))
    return widen(builder, loc,
                 arith::ConstantOp::create(builder, loc, element));
  Value captured = regions.score.captured(regions.capture(value));
  if (!isa<RankedTensorType>(value.getType()))
    return widen(builder, loc, captured);
  return widen(
      builder, loc,
      extractBroadcast(builder, loc, captured, regions.score.position()));
}

/// 1 / sqrt(D), where attn.scores has no scale.
static Value defaultScale(OpBuilder &builder, ScoresOp scores) {
  auto query = cast<RankedTensorType>(scores.getQuery().getType());
  double scale = 1.0 / std::sqrt(static_cast<double>(query.getDimSize(3)));
  FloatType type = query.getElementType().isF64() ? builder.getF64Type()
                                                  : builder.getF32Type();
  return arith::ConstantOp::create(builder, scores.getLoc(),
                                   builder.getFloatAttr(type, scale));
}

/// Replaces a match by one attn.attention.
static AttentionOp fuse(AttentionMatcher &match) {
  MixOp mix = match.mix;
  ScoresOp scores = match.scores;
  OpBuilder builder(mix);
  Location loc = mix.getLoc();
  AttentionRegions regions(
      builder.getContext(), loc,
      widenedType(getElementTypeOrSelf(scores.getResult().getType())));

  unsigned sequence = sequenceDim(scores.getLayout());
  IRMapping inScore;
  inScore.map(scores.getResult(), regions.initialScore());
  for (Operation *op : match.between) {
    Value result;
    if (auto masked = dyn_cast<MaskOp>(op)) {
      result = inlineMask(
          builder, regions, masked, {scores.getQuery(), sequence},
          {scores.getKey(), sequence}, inScore.lookup(masked.getScores()));
    } else {
      SmallVector<Value> operands;
      for (OpOperand &operand : op->getOpOperands())
        operands.push_back(operandInScore(operand, regions, inScore));
      OpBuilder inRegion = regions.score.builder();
      result = isa<BiasOp>(op) ? arith::AddFOp::create(inRegion, op->getLoc(),
                                                       operands[0], operands[1])
                                     .getResult()
                               : createInScore(inRegion, op, operands);
    }
    inScore.map(op->getResult(0), result);
  }

  Value scale = scores.getScale();
  if (!scale)
    scale = defaultScale(builder, scores);
  Type lse = match.softmax.getLse() ? match.softmax.getLse().getType() : Type();
  auto attention = AttentionOp::create(
      builder, loc, mix.getResult().getType(), lse, scores.getQuery(),
      scores.getKey(), mix.getValue(), scale, regions.captures,
      mix.getLayoutAttr(), /*key_ranges=*/nullptr);
  regions.moveTo(attention, inScore.lookup(match.softmax.getInput()));

  mix.getResult().replaceAllUsesWith(attention.getResult());
  if (lse)
    match.softmax.getLse().replaceAllUsesWith(attention.getLse());
  mix.erase();
  match.softmax.erase();
  for (Operation *op : llvm::reverse(match.between))
    op->erase();
  scores.erase();
  return attention;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct AttnFuseAttentionPass final
    : attn::impl::AttnFuseAttentionPassBase<AttnFuseAttentionPass> {
  using AttnFuseAttentionPassBase::AttnFuseAttentionPassBase;

  void runOnOperation() override {
    SmallVector<MixOp> mixes;
    getOperation().walk([&](MixOp mix) { mixes.push_back(mix); });
    for (MixOp mix : mixes)
      visit(mix);
    // What no attn.mix has led to.
    getOperation().walk([&](ScoresOp scores) {
      if (!blamed.contains(scores))
        miss(scores, {scores, "no attn.mix uses the softmax of these scores",
                      "multiply the weights with the values by attn.mix"});
    });
    if (hasErrors)
      signalPassFailure();
  }

private:
  void visit(MixOp mix) {
    AttentionMatcher matcher(mix);
    if (std::optional<Obstacle> obstacle = matcher.match()) {
      miss(mix, *obstacle);
      if (matcher.softmax)
        blame(matcher.softmax.getInput());
      return;
    }
    unsigned replaced = matcher.between.size() + 3;
    AttentionOp attention = fuse(matcher);
    remark::passed(attention.getLoc(), options("attention-fused"))
        << remark::metric("OperationsReplaced", replaced)
        << remark::metric("Captures", attention.getCaptures().size())
        << remark::metric("HasScoreRegion", !attention.getScore().empty())
        << remark::metric("HasMaskRegion", !attention.getMask().empty());
  }

  /// Remembers the scores above a value as reported.
  void blame(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !blamed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      blame(operand);
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

  llvm::SmallPtrSet<Operation *, 8> blamed;
  bool hasErrors = false;
};

} // namespace

//===- AttentionMatcher.cpp - finds what becomes attn.attention *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AttentionMatcher.h"
#include "RuleInliner.h"
#include "Scalarize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

ScoreSource ScoreSource::of(Operation *op) {
  return llvm::TypeSwitch<Operation *, ScoreSource>(op)
      .Case<ScoresOp, AdditiveScoresOp>([](auto scores) {
        return ScoreSource{scores, scores.getQuery(), scores.getKey(),
                           scores.getLayout()};
      })
      .Default([](Operation *) { return ScoreSource(); });
}

/// "attn.softmax", for messages.
static std::string nameOf(Operation *op) {
  return op->getName().getStringRef().str();
}

/// The scores that a mask or a score rule changes, null for other operations.
static Value getChangedScores(Operation *op) {
  if (auto mask = dyn_cast_or_null<MaskOp>(op))
    return mask.getScores();
  return isScoreRule(op) ? op->getOperand(0) : Value();
}

/// Collects the operations on the way from the scores to `value`. False if the
/// value does not depend on scores through operations that the score region can
/// hold.
bool AttentionMatcher::dependsOnScores(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool isRoot = op && ScoreSource::of(op);
  bool depends = isRoot;
  if (isRoot) {
    roots.push_back(op);
  } else if (Value changed = getChangedScores(op)) {
    depends = dependsOnScores(changed);
  } else if (op && isElementwise(op)) {
    for (Value operand : op->getOperands())
      depends |= dependsOnScores(operand);
  }
  if (depends && !isRoot)
    between.insert(op);
  known[value] = depends;
  return depends;
}

/// Finds the softmax, behind conversions from and to narrower types.
void AttentionMatcher::matchWeights() {
  Value weights = mix.getWeights();
  while (Operation *op = weights.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    conversions.push_back(op);
    weights = op->getOperand(0);
  }
  softmax = weights.getDefiningOp<SoftmaxOp>();
  if (softmax && softmax.getResult() != weights)
    softmax = {};
}

std::optional<Obstacle> AttentionMatcher::match() {
  matchWeights();
  if (!softmax)
    return Obstacle{mix, "the weights are not the result of an attn.softmax",
                    "normalise the scores by attn.softmax"};
  if (!dependsOnScores(softmax.getInput()))
    return noScores();
  if (roots.size() > 1)
    return Obstacle{roots[1], "two attn.scores meet in one softmax",
                    "compute one product of concatenated queries and keys"};
  scores = ScoreSource::of(roots.front());
  if (scores.layout != mix.getLayout())
    return Obstacle{scores.op,
                    nameOf(scores.op) + " has layout " +
                        stringifyLayout(scores.layout).str() +
                        " and attn.mix has layout " +
                        stringifyLayout(mix.getLayout()).str(),
                    "use one layout for query, key and value"};
  auto element = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  if (getComputeType(element(scores.query)) !=
      getComputeType(element(mix.getValue()))) {
    Obstacle obstacle{scores.op, "",
                      "use f64 for all of query, key and value, or for none"};
    llvm::raw_string_ostream(obstacle.reason)
        << nameOf(scores.op) << " reads " << element(scores.query)
        << " and attn.mix reads " << element(mix.getValue());
    return obstacle;
  }
  // Scores of 16 bits are f32 inside.
  for (Operation *op : between)
    if (isa<arith::BitcastOp>(op) &&
        element(op->getOperand(0)).getIntOrFloatBitWidth() == 16)
      return Obstacle{op,
                      "arith.bitcast reads the bits of a score of 16 bits, "
                      "which is one of 32 bits here",
                      "compute with numbers"};
  if (auto obstacle = checkHiddenStayHidden())
    return obstacle;
  if (auto obstacle = checkOrder())
    return obstacle;
  findOtherUsers();
  scores.query = asStored(scores.query);
  scores.key = asStored(scores.key);
  value = asStored(mix.getValue());
  return std::nullopt;
}

Value AttentionMatcher::asStored(Value tensor) {
  auto wide = tensor.getDefiningOp<arith::ExtFOp>();
  if (!wide || !isHalf(wide.getIn().getType()) ||
      !getElementTypeOrSelf(tensor.getType()).isF32())
    return tensor;
  widened.insert(wide);
  return wide.getIn();
}

/// Notes the first operation whose result is used by others than the chain.
void AttentionMatcher::findOtherUsers() {
  SmallVector<Operation *> chain = {scores.op};
  llvm::append_range(chain, between);
  chain.push_back(softmax);
  llvm::append_range(chain, llvm::reverse(conversions));
  for (Operation *op : chain)
    for (Operation *user : op->getResult(0).getUsers()) {
      // Another mix has an attention of its own.
      if (isa<MixOp>(user) || llvm::is_contained(chain, user))
        continue;
      std::string what = op == softmax ? std::string("the attention weights")
                                       : "the result of " + nameOf(op);
      kept = {op,
              isa<func::ReturnOp>(user)
                  ? what + (op == softmax ? " are" : " is") +
                        " a result of the function"
                  : what + (op == softmax ? " are" : " is") + " also used by " +
                        nameOf(user),
              "use only the result of attn.mix, or ask attn.softmax for its "
              "second result, the log-sum-exp"};
      return;
    }
}

/// The attention takes the place of the mix, and the log-sum-exp moves there.
/// No value may be computed from a log-sum-exp that it gives.
std::optional<Obstacle> AttentionMatcher::checkOrder() {
  if (!softmax.getLse() || softmax.getLse().use_empty())
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> toVisit(mix->getOperands().drop_front());
  while (!toVisit.empty()) {
    Operation *op = toVisit.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (op == softmax)
      return Obstacle{mix, "the values depend on the log-sum-exp",
                      "compute the values from other operations"};
    llvm::append_range(toVisit, op->getOperands());
  }
  return std::nullopt;
}

/// A hidden score is -inf. What follows a mask must keep it so: further masks,
/// score rules, sums with finite values, products with positive constants.
std::optional<Obstacle> AttentionMatcher::checkHiddenStayHidden() {
  llvm::SmallDenseSet<Value> masked;
  for (Operation *op : between) {
    bool keeps = getChangedScores(op) ||
                 isa<arith::AddFOp, arith::ExtFOp, arith::TruncFOp>(op);
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
    if (!getChangedScores(op) && !isElementwise(op))
      return {op,
              "the softmax is not of attn.scores: " + nameOf(op) +
                  " is neither element-wise nor a rule of scores",
              "apply it to the query, the key or a bias instead"};
    value = op->getOperand(0);
  }
  return {softmax, "the softmax is not of attn.scores but of an argument",
          "compute the scores by attn.scores"};
}

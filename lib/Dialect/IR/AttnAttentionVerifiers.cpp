//===- AttnAttentionVerifiers.cpp - checks of attention ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The labels are those of the constraints in AttnOps.td. What a trait or a type
// constraint says there is not checked here again.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Ties the tensor whose channels are those of all heads.
static void tieFlat(ShapeChecker &checker, StringRef value,
                    RankedTensorType type, Layout layout) {
  if (layout == Layout::SBHD)
    checker.tie(value, type.getShape(), {"S", "B", ""});
  else
    checker.tie(value, type.getShape(), {"B", "S", ""});
}

/// Verifies that `flat` has H * D channels.
static void checkChannels(ShapeChecker &checker, StringRef flat,
                          int64_t flatChannels) {
  int64_t heads = checker.size("H"), channels = checker.size("D");
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(channels))
    return; // Reported where they were tied.
  uint64_t total = llvm::SaturatingMultiply<uint64_t>(heads, channels);
  if (ShapedType::isDynamic(flatChannels))
    checker.error() << "expected a static number of channels in " << flat
                    << " (because it is H * D = " << total
                    << "), got a dynamic one";
  else if (uint64_t(flatChannels) != total)
    checker.error() << "expected " << total << " channels in " << flat
                    << " (because H * D = " << heads << " * " << channels
                    << "), got " << flatChannels;
}

LogicalResult SplitHeadsOp::verify() {
  ShapeChecker checker(*this, {"H", "D"}, headsAreCompiledIn);
  // split_heads_c1, split_heads_c3
  tieFlat(checker, "input", getInput().getType(), getLayout());
  checker.tieHeads("result", getResult().getType().getShape(), getLayout(), "S",
                   "H", "D");
  int64_t heads = checker.size("H");
  // split_heads_c1, split_heads_c2
  if (!ShapedType::isDynamic(heads) && heads != int64_t(getHeads()))
    checker.error() << "expected H = " << getHeads()
                    << " in result (because heads is " << getHeads()
                    << "), got " << heads;
  else
    checkChannels(checker, "input", getInput().getType().getDimSize(2));
  // split_heads_c4
  checker.sameElement("result", getResult().getType(), "input",
                      getInput().getType());
  return checker.result();
}

LogicalResult MergeHeadsOp::verify() {
  ShapeChecker checker(*this, {"H", "D"}, headsAreCompiledIn);
  // merge_heads_c1, merge_heads_c2
  checker.tieHeads("input", getInput().getType().getShape(), getLayout(), "S",
                   "H", "D");
  tieFlat(checker, "result", getResult().getType(), getLayout());
  checkChannels(checker, "result", getResult().getType().getDimSize(2));
  // merge_heads_c3
  checker.sameElement("result", getResult().getType(), "input",
                      getInput().getType());
  return checker.result();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Verifies what all scores have in common: (B, N, H, D) and (B, M, G, D) give
/// (B, H, N, M), of the queries' type.
template <typename OpTy>
static void checkScores(ShapeChecker &checker, OpTy op) {
  checker.tieHeads("query", op.getQuery().getType().getShape(), op.getLayout(),
                   "N", "H", "D");
  checker.tieHeads("key", op.getKey().getType().getShape(), op.getLayout(), "M",
                   "G", "D");
  checker.tie("result", op.getResult().getType().getShape(),
              {"B", "H", "N", "M"});
  checker.headsShare("H", "G", "key");
  checker.sameComputeType("key", op.getKey().getType(), "query",
                          op.getQuery().getType());
  checker.sameElement("result", op.getResult().getType(), "query",
                      op.getQuery().getType());
}

LogicalResult ScoresOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D"}, headsAreCompiledIn);
  // scores_c1, scores_c2, scores_c3, scores_c5
  checkScores(checker, *this);
  // scores_c4
  Type element = getQuery().getType().getElementType();
  if (getScale() && getScale().getType() != getComputeType(element))
    checker.error() << "expected a scale of type " << getComputeType(element)
                    << " (because query has element type " << element
                    << "), got " << getScale().getType();
  // scores_c5
  if (getRelative())
    checker.sameElement("relative", getRelative().getType(), "query",
                        getQuery().getType());
  // scores_c6, scores_c7
  checker.relative(getRelative(), getAlignment(), getOffsets(), "D");
  return checker.result();
}

LogicalResult AdditiveScoresOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D"}, headsAreCompiledIn);
  // additive_scores_c1, additive_scores_c2, additive_scores_c3,
  // additive_scores_c4
  checkScores(checker, *this);
  RankedTensorType vector = getVector().getType();
  if (vector.getRank() == 1)
    checker.tie("vector", vector.getShape(), {"D"});
  else
    checker.tie("vector", vector.getShape(), {"H", "D"});
  checker.sameElement("vector", vector, "query", getQuery().getType());
  return checker.result();
}

LogicalResult MaskOp::verify() {
  ShapeChecker checker(*this);
  ArrayRef<int64_t> scores = getScores().getType().getShape();
  checker.tie("scores", scores, {"B", "H", "N", "M"});
  SmallVector<MaskInput> expected = getMaskInputs(getRule());
  // mask_c1
  if (getInputs().size() != expected.size()) {
    InFlightDiagnostic diagnostic = checker.error();
    diagnostic << "expected " << expected.size() << " inputs (because rule "
               << getRule() << " reads ";
    if (expected.empty())
      diagnostic << "none";
    llvm::interleaveComma(expected, diagnostic, [&](const MaskInput &input) {
      if (input.letters.empty())
        diagnostic << "a mask that broadcasts to (B, H, N, M)";
      else
        diagnostic << input.types << " of shape ("
                   << llvm::join(input.letters, ", ") << ")";
    });
    diagnostic << "), got " << getInputs().size();
    return checker.result();
  }
  for (auto [index, input, value] : llvm::enumerate(expected, getInputs())) {
    auto type = cast<RankedTensorType>(value.getType());
    std::string name = "input " + std::to_string(index);
    // mask_c2
    if (input.letters.empty())
      checker.broadcasts(name, type.getShape(), scores, /*shortLast=*/true);
    else
      checker.tie(
          name, type.getShape(),
          SmallVector<std::string>(input.letters.begin(), input.letters.end()));
    // mask_c3
    if (!input.accepts(type.getElementType()))
      checker.error() << "expected element type " << input.types << " in "
                      << name << " (because rule " << input.rule
                      << " reads that), got " << type.getElementType();
    // mask_c5
    else if (isa<DenseMaskAttr>(input.rule) && input.rule != getRule() &&
             isa<FloatType>(type.getElementType()))
      checker.error() << "expected element type i1 in " << name
                      << " (because a composition shows or hides and adds "
                         "nothing), got "
                      << type.getElementType()
                      << ": apply the dense rule by an attn.mask of its own";
    // mask_c3
    if (isa<SegmentsAttr>(input.rule) && input.letters.back() == "M" &&
        type.getElementType() !=
            getElementTypeOrSelf(getInputs()[index - 1].getType()))
      checker.sameElement(name, type, "input " + std::to_string(index - 1),
                          getInputs()[index - 1].getType());
  }
  return checker.result();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // softmax_c1
  if (input.getRank() == 0) {
    checker.error() << "expected input of rank 1 or more (because softmax runs "
                       "over the last dimension), got rank 0";
    return checker.result();
  }
  // softmax_c4
  if (getSinks()) {
    checker.tie("input", input.getShape(), {"B", "H", "N", "M"});
    checker.tie("sinks", getSinks().getType().getShape(), {"H"});
  }
  int64_t leading = input.getRank() - 1;
  checker.tie("input", input.getShape(), leadingAnd(leading, {"M"}));
  checker.tie("result", getResult().getType().getShape(),
              leadingAnd(leading, {"M"}));
  // softmax_c3
  checker.sameElement("result", getResult().getType(), "input", input);
  if (!getLse())
    return checker.result();
  // softmax_c2
  auto lse = cast<RankedTensorType>(getLse().getType());
  checker.tie("lse", lse.getShape(), leadingAnd(leading, {}));
  // softmax_c3
  checker.computeType("lse", lse, "input", input);
  return checker.result();
}

LogicalResult MixOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D"}, headsAreCompiledIn);
  // mix_c1, mix_c3
  checker.tie("weights", getWeights().getType().getShape(),
              {"B", "H", "N", "M"});
  checker.tieHeads("value", getValue().getType().getShape(), getLayout(), "M",
                   "G", "D");
  checker.tieHeads("result", getResult().getType().getShape(), getLayout(), "N",
                   "H", "D");
  // mix_c2
  checker.headsShare("H", "G", "value");
  // mix_c4
  checker.sameComputeType("value", getValue().getType(), "weights",
                          getWeights().getType());
  checker.sameElement("result", getResult().getType(), "weights",
                      getWeights().getType());
  if (getRelative())
    checker.sameElement("relative", getRelative().getType(), "weights",
                        getWeights().getType());
  // mix_c5, mix_c6
  checker.relative(getRelative(), getAlignment(), getOffsets(), "D");
  return checker.result();
}

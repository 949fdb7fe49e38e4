//===- AttnVerifiers.cpp - checks of the graph operations -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The labels are those of the constraints in AttnOps.td and AttnLayerOps.td.
// What a trait or a type constraint says there is not checked here again.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static constexpr StringRef headsAreCompiledIn =
    "the number and the size of heads are compiled in";

/// The letters of a head-split tensor in a layout.
static SmallVector<std::string> inLayout(Layout layout, StringRef sequence,
                                         StringRef heads, StringRef channels) {
  if (layout == Layout::BSHD)
    return {"B", sequence.str(), heads.str(), channels.str()};
  return {"B", heads.str(), sequence.str(), channels.str()};
}

/// Names for the leading dimensions of a tensor of any rank, then `last`.
static SmallVector<std::string> leadingAnd(int64_t leading,
                                           ArrayRef<StringRef> last) {
  SmallVector<std::string> letters;
  for (int64_t dim = 0; dim < leading; ++dim)
    letters.push_back("dimension " + std::to_string(dim));
  for (StringRef letter : last)
    letters.push_back(letter.str());
  return letters;
}

/// Verifies that `operand` broadcasts to the scores by NumPy's rule.
static void checkBroadcast(ShapeChecker &checker, StringRef name,
                           ArrayRef<int64_t> shape, ArrayRef<int64_t> scores) {
  static constexpr StringRef letters[] = {"B", "H", "N", "M"};
  if (shape.size() > scores.size()) {
    checker.error() << "expected " << name
                    << " of rank 4 or less (because it broadcasts to (B, H, N, "
                       "M)), got rank "
                    << shape.size();
    return;
  }
  size_t skipped = scores.size() - shape.size();
  for (auto [index, size] : llvm::enumerate(shape)) {
    int64_t expected = scores[skipped + index];
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(expected) ||
        size == 1 || size == expected)
      continue;
    checker.error() << "expected " << letters[skipped + index] << " = "
                    << expected << " or 1 in " << name
                    << " (because it broadcasts to the scores), got " << size;
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult SplitHeadsOp::verify() {
  ShapeChecker checker(*this, {"H", "D"}, headsAreCompiledIn);
  // split_heads_c1, split_heads_c3
  checker.tie("input", getInput().getType().getShape(), {"B", "S", ""});
  checker.tie("result", getResult().getType().getShape(),
              inLayout(getLayout(), "S", "H", "D"));
  int64_t heads = checker.size("H"), channels = checker.size("D");
  int64_t inputChannels = getInput().getType().getDimSize(2);
  if (!ShapedType::isDynamic(heads) && heads != int64_t(getHeads()))
    checker.error() << "expected H = " << getHeads()
                    << " in result (because heads is " << getHeads()
                    << "), got " << heads;
  // split_heads_c2
  else if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(channels)) {
    uint64_t total = llvm::SaturatingMultiply<uint64_t>(heads, channels);
    if (ShapedType::isDynamic(inputChannels))
      checker.error() << "expected a static number of channels in input "
                         "(because it is H * D = "
                      << total << "), got a dynamic one";
    else if (uint64_t(inputChannels) != total)
      checker.error() << "expected " << total
                      << " channels in input (because H * D = " << heads
                      << " * " << channels << "), got " << inputChannels;
  }
  // split_heads_c4
  checker.sameElement("result", getResult().getType(), "input",
                      getInput().getType());
  return checker.result();
}

LogicalResult MergeHeadsOp::verify() {
  ShapeChecker checker(*this, {"H", "D"}, headsAreCompiledIn);
  // merge_heads_c1, merge_heads_c2
  checker.tie("input", getInput().getType().getShape(),
              inLayout(getLayout(), "S", "H", "D"));
  checker.tie("result", getResult().getType().getShape(), {"B", "S", ""});
  int64_t heads = checker.size("H"), channels = checker.size("D");
  int64_t resultChannels = getResult().getType().getDimSize(2);
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(channels)) {
    uint64_t total = llvm::SaturatingMultiply<uint64_t>(heads, channels);
    if (ShapedType::isDynamic(resultChannels))
      checker.error() << "expected a static number of channels in result "
                         "(because it is H * D = "
                      << total << "), got a dynamic one";
    else if (uint64_t(resultChannels) != total)
      checker.error() << "expected " << total
                      << " channels in result (because H * D = " << heads
                      << " * " << channels << "), got " << resultChannels;
  }
  // merge_heads_c3
  checker.sameElement("result", getResult().getType(), "input",
                      getInput().getType());
  return checker.result();
}

LogicalResult ScoresOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D"}, headsAreCompiledIn);
  // scores_c1, scores_c3
  checker.tie("query", getQuery().getType().getShape(),
              inLayout(getLayout(), "N", "H", "D"));
  checker.tie("key", getKey().getType().getShape(),
              inLayout(getLayout(), "M", "G", "D"));
  checker.tie("result", getResult().getType().getShape(), {"B", "H", "N", "M"});
  // scores_c2
  checker.headsShare("H", "G", "key");
  // scores_c4
  Type element = getQuery().getType().getElementType();
  if (getScale() && getScale().getType() != getComputeType(element))
    checker.error() << "expected a scale of type " << getComputeType(element)
                    << " (because query has element type " << element
                    << "), got " << getScale().getType();
  // scores_c5
  checker.sameElement("key", getKey().getType(), "query", getQuery().getType());
  checker.sameElement("result", getResult().getType(), "query",
                      getQuery().getType());
  return checker.result();
}

namespace {
/// A row of the table of mask rules.
struct RuleOperand {
  /// Letters of the operand's dimensions; none for a rule without operand.
  SmallVector<std::string> letters;
  /// Whether an element type will do, and the words for those that will.
  bool (*accepts)(Type);
  StringRef types;
};
} // namespace

static bool isI64(Type type) { return type.isInteger(64); }
static bool isI32OrI64(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}
static bool isIntOrBool(Type type) {
  return type.isInteger(1) || type.isInteger(8) || isI32OrI64(type);
}

static RuleOperand getRuleOperand(Attribute rule) {
  auto offset = [](Alignment alignment) {
    if (alignment == Alignment::Offset)
      return RuleOperand{{"B"}, isI64, "i64"};
    return RuleOperand{{}, isI64, ""};
  };
  return TypeSwitch<Attribute, RuleOperand>(rule)
      .Case<CausalAttr>(
          [&](CausalAttr causal) { return offset(causal.getAlignment()); })
      .Case<WindowAttr>(
          [&](WindowAttr window) { return offset(window.getAlignment()); })
      .Case<KeyLengthsAttr>([](KeyLengthsAttr) {
        return RuleOperand{{"B"}, isI32OrI64, "i32 or i64"};
      })
      .Default([](Attribute) {
        return RuleOperand{{"B", "M"}, isIntOrBool, "i1, i8, i32 or i64"};
      });
}

LogicalResult MaskOp::verify() {
  ShapeChecker checker(*this);
  ArrayRef<int64_t> scores = getScores().getType().getShape();
  checker.tie("scores", scores, {"B", "H", "N", "M"});

  if (isa<DenseMaskAttr>(getRule())) {
    // mask_c1
    if (!getOperand()) {
      checker.error() << "expected an operand (because rule dense reads a mask "
                         "that broadcasts to (B, H, N, M)), got none";
      return checker.result();
    }
    auto type = cast<RankedTensorType>(getOperand().getType());
    // mask_c2
    checkBroadcast(checker, "operand", type.getShape(), scores);
    // mask_c3
    Type element = getScores().getType().getElementType();
    if (!type.getElementType().isInteger(1) && type.getElementType() != element)
      checker.error() << "expected element type i1 or " << element
                      << " in operand (because rule dense reads that), got "
                      << type.getElementType();
    return checker.result();
  }

  RuleOperand expected = getRuleOperand(getRule());
  // mask_c1
  if (expected.letters.empty()) {
    if (getOperand())
      checker.error() << "expected no operand (because rule " << getRule()
                      << " reads none), got one of type "
                      << getOperand().getType();
    return checker.result();
  }
  if (!getOperand()) {
    checker.error() << "expected an operand (because rule " << getRule()
                    << " reads " << expected.types << " of shape ("
                    << llvm::join(expected.letters, ", ") << ")), got none";
    return checker.result();
  }
  auto type = cast<RankedTensorType>(getOperand().getType());
  // mask_c2
  checker.tie("operand", type.getShape(), expected.letters);
  // mask_c3
  if (!expected.accepts(type.getElementType()))
    checker.error() << "expected element type " << expected.types
                    << " in operand (because rule " << getRule()
                    << " reads that), got " << type.getElementType();
  return checker.result();
}

LogicalResult BiasOp::verify() {
  ShapeChecker checker(*this);
  // bias_c1
  checkBroadcast(checker, "bias", getBias().getType().getShape(),
                 getScores().getType().getShape());
  // bias_c2
  checker.sameElement("bias", getBias().getType(), "scores",
                      getScores().getType());
  return checker.result();
}

LogicalResult SoftmaxOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // softmax_c1
  if (input.getRank() == 0) {
    checker.error() << "expected input of rank 1 or more (because softmax runs "
                       "over the last dimension), got rank 0";
    return checker.result();
  }
  int64_t leading = input.getRank() - 1;
  checker.tie("input", input.getShape(), leadingAnd(leading, {"M"}));
  checker.tie("result", getResult().getType().getShape(),
              leadingAnd(leading, {"M"}));
  // softmax_c3
  checker.sameElement("result", getResult().getType(), "input", input);
  if (!getLse())
    return checker.result();
  auto lse = cast<RankedTensorType>(getLse().getType());
  // softmax_c2
  checker.tie("lse", lse.getShape(), leadingAnd(leading, {}));
  Type expected = getComputeType(input.getElementType());
  if (lse.getElementType() != expected)
    checker.error() << "expected element type " << expected
                    << " in lse (because input has " << input.getElementType()
                    << "), got " << lse.getElementType();
  return checker.result();
}

LogicalResult MixOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D"}, headsAreCompiledIn);
  // mix_c1, mix_c3
  checker.tie("weights", getWeights().getType().getShape(),
              {"B", "H", "N", "M"});
  checker.tie("value", getValue().getType().getShape(),
              inLayout(getLayout(), "M", "G", "D"));
  checker.tie("result", getResult().getType().getShape(),
              inLayout(getLayout(), "N", "H", "D"));
  // mix_c2
  checker.headsShare("H", "G", "value");
  // mix_c4
  checker.sameElement("value", getValue().getType(), "weights",
                      getWeights().getType());
  checker.sameElement("result", getResult().getType(), "weights",
                      getWeights().getType());
  return checker.result();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // linear_c1
  if (input.getRank() == 0) {
    checker.error() << "expected input of rank 1 or more (because its last "
                       "dimension is K), got rank 0";
    return checker.result();
  }
  int64_t leading = input.getRank() - 1;
  checker.tie("input", input.getShape(), leadingAnd(leading, {"K"}));
  checker.tie("weight", getWeight().getType().getShape(), {"N", "K"});
  // linear_c2
  if (getBias())
    checker.tie("bias", getBias().getType().getShape(), {"N"});
  // linear_c3
  checker.tie("result", getResult().getType().getShape(),
              leadingAnd(leading, {"N"}));
  // linear_c4
  checker.sameElement("weight", getWeight().getType(), "input", input);
  if (getBias())
    checker.sameElement("bias", getBias().getType(), "input", input);
  checker.sameElement("result", getResult().getType(), "input", input);
  return checker.result();
}

LogicalResult LayerNormOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // layer_norm_c1
  if (input.getRank() == 0) {
    checker.error() << "expected input of rank 1 or more (because rows of the "
                       "last dimension are normalised), got rank 0";
    return checker.result();
  }
  checker.tie("input", input.getShape(),
              leadingAnd(input.getRank() - 1, {"D"}));
  checker.tie("gamma", getGamma().getType().getShape(), {"D"});
  checker.tie("beta", getBeta().getType().getShape(), {"D"});
  // layer_norm_c2
  checker.epsilon(getEpsilon());
  // layer_norm_c3
  checker.sameElement("gamma", getGamma().getType(), "input", input);
  checker.sameElement("beta", getBeta().getType(), "input", input);
  return checker.result();
}

LogicalResult EmbeddingOp::verify() {
  ShapeChecker checker(*this);
  int64_t rank = getIds().getType().getRank();
  // embedding_c1
  checker.tie("ids", getIds().getType().getShape(), leadingAnd(rank, {}));
  checker.tie("table", getTable().getType().getShape(), {"V", "D"});
  checker.tie("result", getResult().getType().getShape(),
              leadingAnd(rank, {"D"}));
  // embedding_c2
  checker.sameElement("result", getResult().getType(), "table",
                      getTable().getType());
  return checker.result();
}

LogicalResult LearnedPositionsOp::verify() {
  ShapeChecker checker(*this);
  // learned_positions_c1
  checker.tie("input", getInput().getType().getShape(), {"B", "S", "D"});
  checker.tie("table", getTable().getType().getShape(), {"P", "D"});
  // learned_positions_c2
  int64_t first = getFirst(), length = checker.size("S"),
          positions = checker.size("P");
  if (first < 0)
    checker.error() << "expected first >= 0 (because it is a row of the "
                       "table), got "
                    << first;
  else if (!ShapedType::isDynamic(length) &&
           !ShapedType::isDynamic(positions) &&
           (first > positions || length > positions - first))
    checker.error() << "expected S + first <= P = " << positions
                    << " (because the table has one row a position), got S = "
                    << length << " and first = " << first;
  // learned_positions_c3
  checker.sameElement("table", getTable().getType(), "input",
                      getInput().getType());
  return checker.result();
}

LogicalResult SinusoidalOp::verify() {
  ShapeChecker checker(*this, {"D"}, "each channel pair has its frequency");
  // sinusoidal_c1
  checker.tie("input", getInput().getType().getShape(), {"B", "S", "D"});
  int64_t channels = checker.size("D");
  if (!ShapedType::isDynamic(channels) && channels % 2 != 0)
    checker.error() << "expected an even D (because channels come in pairs of "
                       "sine and cosine), got "
                    << channels;
  // sinusoidal_c2
  double base = getBase().convertToDouble();
  if (!(base > 0.0) || getBase().isInfinity())
    checker.error() << "expected a finite base > 0, got " << base;
  return checker.result();
}

LogicalResult PoolOp::verify() {
  ShapeChecker checker(*this);
  // pool_c1, pool_c2
  checker.tie("input", getInput().getType().getShape(), {"B", "S", "D"});
  if (getMask())
    checker.tie("mask", getMask().getType().getShape(), {"B", "S"});
  checker.tie("result", getResult().getType().getShape(), {"B", "D"});
  // pool_c3
  checker.sameElement("result", getResult().getType(), "input",
                      getInput().getType());
  return checker.result();
}

LogicalResult L2NormalizeOp::verify() {
  ShapeChecker checker(*this);
  // l2_normalize_c1
  if (getInput().getType().getRank() == 0)
    checker.error() << "expected input of rank 1 or more (because rows of the "
                       "last dimension are normalised), got rank 0";
  // l2_normalize_c2
  checker.epsilon(getEpsilon());
  return checker.result();
}

LogicalResult PackOp::verify() {
  ShapeChecker checker(*this, {"N", "K", "panels", "panel"},
                       "packed weights are laid out ahead of time");
  // pack_c1
  checker.tie("weight", getWeight().getType().getShape(), {"N", "K"});
  checker.tie("result", getResult().getType().getShape(),
              {"panels", "K", "panel"});
  int64_t channels = checker.size("N"), panels = checker.size("panels"),
          panel = checker.size("panel"), expected = getPanel();
  if (!ShapedType::isDynamic(panel) && panel != expected)
    checker.error() << "expected panel = " << expected
                    << " in result (because panel is " << expected << "), got "
                    << panel;
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(panels) &&
      panels != llvm::divideCeilSigned(channels, expected))
    checker.error() << "expected " << llvm::divideCeilSigned(channels, expected)
                    << " panels in result (because N = " << channels
                    << " channels fill that many of " << expected << "), got "
                    << panels;
  // pack_c2
  checker.sameElement("result", getResult().getType(), "weight",
                      getWeight().getType());
  return checker.result();
}

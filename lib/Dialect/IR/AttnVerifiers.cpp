//===- AttnVerifiers.cpp - checks of layers ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The labels are those of the constraints in AttnLayerOps.td. What a trait or a
// type constraint says there is not checked here again.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

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

/// Rows of D elements, and a gain for each. False if there are no rows.
static bool checkNormRows(ShapeChecker &checker, RankedTensorType input,
                          RankedTensorType gamma) {
  if (input.getRank() == 0) {
    checker.error() << "expected input of rank 1 or more (because rows of the "
                       "last dimension are normalised), got rank 0";
    return false;
  }
  checker.tie("input", input.getShape(),
              leadingAnd(input.getRank() - 1, {"D"}));
  checker.tie("gamma", gamma.getShape(), {"D"});
  return true;
}

LogicalResult LayerNormOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // layer_norm_c1
  if (!checkNormRows(checker, input, getGamma().getType()))
    return checker.result();
  checker.tie("beta", getBeta().getType().getShape(), {"D"});
  // layer_norm_c2
  checker.epsilon(getEpsilon());
  // layer_norm_c3
  checker.sameElement("gamma", getGamma().getType(), "input", input);
  checker.sameElement("beta", getBeta().getType(), "input", input);
  return checker.result();
}

LogicalResult RmsNormOp::verify() {
  ShapeChecker checker(*this);
  RankedTensorType input = getInput().getType();
  // rms_norm_c1
  if (!checkNormRows(checker, input, getGamma().getType()))
    return checker.result();
  // rms_norm_c2
  checker.epsilon(getEpsilon());
  // rms_norm_c3
  checker.sameElement("gamma", getGamma().getType(), "input", input);
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

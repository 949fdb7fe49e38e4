//===- AttnScoreVerifiers.cpp - checks of score rules and caches *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The labels are those of the constraints in AttnScoreOps.td and
// AttnCacheOps.td.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Score rules
//===----------------------------------------------------------------------===//

LogicalResult BiasOp::verify() {
  ShapeChecker checker(*this);
  // bias_c1
  checker.broadcasts("bias", getBias().getType().getShape(),
                     getScores().getType().getShape());
  // bias_c2
  checker.sameComputeType("bias", getBias().getType(), "scores",
                          getScores().getType());
  return checker.result();
}

LogicalResult SoftcapOp::verify() {
  ShapeChecker checker(*this);
  // softcap_c1
  checker.computeType("cap", getCap().getType(), "scores",
                      getScores().getType());
  // softcap_c2
  APFloat cap(0.0);
  if (matchPattern(getCap(), m_ConstantFloat(&cap)) &&
      (!cap.isFiniteNonZero() || cap.isNegative()))
    checker.error() << "expected a finite cap > 0 (because scores are divided "
                       "by it), got "
                    << cap.convertToDouble();
  return checker.result();
}

LogicalResult AlibiOp::verify() {
  ShapeChecker checker(*this, {"H"}, "each head has its slope");
  // alibi_c1
  checker.tie("scores", getScores().getType().getShape(), {"B", "H", "N", "M"});
  if (getSlopes())
    checker.tie("slopes", getSlopes().getType().getShape(), {"H"});
  // alibi_c2
  checker.alignment(getAlignment(), getOffsets());
  return checker.result();
}

LogicalResult T5BiasOp::verify() {
  ShapeChecker checker(*this, {"buckets", "H"},
                       "the bucket of each distance is compiled in");
  // t5_bias_c2
  checker.tie("scores", getScores().getType().getShape(), {"B", "H", "N", "M"});
  checker.tie("table", getTable().getType().getShape(), {"buckets", "H"});
  // t5_bias_c1
  int64_t buckets = checker.size("buckets");
  int64_t sides = getBidirectional() ? 2 : 1;
  if (!ShapedType::isDynamic(buckets) &&
      (buckets < 2 * sides || buckets % sides != 0 || buckets > 1024)) {
    checker.error() << "expected "
                    << (getBidirectional() ? "an even number from 4 to 1024 of"
                                           : "2 to 1024")
                    << " buckets in table (because each side has near and far "
                       "ones), got "
                    << buckets;
  } else if (!ShapedType::isDynamic(buckets)) {
    // t5_bias_c3
    int64_t exact = buckets / sides / 2;
    int64_t farthest = getMaxDistance();
    if (farthest <= exact || farthest > 65536)
      checker.error() << "expected a max_distance from " << exact + 1
                      << " to 65536 (because distances below " << exact
                      << " have a bucket each), got " << farthest;
  }
  // t5_bias_c4
  checker.sameElement("table", getTable().getType(), "scores",
                      getScores().getType());
  // t5_bias_c5
  checker.alignment(getAlignment(), getOffsets());
  return checker.result();
}

//===----------------------------------------------------------------------===//
// Positions and caches
//===----------------------------------------------------------------------===//

LogicalResult RotaryOp::verify() {
  ShapeChecker checker(*this, {"H", "D", "R/2"},
                       "the pairs of channels are compiled in");
  // rotary_c1
  checker.tieHeads("input", getInput().getType().getShape(), getLayout(), "S",
                   "H", "D");
  // rotary_c2, rotary_c3
  for (auto [name, table] : {std::pair("cos", getCos()), {"sin", getSin()}}) {
    ArrayRef<int64_t> shape = table.getType().getShape();
    if (getPositions())
      checker.tie(name, shape, {"P", "R/2"});
    else if (shape.size() == 2)
      checker.tie(name, shape, {"S", "R/2"});
    else
      checker.tie(name, shape, {shape[0] == 1 ? "" : "B", "S", "R/2"});
  }
  if (getPositions()) {
    ArrayRef<int64_t> shape = getPositions().getType().getShape();
    checker.tie("positions", shape, {shape[0] == 1 ? "" : "B", "S"});
  }
  // rotary_c2
  if (getCos().getType().getShape() != getSin().getType().getShape())
    checker.error() << "expected cos and sin of one shape, got "
                    << getCos().getType() << " and " << getSin().getType();
  // rotary_c1
  int64_t channels = checker.size("D"), pairs = checker.size("R/2");
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(pairs) &&
      pairs > channels / 2)
    checker.error() << "expected R / 2 <= " << channels / 2
                    << " in cos and sin (because D = " << channels
                    << " channels hold that many pairs), got " << pairs;
  return checker.result();
}

LogicalResult CacheAppendOp::verify() {
  ShapeChecker checker(*this);
  // cache_append_c1
  checker.tieHeads("cache", getCache().getType().getShape(), getLayout(), "C",
                   "G", "D");
  checker.tieHeads("update", getUpdate().getType().getShape(), getLayout(), "S",
                   "G", "D");
  checker.tie("length", getLength().getType().getShape(), {"B"});
  // cache_append_c2
  int64_t room = checker.size("C"), added = checker.size("S");
  if (!ShapedType::isDynamic(room) && !ShapedType::isDynamic(added) &&
      added > room)
    checker.error() << "expected S <= C = " << room
                    << " in update (because the cache has room for that many "
                       "positions), got "
                    << added;
  // cache_append_c3
  checker.sameElement("update", getUpdate().getType(), "cache",
                      getCache().getType());
  return checker.result();
}

LogicalResult MergeAttentionOp::verify() {
  ShapeChecker checker(*this);
  // merge_attention_c1
  checker.tieHeads("first", getFirst().getType().getShape(), getLayout(), "N",
                   "H", "Dv");
  checker.tie("first_lse", getFirstLse().getType().getShape(), {"B", "H", "N"});
  // merge_attention_c2
  checker.computeType("first_lse", getFirstLse().getType(), "first",
                      getFirst().getType());
  return checker.result();
}

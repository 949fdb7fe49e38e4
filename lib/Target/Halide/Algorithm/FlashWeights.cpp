//===- FlashWeights.cpp - weights of a tile of pairs ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "FlashBuilder.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// The maximum of a tile's scores, or the sum of its weights, for each query.
/// keyGroup keys are taken at a time, so that the chains of dependent
/// operations are short. Past the edge scores are -inf and weights 0.
Func FlashBuilder::reduceKeys(FlashStage &stage, ExprEmitter &inside,
                              bool isMaximum) {
  std::string suffix = std::to_string(stage.update);
  std::string name = isMaximum ? "Max" : "Sum";
  Func source = isMaximum ? stage.visible : stage.weights;
  auto combine = [&](const Expr &a, const Expr &b) {
    return isMaximum ? Halide::max(a, b) : a + b;
  };
  Expr start = isMaximum ? Expr(lowest) : Expr(0.0f);
  // Vectors of keys are taken as such.
  int step = out.isDecode ? static_cast<int>(out.lanes) : out.keyGroup;
  RDom group(0, static_cast<int>(stage.keys) / step, "group" + name + suffix);
  if (!stage.full)
    group.where(group.x * step <= *validKeys(stage, inside) - 1);
  (isMaximum ? stage.maxGroup : stage.sumGroup) = group.x;
  auto keyOf = [&](const Expr &number) -> Expr {
    Expr key = group.x * step + number;
    if (stage.full)
      return key;
    Expr last = *validKeys(stage, inside) - 1;
    return Halide::unsafe_promise_clamped(key, 0,
                                          last / step * step + (step - 1));
  };
  Func result("tile" + name + suffix);
  std::vector<Var> query = vars({out.q, out.t});
  result(query) = start;
  if (!out.isDecode) {
    Expr part[chains];
    for (int number = 0; number < chains; ++number)
      part[number] = source(at({out.q, keyOf(number), out.t}));
    result(query) =
        combine(result(at({out.q, out.t})),
                combine(combine(part[0], part[1]), combine(part[2], part[3])));
    return result;
  }
  Func lanes("lane" + name + suffix);
  lanes(vars({out.lane, out.q, out.t})) = start;
  lanes(vars({out.lane, out.q, out.t})) =
      combine(lanes(at({out.lane, out.q, out.t})),
              source(at({out.q, keyOf(out.lane), out.t})));
  RDom lane(0, step, "lane" + name + "Number" + suffix);
  result(query) =
      combine(result(at({out.q, out.t})), lanes(at({lane.x, out.q, out.t})));
  (isMaximum ? stage.laneMaximum : stage.laneSum) = lanes;
  (isMaximum ? stage.maxLane : stage.sumLane) = lane.x;
  return result;
}

/// tile_max, tile_exp and the sum of a tile.
LogicalResult FlashBuilder::buildWeights(FlashStage &stage,
                                         ExprEmitter &inside) {
  if (out.isGpu)
    return buildThreadWeights(stage, inside);
  if (out.isMatrix) {
    buildMatrixWeights(stage, inside);
    return success();
  }
  std::string suffix = std::to_string(stage.update);
  stage.tileMax = reduceKeys(stage, inside, /*isMaximum=*/true);
  Expr maximum = stage.tileMax(at({out.q, out.t}));
  stage.offset = Func("offset" + suffix);
  stage.offset(vars({out.q, out.t})) = folded ? Halide::ceil(maximum) : maximum;

  // 2^x in steps that the schedule keeps in registers for several keys at a
  // time; see Math.cpp for the trick.
  std::vector<Var> pair = vars({out.q, out.kk, out.t});
  auto step = [&](const char *name, const Expr &value) -> Expr {
    Func part(name + suffix);
    part(pair) = value;
    stage.expSteps.push_back(part);
    return part(at({out.q, out.kk, out.t}));
  };
  stage.weights = Func("weights" + suffix);
  stage.weights(pair) =
      forUsedRows(weightOf(stage, stage.visible(at({out.q, out.kk, out.t})),
                           stage.offset(at({out.q, out.t})), step));

  stage.tileSum = reduceKeys(stage, inside, /*isMaximum=*/false);
  return success();
}

/// The weight of a score, in steps of which each is one of `step`.
Expr FlashBuilder::weightOf(
    FlashStage &stage, const Expr &score, const Expr &offset,
    llvm::function_ref<Expr(const char *, const Expr &)> step) const {
  float scale = stage.loop.exp.getScale().convertToFloat();
  const float magic = 12582912.0f + 127.0f;
  Expr x = score - offset;
  if (!folded)
    x = x * scale;
  // Strict, so that a NaN passes: it must reach the result.
  Expr clamped = Halide::select(x < -127.0f, Expr(-127.0f), x);
  if (scale <= 0.0f)
    clamped = Halide::select(clamped > 128.0f, Expr(128.0f), clamped);
  clamped = step("expClamped", Halide::strict_float(clamped));
  Expr rounded = step("expRounded", Halide::strict_float(clamped + magic));
  Expr integer = step("expInteger", Halide::strict_float(rounded - magic));
  Expr fraction = step("expFraction", Halide::strict_float(clamped - integer));
  Expr power = step("expPower", Halide::reinterpret<int32_t>(rounded) << 23);
  Expr polynomial = exp2Coefficients().front();
  for (float coefficient : exp2Coefficients().drop_front())
    polynomial = step("expPoly", polynomial * fraction + coefficient);
  return polynomial * Halide::reinterpret<float>(power);
}

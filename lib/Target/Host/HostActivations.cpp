//===- HostActivations.cpp - activations in host loops ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels have their own forms of these functions; a host loop uses libm.
//
//===----------------------------------------------------------------------===//

#include "HostScalars.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace attn;

namespace {
struct Expander {
  OpBuilder builder;
  Location loc;
  FloatType type;

  Value number(double value) {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(type.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return arith::ConstantOp::create(builder, loc,
                                     FloatAttr::get(type, rounded));
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }

  Value expand(GeluOp op) {
    Value x = op.getInput(), inner;
    if (op.getForm() == GeluForm::Erf) {
      inner = math::ErfOp::create(builder, loc,
                                  multiply(x, number(std::sqrt(0.5))));
    } else {
      Value cube = multiply(multiply(x, x), x);
      Value sum = add(x, multiply(cube, number(0.044715)));
      inner = math::TanhOp::create(builder, loc,
                                   multiply(sum, number(std::sqrt(2 / M_PI))));
    }
    return multiply(multiply(x, number(0.5)), add(inner, number(1)));
  }

  /// NaN stays NaN.
  Value expand(ReluOp op) {
    return arith::MaximumFOp::create(builder, loc, op.getInput(), number(0));
  }
};
} // namespace

void attn::expandActivations(func::FuncOp function) {
  auto rewrite = [](auto op) {
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type)
      return;
    Expander expander{OpBuilder(op), op.getLoc(), type};
    op.replaceAllUsesWith(expander.expand(op));
    op.erase();
  };
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<GeluOp, ReluOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto gelu = dyn_cast<GeluOp>(op))
      rewrite(gelu);
    else
      rewrite(cast<ReluOp>(op));
  }
}

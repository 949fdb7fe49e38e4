//===- Slots.cpp - what element-wise operations take -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The numbers are those of the instructions that Halide emits, checked against
// kernels on a Zen 4 core.
//
//===----------------------------------------------------------------------===//

#include "Slots.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

/// A division keeps a unit busy for about five cycles.
static constexpr double divideSlots = 10;

double attn::slotsFactor(const TargetInfo &target) {
  if (!target.fusedMultiplyAdd)
    return 3;
  return target.vectorBytes > 32 ? 0.7 : 1;
}

double attn::slotsOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op>(
          [](auto) { return expSlots; })
      .Case<math::TanhOp>([](auto) { return expSlots + divideSlots + 3; })
      .Case<math::SinOp, math::CosOp, math::PowFOp>(
          [](auto) { return 2 * expSlots; })
      .Case<GeluOp, math::ErfOp>([](auto) { return 24.0; })
      .Case<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(
          [](auto) { return divideSlots; })
      .Case<LayerNormOp, RmsNormOp, L2NormalizeOp>(
          [](auto) { return normSlots; })
      .Case<SoftmaxOp>([](auto) { return softmaxSlots; })
      .Case<RotaryOp>([](auto) { return 8.0; })
      .Case<arith::ConstantOp, tensor::EmptyOp, tensor::DimOp, YieldOp,
            linalg::YieldOp>([](auto) { return 0.0; })
      .Default([](Operation *) { return 1.0; });
}

double attn::slotsOf(Region &region) {
  double slots = 0;
  for (Block &block : region)
    for (Operation &op : block)
      slots += slotsOf(op);
  return slots;
}

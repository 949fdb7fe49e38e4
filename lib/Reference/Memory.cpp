//===- Memory.cpp - what an operation will need -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Most results are as large as an operand, or of a static type. The rest, and
// what operations copy on the way, is counted here.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// The product of sizes, in which negative ones count as none: they are an
/// error that the operation itself reports.
static double count(ArrayRef<int64_t> sizes) {
  double result = 1.0;
  for (int64_t size : sizes)
    result *= static_cast<double>(std::max<int64_t>(size, 0));
  return result;
}

static double count(const TensorRef &tensor) { return count(tensor->shape); }

/// The elements of a type whose dynamic sizes are operands.
static double countDynamic(RankedTensorType type, Operands sizes) {
  double result = 1.0;
  for (const TensorRef &size : sizes)
    result *= count(size->get(0).integer);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      result *= count(size);
  return result;
}

/// The rows of a query (B, N, H, D), or (B, H, N, D).
static double countRows(const Tensor &query) {
  return count(ArrayRef<int64_t>(query.shape).drop_back());
}

static double countDefault(Operation *op, Operands operands) {
  double largest = 0.0, results = 0.0;
  for (const TensorRef &operand : operands)
    largest = std::max(largest, count(operand));
  for (Type type : op->getResultTypes()) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!shaped)
      results += 1.0;
    else
      results += shaped.hasStaticShape() ? count(shaped.getShape()) : largest;
  }
  return results;
}

static double countElements(Operation *op, Operands operands) {
  return TypeSwitch<Operation *, double>(op)
      .Case<ScoresOp, AdditiveScoresOp>([&](auto op) {
        return countRows(*operands[0]) *
               count(operands[1]->size(sequenceDim(op.getLayout())));
      })
      .Case<MixOp>([&](MixOp) {
        return countRows(*operands[0]) * count(operands[1]->shape.back());
      })
      .Case<AttentionOp>([&](AttentionOp op) {
        double rows =
            countRows(*operands[0]) * (count(operands[2]->shape.back()) + 1.0);
        if (op.getChunk())
          rows *=
              std::ceil(count(operands[1]->shape[sequenceDim(op.getLayout())]) /
                        static_cast<double>(*op.getChunk()));
        return rows;
      })
      .Case<LinearOp>([&](LinearOp) {
        // The weight is transposed on the way.
        return countRows(*operands[0]) * count(operands[1]->size(0)) +
               count(operands[1]);
      })
      .Case<FusedLinearOp>([&](FusedLinearOp op) {
        // Here it may be unpacked as well.
        return countRows(*operands[0]) *
                   count(op.getResult().getType().getDimSize(1)) +
               2.0 * count(operands[1]);
      })
      .Case<EmbeddingOp>([&](EmbeddingOp) {
        return count(operands[0]) * count(operands[1]->size(1));
      })
      .Case<WeightRefOp>([&](WeightRefOp op) {
        // Parts, and what they are joined or packed to.
        return 2.0 * count(op.getType().getShape());
      })
      .Case<tensor::EmptyOp>([&](tensor::EmptyOp op) {
        return countDynamic(op.getType(), operands);
      })
      .Case<tensor::SplatOp>([&](tensor::SplatOp op) {
        return countDynamic(op.getType(), operands.drop_front());
      })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp) {
        double sum = 0.0;
        for (const TensorRef &operand : operands)
          sum += count(operand);
        return sum;
      })
      // The operations inside are counted.
      .Case<CallOpInterface, CallOp>([](auto) { return 0.0; })
      .Default([&](Operation *op) { return countDefault(op, operands); });
}

double reference::estimateBytes(Operation *op, Operands operands) {
  return 8.0 * countElements(op, operands);
}

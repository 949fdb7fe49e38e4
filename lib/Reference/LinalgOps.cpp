//===- LinalgOps.cpp - linalg's structured operations -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All of them are a loop nest, a map for each operand, and a region: fill,
// transpose, broadcast, matmul, generic and the rest are one function here.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// The extents of the loops, from the operands whose maps name a loop alone.
static llvm::Expected<SmallVector<int64_t>> getLoops(linalg::LinalgOp op,
                                                     Operands operands) {
  SmallVector<int64_t> loops(op.getNumLoops(), -1);
  for (auto [map, operand] : llvm::zip(op.getIndexingMapsArray(), operands))
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (!loop)
        continue;
      int64_t &extent = loops[loop.getPosition()];
      if (extent >= 0 && extent != operand->size(dim))
        return makeError(op, "expected equal sizes of loop " +
                                 llvm::Twine(loop.getPosition()) + ", got " +
                                 llvm::Twine(extent) + " and " +
                                 llvm::Twine(operand->size(dim)));
      extent = operand->size(dim);
    }
  return loops; // The verifier of linalg sees to it that none is left out.
}

static llvm::Expected<Results> evaluateStructured(linalg::LinalgOp op,
                                                  Operands operands) {
  SmallVector<Value> outer = outerValues(op);
  Operands outerTensors = operands.take_back(outer.size());
  operands = operands.drop_back(outer.size());
  llvm::Expected<Formula> body =
      Formula::build(op->getRegion(0), {}, outer, outerTensors);
  if (!body)
    return body.takeError();
  llvm::Expected<SmallVector<int64_t>> loops = getLoops(op, operands);
  if (!loops)
    return loops.takeError();

  unsigned inputs = op.getNumDpsInputs();
  Results results;
  for (const TensorRef &init : operands.drop_front(inputs))
    results.push_back(*init);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Scalar> elements(operands.size());
  SmallVector<int64_t> at(loops->size(), 0), places(operands.size(), 0);
  if (!hasElements(*loops))
    return results;
  do {
    for (auto [index, map] : llvm::enumerate(maps)) {
      const Tensor &tensor =
          index < inputs ? *operands[index] : results[index - inputs];
      SmallVector<int64_t, 4> place = map.compose(at);
      if (!tensor.contains(place))
        return makeError(op, "expected accesses inside operand " +
                                 llvm::Twine(index));
      places[index] = tensor.offset(place);
      elements[index] = tensor.get(places[index]);
    }
    body->setPosition(at);
    ArrayRef<Scalar> yielded = body->runAll(elements);
    for (auto [index, result] : llvm::enumerate(results))
      result.set(places[inputs + index], yielded[index]);
  } while (nextIndices(at, *loops));
  if (llvm::Error error = body->takeError())
    return std::move(error);
  return results;
}

FamilyResult reference::evaluateLinalgOp(Operation *op, Operands operands) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureTensorSemantics())
    return std::nullopt;
  return evaluateStructured(structured, operands);
}

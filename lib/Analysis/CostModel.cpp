//===- CostModel.cpp - the work of a model, kernel by kernel ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes of the host function's tensors follow from the named dims, those inside
// a kernel from the arguments of the call.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/CostModel.h"

#include "SizeReader.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Operations and bytes
//===----------------------------------------------------------------------===//

/// Whether a body adds a product to its output.
static bool sumsProducts(linalg::GenericOp op) {
  bool multiplies = false, adds = false;
  for (Operation &inner : *op.getBody()) {
    multiplies |= isa<arith::MulFOp>(inner);
    adds |= isa<arith::AddFOp>(inner) &&
            llvm::is_contained(inner.getOperands(),
                               op.getRegionOutputArgs().front());
  }
  return multiplies && adds;
}

/// The steps of a loop nest, whose extents the operands say.
static Size countSteps(linalg::GenericOp op, const SizeReader &reader) {
  SmallVector<Size> extents(op.getNumLoops());
  for (auto [map, operand] :
       llvm::zip_equal(op.getIndexingMapsArray(), op->getOperands())) {
    Shape shape = reader.shape(operand);
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(result); loop && shape)
        extents[loop.getPosition()] = (*shape)[i];
  }
  Size steps = SizePolynomial(1);
  for (const Size &extent : extents)
    steps = multiply(steps, extent);
  return steps;
}

static Size countFlops(Operation &op, const SizeReader &reader) {
  return llvm::TypeSwitch<Operation *, Size>(&op)
      .Case([&](FusedLinearOp linear) -> Size {
        Shape input = reader.shape(linear.getInput());
        if (!input)
          return std::nullopt;
        int64_t outputs = linear.getResult().getType().getDimSize(1);
        return multiply(product(*input), 2.0 * static_cast<double>(outputs));
      })
      .Case([&](AttentionOp attention) -> Size {
        Shape query = reader.shape(attention.getQuery());
        Shape key = reader.shape(attention.getKey());
        Shape value = reader.shape(attention.getValue());
        if (!query || !key || !value)
          return std::nullopt;
        // B N H and M, whatever the layout.
        Size pairs = multiply(product(ArrayRef(*query).drop_back()),
                              (*key)[sequenceDim(attention.getLayout())]);
        return multiply(pairs, (query->back() + value->back()) * 2);
      })
      .Case([&](linalg::GenericOp generic) -> Size {
        if (generic.getNumReductionLoops() == 0 || !sumsProducts(generic))
          return SizePolynomial();
        return multiply(countSteps(generic, reader), SizePolynomial(2));
      })
      // The tiled level: how often the loops run is up to the mask.
      .Case([](scf::ForallOp) { return std::nullopt; })
      .Default([](Operation *) { return SizePolynomial(); });
}

/// The bytes of a tensor that is read or written; another value takes none.
static Size countBytes(Value value, const Shape &shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return SizePolynomial();
  if (!shape)
    return std::nullopt;
  Type element = type.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return multiply(product(*shape), SizePolynomial(llvm::divideCeil(bits, 8)));
}

/// The bytes of a kernel's input `argument`, which is `input` outside.
static Size countInput(BlockArgument argument, Value input,
                       const SizeReader &inside, const SizeReader &host) {
  auto embedding = argument.hasOneUse()
                       ? dyn_cast<EmbeddingOp>(*argument.user_begin())
                       : EmbeddingOp();
  if (!embedding || embedding.getTable() != argument)
    return countBytes(input, host.shape(input));
  Shape rows = inside.shape(embedding.getIds());
  Shape table = host.shape(input);
  if (rows && table)
    rows->push_back(table->back());
  return countBytes(input, table ? rows : table);
}

static Cost countCall(CallOp call, KernelOp kernel, const SizeReader &host) {
  SizeReader inside;
  for (auto [argument, input] :
       llvm::zip(kernel.getBody().getArguments(), call.getInputs())) {
    inside.setShape(argument, host.shape(input));
    inside.setIndex(argument, host.index(input));
  }

  Cost cost;
  cost.calls = 1;
  for (Operation &op : kernel.getBody().front()) {
    inside.visit(op);
    cost.flops = add(cost.flops, countFlops(op, inside));
  }
  llvm::SmallPtrSet<Value, 8> seen;
  for (auto [argument, input] :
       llvm::zip(kernel.getBody().getArguments(), call.getInputs()))
    if (seen.insert(input).second)
      cost.bytes = add(cost.bytes, countInput(argument, input, inside, host));
  for (Value output : call.getOutputs())
    cost.bytes = add(cost.bytes, countBytes(output, host.shape(output)));
  return cost;
}

//===----------------------------------------------------------------------===//
// A model
//===----------------------------------------------------------------------===//

Cost &Cost::operator+=(const Cost &other) {
  calls += other.calls;
  flops = add(flops, other.flops);
  bytes = add(bytes, other.bytes);
  return *this;
}

Cost ModelCost::total() const {
  Cost result;
  for (const KernelCost &kernel : kernels)
    result += kernel.cost;
  return result;
}

ModelCost attn::estimateCost(ModuleOp module) {
  // Variants of a model do the same work.
  for (auto variant : module.getOps<ModuleOp>())
    return estimateCost(variant);
  ModelCost result;
  llvm::StringMap<size_t> numbers;
  forEachCall(module, [&](CallOp call, const SizeReader &reader) {
    auto kernel = module.lookupSymbol<KernelOp>(call.getCallee());
    auto [place, isNew] =
        numbers.try_emplace(call.getCallee(), result.kernels.size());
    if (isNew)
      result.kernels.push_back({call.getCallee().str(), Cost()});
    result.kernels[place->second].cost += countCall(call, kernel, reader);
  });
  return result;
}

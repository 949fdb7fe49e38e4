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

/// The rows of a table that a kernel reads: none if `argument` is no table.
static Shape rowsOfTable(BlockArgument argument, const SizeReader &inside) {
  if (!argument.hasOneUse())
    return std::nullopt;
  Operation *user = *argument.user_begin();
  if (auto embedding = dyn_cast<EmbeddingOp>(user);
      embedding && embedding.getTable() == argument)
    return inside.shape(embedding.getIds());
  auto positions = dyn_cast<LearnedPositionsOp>(user);
  if (!positions || positions.getTable() != argument)
    return std::nullopt;
  Shape input = inside.shape(positions.getInput());
  if (!input)
    return std::nullopt;
  return SmallVector<SizePolynomial>{(*input)[input->size() - 2]};
}

/// The bytes of a kernel's input `argument`, which is `input` outside.
static Size countInput(BlockArgument argument, Value input,
                       const SizeReader &inside, const SizeReader &host) {
  Shape table = host.shape(input);
  Shape rows = rowsOfTable(argument, inside);
  if (!rows || !table)
    return countBytes(input, table);
  rows->push_back(table->back());
  return countBytes(input, rows);
}

static std::optional<AttentionCost> readAttention(AttentionOp op,
                                                  const SizeReader &reader) {
  Shape query = reader.shape(op.getQuery());
  Shape key = reader.shape(op.getKey());
  Shape value = reader.shape(op.getValue());
  if (!query || !key || !value)
    return std::nullopt;
  Layout layout = op.getLayout();
  std::optional<double> heads = (*query)[headDim(layout)].constant();
  std::optional<double> channels = query->back().constant();
  std::optional<double> valueChannels = value->back().constant();
  if (!heads || !channels || !valueChannels)
    return std::nullopt;
  AttentionCost cost;
  cost.op = op;
  cost.batches = (*query)[batchDim(layout)];
  cost.queries = (*query)[sequenceDim(layout)];
  cost.keys = (*key)[sequenceDim(layout)];
  cost.heads = int64_t(*heads);
  cost.channels = int64_t(*channels);
  cost.valueChannels = int64_t(*valueChannels);
  return cost;
}

static CallCost countCall(CallOp call, KernelOp kernel,
                          const SizeReader &host) {
  auto inside = std::make_shared<SizeReader>();
  for (auto [argument, input] :
       llvm::zip(kernel.getBody().getArguments(), call.getInputs())) {
    inside->setShape(argument, host.shape(input));
    inside->setIndex(argument, host.index(input));
  }

  CallCost cost;
  cost.kernel = kernel;
  cost.calls = 1;
  cost.flops = cost.bytes = cost.weightBytes = SizePolynomial();
  for (Operation &op : kernel.getBody().front()) {
    inside->visit(op);
    cost.flops = add(cost.flops, countFlops(op, *inside));
    if (auto attention = dyn_cast<AttentionOp>(op))
      cost.attention = readAttention(attention, *inside);
  }
  llvm::SmallPtrSet<Value, 8> seen;
  for (auto [argument, input] :
       llvm::zip(kernel.getBody().getArguments(), call.getInputs())) {
    if (!seen.insert(input).second)
      continue;
    Size bytes = countInput(argument, input, *inside, host);
    cost.bytes = add(cost.bytes, bytes);
    if (input.getDefiningOp<WeightRefOp>())
      cost.weightBytes = add(cost.weightBytes, bytes);
  }
  for (Value output : call.getOutputs())
    cost.bytes = add(cost.bytes, countBytes(output, host.shape(output)));
  cost.sizes = std::move(inside);
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

std::vector<CallCost> attn::estimateCalls(ModuleOp module) {
  // Variants of a model do the same work.
  for (auto variant : module.getOps<ModuleOp>())
    return estimateCalls(variant);
  std::vector<CallCost> result;
  forEachCall(module, [&](CallOp call, const SizeReader &reader) {
    auto kernel = module.lookupSymbol<KernelOp>(call.getCallee());
    CallCost cost = countCall(call, kernel, reader);
    auto same = llvm::find_if(result, [&](const CallCost &known) {
      return known.kernel == kernel && known.flops == cost.flops &&
             known.bytes == cost.bytes;
    });
    if (same != result.end())
      ++same->calls;
    else
      result.push_back(std::move(cost));
  });
  return result;
}

ModelCost attn::estimateCost(ModuleOp module) {
  ModelCost result;
  std::vector<CallCost> calls = estimateCalls(module);
  for (CallCost &call : calls) {
    std::string name = call.kernel.getSymName().str();
    auto place = llvm::find_if(result.kernels, [&](const KernelCost &known) {
      return known.kernel == name;
    });
    if (place == result.kernels.end())
      place = result.kernels.insert(place, {name, Cost()});
    Size count = SizePolynomial(double(call.calls));
    place->cost.calls += call.calls;
    place->cost.flops = add(place->cost.flops, multiply(call.flops, count));
    place->cost.bytes = add(place->cost.bytes, multiply(call.bytes, count));
  }
  return result;
}

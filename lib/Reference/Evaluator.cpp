//===- Evaluator.cpp - what a module computes, in f64 -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs functions and kernels operation by operation. A value lives until its
// last use, which keeps a model's scores from adding up.
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Evaluator.h"

#include "EvaluatorImpl.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {

class ModuleEvaluator {
public:
  ModuleEvaluator(ModuleOp module, const EvaluatorOptions &options)
      : module(module), options(options) {}

  llvm::Expected<Results> run(ArrayRef<Tensor> inputs);

private:
  llvm::Expected<FunctionOpInterface> findEntry();
  llvm::Error bindInputs(FunctionOpInterface entry, ArrayRef<Tensor> inputs);
  llvm::Expected<Results> runBlock(Block &block, ArrayRef<TensorRef> arguments);
  llvm::Expected<Results> runOp(Operation *op, Operands operands);
  llvm::Error checkMemory(Operation *op, Operands operands);
  TensorRef keep(Tensor tensor);
  llvm::Expected<Results> runCall(Operation *op, FlatSymbolRefAttr callee,
                                  Operands operands);
  llvm::Expected<Tensor> readDim(DimSizeOp op);
  llvm::Error checkIds(CheckIdsOp op, Operands operands);

  ModuleOp module;
  const EvaluatorOptions &options;
  /// Sizes of the dims, from the inputs.
  llvm::StringMap<int64_t> dims;
  /// Bytes of the tensors that are kept.
  double aliveBytes = 0.0;
};

} // namespace

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '(';
  llvm::interleaveComma(shape, stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << '?';
    else
      stream << size;
  });
  stream << ')';
  return text;
}

//===----------------------------------------------------------------------===//
// Entry and inputs
//===----------------------------------------------------------------------===//

llvm::Expected<FunctionOpInterface> ModuleEvaluator::findEntry() {
  FunctionOpInterface entry;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (isa<KernelOp>(function) || function.isDeclaration() ||
        !function.isPublic())
      continue;
    if (entry)
      return makeError(function, "expected one public function, got this one "
                                 "and @" +
                                     entry.getName());
    entry = function;
  }
  if (!entry)
    return makeError(module, "expected one public function, got none");
  return entry;
}

/// Checks the inputs against the types and names of the entry's arguments, and
/// learns the sizes of the dims.
llvm::Error ModuleEvaluator::bindInputs(FunctionOpInterface entry,
                                        ArrayRef<Tensor> inputs) {
  if (inputs.size() != entry.getNumArguments())
    return makeError(entry, "expected " + llvm::Twine(entry.getNumArguments()) +
                                " inputs, got " + llvm::Twine(inputs.size()));
  std::string problems;
  auto problem = [&](unsigned index, const llvm::Twine &message) {
    problems += ("; input " + llvm::Twine(index) + ": " + message).str();
  };
  for (auto [index, input] : llvm::enumerate(inputs)) {
    Type type = entry.getArgumentTypes()[index];
    auto shaped = dyn_cast<RankedTensorType>(type);
    ArrayRef<int64_t> shape = shaped ? shaped.getShape() : ArrayRef<int64_t>();
    bool fits = input.rank() == int64_t(shape.size());
    for (int64_t dim = 0; fits && dim < input.rank(); ++dim)
      fits = ShapedType::isDynamic(shape[dim]) || shape[dim] == input.size(dim);
    if (!fits) {
      problem(index, "expected shape " + shapeText(shape) + ", got " +
                         shapeText(input.shape));
      continue;
    }
    if (input.kind != Tensor::kindOf(getElementTypeOrSelf(type)))
      problem(index, "expected elements of another kind");
    auto names = entry.getArgAttrOfType<ArrayAttr>(index, "attn.dims");
    for (int64_t dim = 0; names && dim < input.rank(); ++dim) {
      StringRef name = cast<StringAttr>(names[dim]).getValue();
      if (name.empty())
        continue;
      int64_t size = dims.try_emplace(name, input.size(dim)).first->second;
      if (size != input.size(dim))
        problem(index, "expected " + name + " = " + llvm::Twine(size) +
                           " (because an input before has that), got " +
                           llvm::Twine(input.size(dim)));
      auto range = SymbolTable(module).lookup<DimOp>(name);
      if (range &&
          (size < int64_t(range.getMin()) || size > int64_t(range.getMax())))
        problem(index, "expected " + name + " in the range " +
                           llvm::Twine(range.getMin()) + " to " +
                           llvm::Twine(range.getMax()) + ", got " +
                           llvm::Twine(size));
    }
  }
  if (problems.empty())
    return llvm::Error::success();
  return makeError(entry, StringRef(problems).drop_front(2));
}

llvm::Expected<Results> ModuleEvaluator::run(ArrayRef<Tensor> inputs) {
  llvm::Expected<FunctionOpInterface> entry = findEntry();
  if (!entry)
    return entry.takeError();
  if (llvm::Error error = bindInputs(*entry, inputs))
    return std::move(error);
  SmallVector<TensorRef> arguments;
  for (const Tensor &input : inputs)
    arguments.push_back(keep(input));
  return runBlock(entry->getFunctionBody().front(), arguments);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TensorRef ModuleEvaluator::keep(Tensor tensor) {
  double bytes = static_cast<double>(tensor.numElements()) * 8;
  aliveBytes += bytes;
  return TensorRef(new Tensor(std::move(tensor)),
                   [this, bytes](const Tensor *kept) {
                     aliveBytes -= bytes;
                     delete kept;
                   });
}

static std::string bytesText(double bytes) {
  if (bytes < 1024.0 * 1024.0)
    return llvm::formatv("{0:F0} bytes", bytes);
  for (const char *unit : {"MiB", "GiB"}) {
    bytes /= 1024.0;
    if (bytes < 1024.0 * 1024.0)
      return llvm::formatv("{0:F1} {1}", bytes / 1024.0, unit);
  }
  return llvm::formatv("{0:F1} TiB", bytes / 1024.0 / 1024.0);
}

llvm::Error ModuleEvaluator::checkMemory(Operation *op, Operands operands) {
  double bytes = aliveBytes + estimateBytes(op, operands);
  if (bytes <= static_cast<double>(options.maxBytes))
    return llvm::Error::success();
  SmallVector<std::string> sizes;
  for (const auto &dim : dims)
    sizes.push_back((dim.getKey() + " = " + llvm::Twine(dim.second)).str());
  llvm::sort(sizes);
  return makeError(
      op, "expected at most " +
              bytesText(static_cast<double>(options.maxBytes)) +
              " of values at a time (because the reference evaluator holds "
              "whole tensors, 8 bytes an element), got " +
              bytesText(bytes) + " with the result of this operation: " +
              (sizes.empty() ? "evaluate a part of the model"
                             : "evaluate with smaller sizes than " +
                                   llvm::join(sizes, ", ")));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

SmallVector<Value> reference::outerValues(Operation *op) {
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return {};
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

/// Rounds numbers to what their type holds.
static void roundTo(Type type, Tensor &tensor) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType || floatType.isF64())
    return;
  for (double &number : tensor.numbers) {
    if (floatType.isF32()) {
      number = static_cast<float>(number);
      continue;
    }
    llvm::APFloat narrow(number);
    bool losesInfo;
    narrow.convert(floatType.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    narrow.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    number = narrow.convertToDouble();
  }
}

llvm::Expected<Results>
ModuleEvaluator::runBlock(Block &block, ArrayRef<TensorRef> arguments) {
  if (!block.getParent()->hasOneBlock())
    return makeError(block.getParentOp(), "expected a body of one block "
                                          "(because branches are not "
                                          "evaluated)");
  llvm::DenseMap<Value, TensorRef> values;
  llvm::DenseMap<Value, int64_t> usesLeft;
  auto define = [&](Value value, TensorRef tensor) {
    int64_t uses = std::distance(value.use_begin(), value.use_end());
    if (uses == 0)
      return;
    usesLeft[value] = uses;
    values[value] = std::move(tensor);
  };
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    define(argument, tensor);

  for (Operation &op : block) {
    SmallVector<TensorRef> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    // Outer values are kept to the end of the block.
    for (Value value : outerValues(&op))
      operands.push_back(values.lookup(value));
    for (Value operand : op.getOperands())
      if (--usesLeft[operand] == 0)
        values.erase(operand);
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      Results results;
      for (const TensorRef &operand : operands)
        results.push_back(*operand);
      return results;
    }
    if (llvm::Error error = checkMemory(&op, operands))
      return std::move(error);
    llvm::Expected<Results> results = runOp(&op, operands);
    if (!results)
      return results.takeError();
    for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
      if (options.isPlain)
        roundTo(getElementTypeOrSelf(value.getType()), tensor);
      define(value, keep(std::move(tensor)));
    }
  }
  return Results();
}

llvm::Expected<Tensor> ModuleEvaluator::readDim(DimSizeOp op) {
  auto size = dims.find(op.getDim());
  if (size != dims.end())
    return Tensor::scalar(Tensor::Kind::I64, {0.0, size->second});
  auto dim = SymbolTable::lookupNearestSymbolFrom<DimOp>(op, op.getDimAttr());
  if (dim && dim.getMin() == dim.getMax())
    return Tensor::scalar(Tensor::Kind::I64, {0.0, int64_t(dim.getMin())});
  return makeError(op, "expected a dimension that an argument names in "
                       "attn.dims, got @" +
                           op.getDim());
}

llvm::Error ModuleEvaluator::checkIds(CheckIdsOp op, Operands operands) {
  int64_t limit =
      op.getBound() ? operands[1]->integer({}) : int64_t(*op.getLimit());
  for (auto [index, id] : llvm::enumerate(operands[0]->integers))
    if (id < 0 || id >= limit)
      return makeError(op, "expected 0 <= id < " + llvm::Twine(limit) + " in " +
                               op.getName() + ", got " + llvm::Twine(id) +
                               " at element " + llvm::Twine(index));
  return llvm::Error::success();
}

llvm::Expected<Results> ModuleEvaluator::runCall(Operation *op,
                                                 FlatSymbolRefAttr callee,
                                                 Operands operands) {
  auto function =
      SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
  if (!function || function.isDeclaration())
    return makeError(op, "expected a callee with a body, got @" +
                             callee.getValue());
  return runBlock(function.getFunctionBody().front(), operands);
}

llvm::Expected<Results> ModuleEvaluator::runOp(Operation *op,
                                               Operands operands) {
  if (auto weight = dyn_cast<WeightRefOp>(op)) {
    auto symbol = SymbolTable::lookupNearestSymbolFrom<WeightOp>(
        op, weight.getWeightAttr());
    if (!symbol)
      return makeError(op, "expected the name of an attn.weight");
    return oneResult(evaluateWeight(symbol, options));
  }
  if (auto size = dyn_cast<DimSizeOp>(op))
    return oneResult(readDim(size));
  if (auto check = dyn_cast<CheckIdsOp>(op)) {
    if (llvm::Error error = checkIds(check, operands))
      return std::move(error);
    return Results();
  }
  // The former contents of outputs are never read.
  if (auto call = dyn_cast<CallOp>(op))
    return runCall(op, call.getCalleeAttr(),
                   operands.take_front(call.getInputs().size()));
  if (auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee");
      callee && isa<CallOpInterface>(op))
    return runCall(op, callee, operands);
  if (llvm::Error error = checkSizes(op, operands))
    return std::move(error);
  auto isF64 = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  Rounding round(!options.isPlain                            ? Rounding::None
                 : llvm::any_of(op->getResultTypes(), isF64) ? Rounding::F64
                                                             : Rounding::F32);
  for (auto family : {evaluateAttentionOp, evaluateScoreOp})
    if (FamilyResult results = family(op, operands, round))
      return std::move(*results);
  for (auto family :
       {evaluateCacheOp, evaluateLayerOp, evaluateFusedOp, evaluateTensorOp,
        evaluateElementwiseOp, evaluateLinalgOp})
    if (FamilyResult results = family(op, operands))
      return std::move(*results);
  return makeError(op, "is not evaluated: expected the graph or the fused "
                       "level, with operations of attn, arith, math, tensor "
                       "and linalg on tensors");
}

llvm::Expected<SmallVector<Tensor>>
attn::evaluate(ModuleOp module, ArrayRef<Tensor> inputs,
               const EvaluatorOptions &options) {
  return ModuleEvaluator(module, options).run(inputs);
}

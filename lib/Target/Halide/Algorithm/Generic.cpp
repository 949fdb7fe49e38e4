//===- Generic.cpp - linalg operations as Halide functions -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Any structured operation of linalg (generic, transpose, broadcast, ...) whose
// indexing maps are projected permutations: parallel iterators become the
// output's variables, reductions an RDom. attn.pack of a tensor that is known
// only at run time is data movement of the same kind.
//
//===----------------------------------------------------------------------===//
#include "Generic.h"
#include "../ExprEmitter.h"
#include "Rowwise.h"

#include "attn/Analysis/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

/// How a bool lies in memory.
static Expr toStorage(const Expr &value) {
  return value.type().is_bool() ? Halide::cast<uint8_t>(value) : value;
}

/// A tensor that was widened to f32, as its 16-bit numbers again.
static TensorSource asStored(const TensorSource &source, Value tensor,
                             const HalfFloats &halves) {
  Type element = getElementTypeOrSelf(tensor.getType());
  if (!isHalfFloat(element))
    return source;
  TensorSource stored = source;
  stored.load = [load = source.load, halves, element](ArrayRef<Expr> indices) {
    return halves.narrow(load(indices), element);
  };
  return stored;
}

namespace {

/// Emits one linalg operation of a kernel.
class LinalgEmitter {
public:
  LinalgEmitter(linalg::LinalgOp op, ExprEmitter &values,
                RowwiseEmitter &tensors)
      : op(op), values(values), tensors(tensors) {}

  /// The function of result `number`.
  FailureOr<GenericAlgorithm> emit(unsigned number);

private:
  LogicalResult checkMaps();
  LogicalResult collectInputs();
  FailureOr<TensorSource> initialValue(Value init);
  SmallVector<Expr> indicesOf(AffineMap map) const;
  FailureOr<Expr> emitBody(unsigned number, const Expr &old);

  linalg::LinalgOp op;
  ExprEmitter &values;
  RowwiseEmitter &tensors;
  SmallVector<TensorSource> inputs;
  /// The expression of each iteration dimension.
  SmallVector<Expr> dims;
};

} // namespace

LogicalResult LinalgEmitter::checkMaps() {
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray()))
    if (!map.isProjectedPermutation())
      return op.emitOpError("not supported by the Halide target: expected "
                            "indexing maps that are projected permutations "
                            "(because each index must be one loop), got ")
             << AffineMapAttr::get(map) << " for operand " << number;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
      if ((utils::IteratorType::parallel == op.getIteratorTypesArray()[dim]) !=
          map.isFunctionOfDim(dim))
        return op.emitOpError("not supported by the Halide target: expected "
                              "the output to have each parallel loop as a "
                              "dimension and no other, got map ")
               << AffineMapAttr::get(map);
  }
  return success();
}

LogicalResult LinalgEmitter::collectInputs() {
  for (Value input : op.getDpsInputs()) {
    if (!isa<RankedTensorType>(input.getType())) {
      FailureOr<Expr> scalar = values.get(input);
      if (failed(scalar))
        return failure();
      TensorSource source;
      source.load = [value = *scalar](ArrayRef<Expr>) { return value; };
      inputs.push_back(source);
      continue;
    }
    FailureOr<TensorSource> source = tensors.get(input);
    if (failed(source))
      return failure();
    inputs.push_back(asStored(*source, input, values.halves));
  }
  return success();
}

/// What an output holds before the operation.
FailureOr<TensorSource> LinalgEmitter::initialValue(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    FailureOr<Expr> value = values.get(fill.getInputs()[0]);
    if (failed(value))
      return failure();
    TensorSource source;
    source.load = [value = *value](ArrayRef<Expr>) { return value; };
    return source;
  }
  if (init.getDefiningOp<tensor::EmptyOp>())
    return op.emitOpError("expected an output with a value (because the body "
                          "reads it), got tensor.empty");
  FailureOr<TensorSource> source = tensors.get(init);
  if (failed(source))
    return failure();
  return asStored(*source, init, values.halves);
}

SmallVector<Expr> LinalgEmitter::indicesOf(AffineMap map) const {
  SmallVector<Expr> indices;
  for (AffineExpr result : map.getResults())
    indices.push_back(dims[cast<AffineDimExpr>(result).getPosition()]);
  return indices;
}

/// The body for the current `dims`; `old` is the output's element, or undefined
/// if it has none.
FailureOr<Expr> LinalgEmitter::emitBody(unsigned number, const Expr &old) {
  ExprEmitter emitter = values;
  Block *body = op.getBlock();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [i, source] : llvm::enumerate(inputs))
    emitter.bind(body->getArgument(i), source.load(indicesOf(maps[i])));
  if (old.defined())
    emitter.bind(body->getArgument(inputs.size() + number), old);
  for (auto index : body->getOps<linalg::IndexOp>())
    emitter.bind(index.getResult(), dims[index.getDim()]);
  return emitter.get(body->getTerminator()->getOperand(number));
}

FailureOr<GenericAlgorithm> LinalgEmitter::emit(unsigned number) {
  if (failed(checkMaps()) || failed(collectInputs()))
    return failure();
  GenericAlgorithm algorithm;
  OpOperand *init = op.getDpsInitOperand(number);
  AffineMap outputMap = op.getMatchingIndexingMap(init);
  bool readsInit = op.payloadUsesValueFromOperand(init);
  FailureOr<TensorSource> initial =
      readsInit ? initialValue(init->get()) : TensorSource();
  if (failed(initial))
    return failure();

  // Variables: the output's dimensions, innermost first.
  algorithm.variables = rowVariables(outputMap.getNumResults());
  dims.assign(op.getNumLoops(), Expr());
  unsigned rank = outputMap.getNumResults();
  for (auto [i, result] : llvm::enumerate(outputMap.getResults()))
    dims[cast<AffineDimExpr>(result).getPosition()] =
        algorithm.variables[rank - 1 - i];
  algorithm.output = Func("output" + std::to_string(number));
  std::vector<Expr> position(algorithm.variables.begin(),
                             algorithm.variables.end());
  SmallVector<Expr> ordered(position.rbegin(), position.rend());
  bool isBool = getElementTypeOrSelf(init->get().getType()).isInteger(1);

  // Reductions: sizes come from an input. One is indexed by the loop, because
  // the output is not.
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.empty()) {
    Expr old = readsInit ? initial->load(ordered) : Expr();
    FailureOr<Expr> value = emitBody(number, old);
    if (failed(value))
      return failure();
    algorithm.output(position) = toStorage(*value);
    return algorithm;
  }
  std::vector<Halide::Range> ranges;
  for (unsigned dim : reductions) {
    Expr size;
    for (auto [i, source] : llvm::enumerate(inputs))
      for (auto [j, result] :
           llvm::enumerate(op.getIndexingMapsArray()[i].getResults()))
        if (cast<AffineDimExpr>(result).getPosition() == dim)
          size = source.sizes[j];
    ranges.emplace_back(0, size);
  }
  Halide::RDom domain(ranges, "reduction");
  for (auto [i, dim] : llvm::enumerate(reductions)) {
    dims[dim] = domain[i];
    algorithm.reductions.push_back(domain[i]);
  }
  if (!readsInit)
    return op.emitOpError("not supported by the Halide target: a reduction "
                          "whose body does not read its output");
  algorithm.output(position) = toStorage(initial->load(ordered));
  Expr old = algorithm.output(position);
  FailureOr<Expr> value = emitBody(number, isBool ? Expr(old != 0) : old);
  if (failed(value))
    return failure();
  algorithm.output(position) = toStorage(*value);
  return algorithm;
}

/// out[p, k, c] = weight[p * panel + c, k], zero for columns past N.
static FailureOr<GenericAlgorithm>
emitPack(PackOp op, const ExprEmitter &values, RowwiseEmitter &tensors) {
  FailureOr<TensorSource> weight = tensors.get(op.getWeight());
  if (failed(weight))
    return failure();
  weight = asStored(*weight, op.getWeight(), values.halves);
  GenericAlgorithm algorithm;
  algorithm.variables = rowVariables(3);
  Var c = algorithm.variables[0], k = algorithm.variables[1],
      p = algorithm.variables[2];
  Expr column = p * static_cast<int>(op.getPanel()) + c;
  Expr columns = weight->sizes[0];
  Expr element = weight->load({Halide::min(column, columns - 1), Expr(k)});
  algorithm.output = Func("output");
  algorithm.output(c, k, p) = Halide::select(
      column < columns, element, Halide::Internal::make_zero(element.type()));
  return algorithm;
}

/// A reduction whose output is stored once, by a function of its own.
static void storeReduction(GenericAlgorithm &algorithm,
                           const std::string &name) {
  Func stored(name);
  stored(algorithm.variables) = algorithm.output(algorithm.variables);
  algorithm.reduced = algorithm.output;
  algorithm.output = stored;
}

FailureOr<HalideKernel> attn::emitGeneric(KernelOp kernel,
                                          const TargetInfo &target) {
  RowPlan plan = getRowPlan(kernel, target);
  plan.group = 1;
  ExprEmitter values{HalfFloats(target)};
  FailureOr<KernelArguments> arguments = bindKernelArguments(kernel, values);
  if (failed(arguments))
    return failure();
  std::vector<Func> outputs;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands()) {
    RowwiseEmitter tensors(values, plan);
    FailureOr<GenericAlgorithm> algorithm = failure();
    if (auto pack = value.getDefiningOp<PackOp>())
      algorithm = emitPack(pack, values, tensors);
    else if (auto op = value.getDefiningOp<linalg::LinalgOp>())
      algorithm = LinalgEmitter(op, values, tensors)
                      .emit(cast<OpResult>(value).getResultNumber());
    else
      return kernel.emitOpError("not supported by the Halide target: expected "
                                "results of linalg operations or attn.pack, "
                                "got a value of type ")
             << value.getType();
    if (failed(algorithm))
      return failure();
    if (!tensors.takeStages().empty())
      return kernel.emitOpError("not supported by the Halide target: a sum "
                                "along rows in front of a linalg operation");
    algorithm->vector = plan.vector;
    if (plan.isGpu() && !algorithm->reductions.empty())
      storeReduction(*algorithm, "result" + std::to_string(outputs.size()));
    describeOutput(algorithm->output.output_buffer(),
                   cast<RankedTensorType>(value.getType()));
    if (target.isGpu())
      scheduleGenericGpu(*algorithm);
    else
      scheduleGenericCpu(*algorithm);
    outputs.push_back(algorithm->output);
  }
  HalideKernel result;
  result.pipeline = Halide::Pipeline(outputs);
  result.args = arguments->args;
  return result;
}

//===- Rowwise.cpp - row-wise kernels as Halide functions ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The walk from a kernel's results to its arguments, and what is element-wise.
// The operations with sums along rows are in RowwiseNorms.cpp.
//
//===----------------------------------------------------------------------===//
#include "Rowwise.h"
#include "../Math.h"
#include "../ReadAhead.h"

#include "attn/Analysis/GpuModel.h"
#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

std::vector<Var> attn::rowVariables(size_t count) {
  std::vector<Var> rows;
  rows.reserve(count);
  for (size_t i = 0; i < count; ++i)
    rows.emplace_back("r" + std::to_string(i));
  return rows;
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

/// Numbers of 16 bits are f32 between operations.
static Type computedType(Type type) {
  return isHalfFloat(type) ? Type(Float32Type::get(type.getContext())) : type;
}

FailureOr<Expr> attn::emitScalarOf(Operation *op, ArrayRef<Expr> operands) {
  auto scalarType = [](Value value) {
    return computedType(getElementTypeOrSelf(value.getType()));
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      scalarType(op->getOperand(0)) == scalarType(op->getResult(0)))
    return operands[0];
  if (isa<arith::BitcastOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType())
              .getIntOrFloatBitWidth() == 16)
    return op->emitOpError("not supported by the Halide target: bits of 16-bit "
                           "numbers (because a kernel computes with f32)");
  if (isa<arith::TruncFOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()).isF64() &&
      isHalfFloat(getElementTypeOrSelf(op->getResult(0).getType())))
    return op->emitOpError("not supported by the Halide target: f64 to 16 bits "
                           "(because it would be rounded twice)");
  // The same operation on scalars, in a block of its own: the scalar emitter
  // then serves both levels.
  Block block;
  OperationState state(op->getLoc(), op->getName());
  ExprEmitter emitter;
  for (auto [value, operand] : llvm::zip_equal(op->getOperands(), operands)) {
    Value argument = block.addArgument(scalarType(value), value.getLoc());
    emitter.bind(argument, operand);
    state.addOperands(argument);
  }
  for (Value result : op->getResults())
    state.addTypes(scalarType(result));
  state.addAttributes(op->getAttrs());
  Operation *scalar = Operation::create(state);
  block.push_back(scalar);
  if (op->getNumResults() != 1)
    return op->emitOpError("not supported by the Halide target: expected one "
                           "result, got ")
           << op->getNumResults();
  return emitter.get(scalar->getResult(0));
}

FailureOr<TensorSource> RowwiseEmitter::emitElementwise(Operation *op) {
  SmallVector<TensorSource> operands;
  std::vector<Expr> sizes;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType())) {
      FailureOr<Expr> scalar = values.get(operand);
      if (failed(scalar))
        return failure();
      Expr number = values.halves.widen(*scalar, operand.getType());
      operands.push_back(
          {[number](ArrayRef<Expr>) { return number; }, std::vector<Expr>()});
      continue;
    }
    FailureOr<TensorSource> source = get(operand);
    if (failed(source))
      return failure();
    operands.push_back(*source);
    if (sizes.empty())
      sizes = source->sizes;
  }
  // Once now, so that an unsupported operation is an error here.
  SmallVector<Expr> probe;
  for (Value operand : op->getOperands()) {
    // Arguments, constants and operations of other types were refused before.
    probe.push_back(Halide::Internal::make_zero(
        *getHalideType(computedType(getElementTypeOrSelf(operand.getType())))));
  }
  if (failed(emitScalarOf(op, probe)))
    return failure();
  TensorSource result;
  result.sizes = sizes;
  result.load = [op, operands](ArrayRef<Expr> indices) {
    SmallVector<Expr> elements;
    for (const TensorSource &operand : operands)
      elements.push_back(operand.load(indices));
    return *emitScalarOf(op, elements);
  };
  return result;
}

/// Elements of a constant that a kernel of a device selects from. More would
/// have to lie in memory of the device, which no one could free.
static constexpr int64_t kSelectedElements = 64;

/// A constant of a few elements as a choice between them.
static FailureOr<TensorSource>
selectConstant(Operation *op, DenseElementsAttr elements, Halide::Type type) {
  if (elements.getNumElements() > kSelectedElements)
    return op->emitOpError("not supported by the Halide target: expected at "
                           "most ")
           << kSelectedElements
           << " different elements of a constant in a kernel of a device, got "
           << elements.getNumElements() << ": make it a weight of the model";
  // As bits: fast-math knows neither infinity nor NaN.
  Halide::Type bits = Halide::Int(type.bits());
  ArrayRef<char> raw = elements.getRawData();
  std::vector<Expr> choices;
  for (int64_t i = 0; i < elements.getNumElements(); ++i) {
    int64_t element = 0;
    std::memcpy(&element, raw.data() + i * type.bytes(), type.bytes());
    choices.push_back(Halide::Internal::make_const(
        bits, llvm::SignExtend64(element, type.bits())));
  }
  TensorSource result;
  for (int64_t size : elements.getType().getShape())
    result.sizes.push_back(static_cast<int>(size));
  result.load = [=, sizes = result.sizes](ArrayRef<Expr> indices) {
    Expr number = 0;
    for (auto [index, size] : llvm::zip_equal(indices, sizes))
      number = number * size + index;
    return Halide::reinterpret(type, Halide::mux(number, choices));
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitConstant(Operation *op) {
  DenseElementsAttr elements;
  if (!matchPattern(op, m_Constant(&elements)))
    return op->emitOpError("not supported by the Halide target: expected a "
                           "dense constant");
  std::optional<Halide::Type> type = getHalideType(elements.getElementType());
  if (!type || elements.getElementType().isIndex())
    return op->emitOpError("not supported by the Halide target: constant of "
                           "type ")
           << elements.getType();
  auto scalarOf = [&](Attribute attribute) -> FailureOr<Expr> {
    OpBuilder builder(op->getContext());
    auto constant = arith::ConstantOp::create(builder, op->getLoc(),
                                              cast<TypedAttr>(attribute));
    ExprEmitter emitter;
    FailureOr<Expr> value = emitter.get(constant);
    constant->erase();
    return value;
  };
  TensorSource result;
  for (int64_t size : elements.getType().getShape())
    result.sizes.push_back(static_cast<int>(size));
  if (elements.isSplat()) {
    FailureOr<Expr> value = scalarOf(elements.getSplatValue<Attribute>());
    if (failed(value))
      return failure();
    result.load = [value = *value](ArrayRef<Expr>) { return value; };
    return result;
  }
  if (elements.getElementType().isInteger(1))
    return op->emitOpError("not supported by the Halide target: a constant of "
                           "i1 elements that differ");
  if (plan.isGpu())
    return selectConstant(op, elements, *type);
  // The data become part of the kernel.
  std::vector<int> shape;
  for (int64_t size : llvm::reverse(elements.getType().getShape()))
    shape.push_back(static_cast<int>(size));
  Halide::Buffer<> data(*type, shape, "constant" + std::to_string(count++));
  ArrayRef<char> raw = elements.getRawData();
  std::memcpy(data.data(), raw.data(), raw.size());
  result.load = [data](ArrayRef<Expr> indices) {
    return data(std::vector<Expr>(indices.rbegin(), indices.rend()));
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Gathers and positions
//===----------------------------------------------------------------------===//

FailureOr<TensorSource> RowwiseEmitter::emitEmbedding(EmbeddingOp op) {
  FailureOr<TensorSource> ids = get(op.getIds()), table = get(op.getTable());
  if (failed(ids) || failed(table))
    return failure();
  TensorSource result;
  result.sizes = ids->sizes;
  result.sizes.push_back(table->sizes[1]);
  result.load = [ids = *ids, table = *table](ArrayRef<Expr> indices) {
    // The host has reported an id outside the table; the kernel only must not
    // follow it.
    Expr id = ids.load(indices.drop_back());
    id = clamp(id, Halide::Internal::make_zero(id.type()),
               Halide::cast(id.type(), table.sizes[0] - 1));
    return table.load({Halide::cast<int32_t>(id), indices.back()});
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitPositions(LearnedPositionsOp op) {
  FailureOr<TensorSource> input = get(op.getInput()),
                          table = get(op.getTable());
  if (failed(input) || failed(table))
    return failure();
  TensorSource result;
  result.sizes = input->sizes;
  int first = static_cast<int>(op.getFirst());
  result.load = [=, input = *input, table = *table](ArrayRef<Expr> indices) {
    Expr position = clamp(indices[1] + first, 0, table.sizes[0] - 1);
    return addInOrder(input.load(indices),
                      table.load({position, indices.back()}));
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitSinusoidal(SinusoidalOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<TensorSource> input = get(op.getInput());
  if (failed(input))
    return failure();
  // Angles in turns, in f64: position * frequency, a quarter turn ahead for a
  // cosine.
  int columns = static_cast<int>(type.getDimSize(2)), half = (columns + 1) / 2;
  bool interleaved = op.getForm() == SinusoidForm::Interleaved;
  double base = op.getBase().convertToDouble();
  double channels = interleaved ? columns : 2 * half;
  TensorSource result;
  result.sizes = input->sizes;
  if (plan.isGpu()) {
    // The powers are computed, because a table would have to lie in memory of
    // the device.
    result.load = [=, input = *input](ArrayRef<Expr> indices) {
      Expr n = indices[2], pair = interleaved ? n / 2 : n % half;
      Expr isCosine = interleaved ? n % 2 == 1 : n >= half;
      Expr frequency = exp2InDoubles(Halide::cast<double>(pair) *
                                     Expr(-2.0 * std::log2(base) / channels)) *
                       Expr(1 / (2 * M_PI));
      Expr turns = Halide::cast<double>(indices[1]) * frequency +
                   Halide::select(isCosine, Expr(0.25), Expr(0.0));
      return addInOrder(input.load(indices), sineOfTurns(turns));
    };
    return result;
  }
  Halide::Buffer<double> frequency(columns,
                                   "frequency" + std::to_string(count));
  Halide::Buffer<double> phase(columns, "phase" + std::to_string(count++));
  for (int n = 0; n < columns; ++n) {
    int pair = interleaved ? n / 2 : n % half;
    bool cosine = interleaved ? n % 2 : n >= half;
    frequency(n) = std::pow(base, -2.0 * pair / channels) / (2 * M_PI);
    phase(n) = cosine ? 0.25 : 0.0;
  }
  result.load = [=, input = *input](ArrayRef<Expr> indices) {
    Expr n = indices[2];
    Expr turns = Halide::cast<double>(indices[1]) * frequency(n) + phase(n);
    return addInOrder(input.load(indices), sineOfTurns(turns));
  };
  return result;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// A tensor of 16-bit numbers as f32.
TensorSource RowwiseEmitter::widened(const TensorSource &source,
                                     Value value) const {
  Type element = getElementTypeOrSelf(value.getType());
  if (!isHalfFloat(element))
    return source;
  TensorSource wide = source;
  wide.load = [load = source.load, halves = values.halves,
               element](ArrayRef<Expr> indices) {
    return halves.widen(load(indices), element);
  };
  return wide;
}

FailureOr<TensorSource> RowwiseEmitter::get(Value value) {
  if (auto known = tensors.find(value); known != tensors.end())
    return known->second;
  if (const TensorSource *argument = values.getTensor(value)) {
    TensorSource source = *argument;
    if (getElementTypeOrSelf(value.getType()).isInteger(1))
      source.load = [argument = *argument](ArrayRef<Expr> indices) {
        return argument.load(indices) != 0; // i1 is a byte in memory.
      };
    return widened(source, value);
  }
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return emitError(value.getLoc(), "not supported by the Halide target: a "
                                     "value of type ")
           << value.getType() << " that is not an argument of the kernel";
  FailureOr<TensorSource> source = emit(result);
  if (succeeded(source))
    tensors[value] = *source;
  return source;
}

FailureOr<TensorSource> RowwiseEmitter::emit(OpResult value) {
  Operation *op = value.getOwner();
  auto single = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return !isa<FloatType>(element) || element.isF32() || isHalfFloat(element);
  };
  bool elementwise = op->hasTrait<OpTrait::Elementwise>() ||
                     isa<GeluOp, ReluOp, arith::SelectOp>(op);
  if (!elementwise && !isa<arith::ConstantOp>(op) &&
      !(llvm::all_of(op->getOperandTypes(), single) &&
        llvm::all_of(op->getResultTypes(), single)))
    return op->emitOpError("not supported by the Halide target: expected "
                           "tensors of f32, f16 or bf16, got result type ")
           << value.getType();
  return TypeSwitch<Operation *, FailureOr<TensorSource>>(op)
      .Case([&](EmbeddingOp op) { return emitEmbedding(op); })
      .Case([&](LearnedPositionsOp op) { return emitPositions(op); })
      .Case([&](SinusoidalOp op) { return emitSinusoidal(op); })
      .Case([&](LayerNormOp op) { return emitLayerNorm(op); })
      .Case([&](RmsNormOp op) { return emitRmsNorm(op); })
      .Case([&](L2NormalizeOp op) { return emitL2Normalize(op); })
      .Case([&](SoftmaxOp op) {
        return emitSoftmax(op, value.getResultNumber() == 1);
      })
      .Case([&](PoolOp op) { return emitPool(op); })
      .Case([&](arith::ConstantOp op) -> FailureOr<TensorSource> {
        FailureOr<TensorSource> constant = emitConstant(op);
        if (failed(constant))
          return failure();
        return widened(*constant, op.getResult());
      })
      .Default([&](Operation *op) -> FailureOr<TensorSource> {
        if (elementwise)
          return emitElementwise(op);
        return op->emitOpError("not supported by the Halide target in a "
                               "row-wise kernel");
      });
}

RowPlan attn::getRowPlan(KernelOp kernel, const TargetInfo &target) {
  Attribute schedule = kernel.getScheduleAttr();
  if (target.isGpu()) {
    RowPlan plan{static_cast<int>(chooseGpuRowThreads(target)), /*group=*/1,
                 RowReductionForm::Threads};
    // Half of the memory: a row alone must not keep other blocks away.
    plan.rowBytes = target.device.sharedBytes / 2;
    if (auto threads = dyn_cast_or_null<GpuRowwiseScheduleAttr>(schedule))
      plan.vector = static_cast<int>(threads.getX());
    return plan;
  }
  RowPlan plan{static_cast<int>(target.f32Lanes()), /*group=*/4};
  if (auto vectors = dyn_cast_or_null<RowwiseScheduleAttr>(schedule)) {
    plan.vector = static_cast<int>(vectors.getVector());
    plan.group = static_cast<int>(vectors.getRows());
  }
  return plan;
}

FailureOr<HalideKernel> attn::emitRowwise(KernelOp kernel,
                                          const TargetInfo &target) {
  RowPlan plan = getRowPlan(kernel, target);
  // Rows of a pool are whole sequences: one alone fills the units, and
  // repeating the last one to fill a group would cost as much again.
  if (!kernel.getBody().front().getOps<PoolOp>().empty())
    plan.group = 1;
  ExprEmitter values{HalfFloats(target)};
  FailureOr<KernelArguments> arguments = bindKernelArguments(kernel, values);
  if (failed(arguments))
    return failure();
  std::vector<Func> outputs;
  Operation *yield = kernel.getBody().front().getTerminator();
  for (Value value : yield->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return kernel.emitOpError("not supported by the Halide target: result of "
                                "type ")
             << value.getType();
    RowwiseEmitter emitter(values, plan, value,
                           static_cast<int>(outputs.size()));
    FailureOr<TensorSource> source = emitter.get(value);
    if (failed(source))
      return failure();
    RowwiseAlgorithm algorithm;
    algorithm.plan = plan;
    // A log-sum-exp is one number a row: it has no columns.
    auto softmax = value.getDefiningOp<SoftmaxOp>();
    algorithm.hasColumns =
        !(softmax && cast<OpResult>(value).getResultNumber() == 1);
    int64_t rank = type.getRank();
    algorithm.rows = rowVariables(rank - (algorithm.hasColumns ? 1 : 0));
    std::vector<Var> variables;
    if (algorithm.hasColumns)
      variables.push_back(algorithm.column);
    variables.insert(variables.end(), algorithm.rows.begin(),
                     algorithm.rows.end());
    SmallVector<Expr> indices(variables.rbegin(), variables.rend());
    Expr element = source->load(indices);
    if (element.type().is_bool())
      element = Halide::cast<uint8_t>(element);
    element = values.halves.narrow(element, type.getElementType());
    algorithm.output = Func("output" + std::to_string(outputs.size()));
    algorithm.output(variables) = element;
    algorithm.stages = emitter.takeStages();
    algorithm.isNarrow = emitter.narrowness();
    describeOutput(algorithm.output.output_buffer(), type);
    if (plan.isGpu())
      scheduleRowwiseGpu(algorithm);
    else
      scheduleRowwiseCpu(algorithm);
    outputs.push_back(algorithm.output);
  }
  HalideKernel result;
  result.pipeline = Halide::Pipeline(outputs);
  if (!plan.isGpu())
    attachReadAhead(result.pipeline, outputs);
  result.args = arguments->args;
  return result;
}

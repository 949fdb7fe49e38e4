//===- Flops.cpp - work of a run, counted from the fused level ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes of the host function's tensors follow from the named dims: index
// arithmetic is evaluated by the operations' own folders.
//
//===----------------------------------------------------------------------===//

#include "Flops.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace attn::run {

namespace {
using Shape = std::optional<SmallVector<int64_t>>;

class SizeEvaluator {
public:
  SizeEvaluator(func::FuncOp entry, const llvm::StringMap<int64_t> &dims)
      : entry(entry), dims(dims) {}

  /// The value of an index.
  std::optional<int64_t> index(Value value);
  std::optional<int64_t> index(OpFoldResult value) {
    if (auto attribute = dyn_cast<Attribute>(value))
      return cast<IntegerAttr>(attribute).getInt();
    return index(cast<Value>(value));
  }
  /// The sizes of a tensor.
  Shape shape(Value tensor);

private:
  Shape shapeOfArgument(BlockArgument argument);
  Shape sizes(ArrayRef<OpFoldResult> values);
  std::optional<int64_t> dim(llvm::StringRef name) {
    auto found = dims.find(name);
    return found == dims.end() ? std::nullopt
                               : std::optional<int64_t>(found->second);
  }

  func::FuncOp entry;
  const llvm::StringMap<int64_t> &dims;
};
} // namespace

std::optional<int64_t> SizeEvaluator::index(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto size = dyn_cast<DimSizeOp>(op))
    return dim(size.getDim());
  if (auto size = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> position = size.getConstantIndex();
    Shape source = shape(size.getSource());
    if (!position || !source ||
        *position >= static_cast<int64_t>(source->size()))
      return std::nullopt;
    return (*source)[*position];
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> constant =
        operand.getType().isIndex() ? index(operand) : std::nullopt;
    if (!constant)
      return std::nullopt;
    operands.push_back(
        IntegerAttr::get(IndexType::get(op->getContext()), *constant));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  if (auto attribute = dyn_cast<Attribute>(results.front())) {
    auto integer = dyn_cast<IntegerAttr>(attribute);
    return integer ? std::optional<int64_t>(integer.getInt()) : std::nullopt;
  }
  Value folded = cast<Value>(results.front());
  return folded == value ? std::nullopt : index(folded);
}

Shape SizeEvaluator::sizes(ArrayRef<OpFoldResult> values) {
  SmallVector<int64_t> result;
  for (OpFoldResult value : values) {
    std::optional<int64_t> size = index(value);
    if (!size)
      return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

Shape SizeEvaluator::shapeOfArgument(BlockArgument argument) {
  auto names =
      entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "attn.dims");
  SmallVector<int64_t> result;
  for (auto [i, size] :
       llvm::enumerate(cast<RankedTensorType>(argument.getType()).getShape())) {
    std::optional<int64_t> value = size;
    if (ShapedType::isDynamic(size)) {
      auto name = names && i < names.size() ? dyn_cast<StringAttr>(names[i])
                                            : StringAttr();
      value = name ? dim(name.getValue()) : std::nullopt;
    }
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

Shape SizeEvaluator::shape(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  if (type.hasStaticShape())
    return SmallVector<int64_t>(type.getShape());
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return argument.getOwner() == &entry.front() ? shapeOfArgument(argument)
                                                 : std::nullopt;
  Operation *op = tensor.getDefiningOp();
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  return llvm::TypeSwitch<Operation *, Shape>(op)
      .Case([&](tensor::EmptyOp empty) { return sizes(empty.getMixedSizes()); })
      .Case([&](tensor::CastOp cast) { return shape(cast.getSource()); })
      .Case([&](tensor::ExpandShapeOp expand) {
        return sizes(expand.getMixedOutputShape());
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Shape {
        Shape source = shape(collapse.getSrc());
        if (!source)
          return std::nullopt;
        SmallVector<int64_t> result;
        for (const auto &group : collapse.getReassociationIndices()) {
          int64_t size = 1;
          for (int64_t i : group)
            size *= (*source)[i];
          result.push_back(size);
        }
        return result;
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Shape {
        Shape all = sizes(slice.getMixedSizes());
        if (!all)
          return std::nullopt;
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        SmallVector<int64_t> result;
        for (auto [i, size] : llvm::enumerate(*all))
          if (!dropped[i])
            result.push_back(size);
        return result;
      })
      .Case([&](DestinationStyleOpInterface written) {
        return shape(written.getDpsInitOperand(number)->get());
      })
      .Default([](Operation *) { return std::nullopt; });
}

static double product(ArrayRef<int64_t> sizes) {
  double result = 1;
  for (int64_t size : sizes)
    result *= static_cast<double>(size);
  return result;
}

/// The products of one call. `shapes` are those of the kernel's arguments.
static std::optional<double> countKernel(KernelOp kernel,
                                         ArrayRef<Shape> shapes) {
  auto shapeOf = [&](Value value) -> Shape {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getArgNumber() >= shapes.size())
      return std::nullopt;
    return shapes[argument.getArgNumber()];
  };
  double flops = 0;
  bool known = true;
  for (Operation &op : kernel.getBody().front()) {
    if (auto linear = dyn_cast<FusedLinearOp>(op)) {
      Shape input = shapeOf(linear.getInput());
      Shape weight = shapeOf(linear.getWeight());
      if (input && weight && weight->size() == 2)
        flops += 2 * product(*input) * static_cast<double>((*weight)[0]);
      else
        known = false;
    } else if (auto attention = dyn_cast<AttentionOp>(op)) {
      Shape query = shapeOf(attention.getQuery());
      Shape key = shapeOf(attention.getKey());
      Shape value = shapeOf(attention.getValue());
      if (query && key && value) {
        // B N H D and M, whatever the layout.
        double keys =
            static_cast<double>((*key)[sequenceDim(attention.getLayout())]);
        double channels = static_cast<double>(query->back() + value->back());
        flops += 2 * product(ArrayRef(*query).drop_back()) * keys * channels;
      } else {
        known = false;
      }
    }
  }
  return known ? std::optional<double>(flops) : std::nullopt;
}

std::optional<double> countFlops(ModuleOp module,
                                 const llvm::StringMap<int64_t> &dims) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      entry = function;
  if (!entry || entry.isExternal())
    return std::nullopt;
  SizeEvaluator evaluator(entry, dims);
  double total = 0;
  for (auto call : entry.getOps<CallOp>()) {
    auto kernel = module.lookupSymbol<KernelOp>(call.getCallee());
    if (!kernel)
      return std::nullopt;
    SmallVector<Shape> shapes;
    for (Value input : call.getInputs())
      shapes.push_back(evaluator.shape(input));
    std::optional<double> flops = countKernel(kernel, shapes);
    if (!flops)
      return std::nullopt;
    total += *flops;
  }
  return total;
}

} // namespace attn::run

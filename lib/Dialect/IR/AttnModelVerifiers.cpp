//===- AttnModelVerifiers.cpp - checks of weights, dims, kernels *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that look up symbols, and those of the attributes that functions
// carry: `attn.name`, `attn.dims`. The labels are those of AttnModelOps.td.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Whether a generated header can use the name as it is.
static bool isCIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  // weight_c1
  if (!type.hasStaticShape())
    return emitOpError() << "expected a static type (because weights are laid "
                            "out ahead of time), got "
                         << type;
  if (!type.getElementType().isIntOrFloat())
    return emitOpError() << "expected a type of floats or integers, got "
                         << type;
  // weight_c2
  if (auto value = dyn_cast<ValueAttr>(getRecipe()))
    if (value.getElements().getShapedType() != type)
      return emitOpError() << "expected elements of type " << type
                           << " (because the weight has that type), got "
                           << value.getElements().getShapedType();
  return success();
}

/// The weights that a recipe is made of.
static SmallVector<FlatSymbolRefAttr> getParts(Attribute recipe) {
  if (auto concat = dyn_cast<ConcatAttr>(recipe))
    return SmallVector<FlatSymbolRefAttr>(concat.getWeights());
  if (auto pack = dyn_cast<PackAttr>(recipe))
    return {pack.getWeight()};
  return {};
}

/// Whether `target` is a part of `weight`, or a part of a part.
static bool reaches(WeightOp weight, WeightOp target,
                    SymbolTableCollection &symbolTable,
                    llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (FlatSymbolRefAttr name : getParts(weight.getRecipe())) {
    auto part = symbolTable.lookupNearestSymbolFrom<WeightOp>(weight, name);
    if (!part)
      continue; // Reported at `weight`.
    if (part == target ||
        (seen.insert(part).second && reaches(part, target, symbolTable, seen)))
      return true;
  }
  return false;
}

/// Verifies that the parts laid out along the axis fill `type`.
static LogicalResult verifyConcat(WeightOp op, RankedTensorType type,
                                  ConcatAttr concat, ArrayRef<WeightOp> parts) {
  int64_t axis = concat.getAxis();
  uint64_t sum = 0;
  if (axis >= type.getRank())
    return op.emitOpError()
           << "expected axis < " << type.getRank()
           << " (because the weight has that rank), got " << axis;
  for (WeightOp part : parts) {
    auto partType = cast<RankedTensorType>(part.getType());
    bool agrees = partType.getRank() == type.getRank() &&
                  partType.getElementType() == type.getElementType();
    for (int64_t dim = 0; agrees && dim < type.getRank(); ++dim)
      agrees = dim == axis || partType.getDimSize(dim) == type.getDimSize(dim);
    if (!agrees) {
      InFlightDiagnostic diagnostic = op.emitOpError();
      diagnostic << "expected parts that agree with " << type
                 << " in all but axis " << axis << ", got " << partType
                 << " for @" << part.getSymName();
      diagnostic.attachNote(part.getLoc()) << "the part is defined here";
      return diagnostic;
    }
    sum = llvm::SaturatingAdd<uint64_t>(sum, partType.getDimSize(axis));
  }
  if (sum != uint64_t(type.getDimSize(axis)))
    return op.emitOpError()
           << "expected " << sum << " in axis " << axis << " of " << type
           << " (because the parts add up to that), got "
           << type.getDimSize(axis);
  return success();
}

/// Verifies that the panels of `part` fill `type`.
static LogicalResult verifyPack(WeightOp op, RankedTensorType type,
                                PackAttr pack, WeightOp part) {
  auto partType = cast<RankedTensorType>(part.getType());
  if (partType.getRank() != 2)
    return op.emitOpError()
           << "expected a weight of rank 2 to pack (because it "
              "is (N, K)), got "
           << partType << " for @" << part.getSymName();
  auto expected = RankedTensorType::get(
      {llvm::divideCeilSigned(partType.getDimSize(0), pack.getPanel()),
       partType.getDimSize(1), pack.getPanel()},
      partType.getElementType());
  if (type != expected)
    return op.emitOpError()
           << "expected type " << expected << " (because @" << part.getSymName()
           << " has type " << partType << " and panel is " << pack.getPanel()
           << "), got " << type;
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  SmallVector<WeightOp> parts;
  // weight_c3, weight_c4
  for (FlatSymbolRefAttr name : getParts(getRecipe())) {
    auto part = symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, name);
    if (!part)
      return emitOpError() << "expected names of attn.weight in the recipe, "
                              "got "
                           << name;
    parts.push_back(part);
  }
  // weight_c5
  llvm::SmallPtrSet<Operation *, 8> seen;
  if (reaches(*this, *this, symbolTable, seen))
    return emitOpError() << "expected a recipe that ends in data, got one that "
                            "leads back to @"
                         << getSymName();
  auto type = cast<RankedTensorType>(getType());
  if (auto concat = dyn_cast<ConcatAttr>(getRecipe()))
    return verifyConcat(*this, type, concat, parts);
  if (auto pack = dyn_cast<PackAttr>(getRecipe()))
    return verifyPack(*this, type, pack, parts.front());
  return success();
}

LogicalResult
WeightRefOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // weight_ref_c1
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError() << "expected the name of an attn.weight, got "
                         << getWeightAttr();
  if (weight.getType() == getResult().getType())
    return success();
  InFlightDiagnostic diagnostic = emitOpError();
  diagnostic << "expected a result of type " << weight.getType() << " (because "
             << getWeightAttr() << " has that type), got "
             << getResult().getType();
  diagnostic.attachNote(weight.getLoc()) << "the weight is defined here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  // dim_c1
  int64_t min = getMin(), max = getMax();
  if (min < 0 || min > max)
    return emitOpError() << "expected 0 <= min <= max in the range, got " << min
                         << " and " << max;
  // dim_c2
  if (!isCIdentifier(getSymName()))
    return emitOpError()
           << "expected a C identifier (because generated headers "
              "use the name), got '"
           << getSymName() << "'";
  return success();
}

LogicalResult DimSizeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // dim_size_c1
  if (symbolTable.lookupNearestSymbolFrom<DimOp>(*this, getDimAttr()))
    return success();
  return emitOpError() << "expected the name of an attn.dim, got "
                       << getDimAttr();
}

//===----------------------------------------------------------------------===//
// Kernels and calls
//===----------------------------------------------------------------------===//

void CheckIdsOp::build(OpBuilder &builder, OperationState &state, Value ids,
                       OpFoldResult limit, StringRef name) {
  auto number = dyn_cast<Attribute>(limit);
  build(builder, state, ids, number ? Value() : cast<Value>(limit),
        number ? builder.getI64IntegerAttr(
                     cast<IntegerAttr>(number).getValue().getSExtValue())
               : IntegerAttr(),
        builder.getStringAttr(name));
}

OpFoldResult CheckIdsOp::getMixedLimit() {
  return getBound() ? OpFoldResult(getBound()) : OpFoldResult(getLimitAttr());
}

LogicalResult CheckIdsOp::verify() {
  // check_ids_c3
  if (bool(getBound()) == bool(getLimitAttr()))
    return emitOpError("expected one limit, a number or a value, got ")
           << (getBound() ? "both" : "none");
  return success();
}

bool KernelOp::hasDoubles() {
  auto isDouble = [](Type type) {
    return isa<ShapedType>(type) && getElementTypeOrSelf(type).isF64();
  };
  if (llvm::any_of(getArgumentTypes(), isDouble))
    return true;
  WalkResult walk = getBody().walk([&](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isDouble)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

LogicalResult KernelOp::verify() {
  // kernel_c1
  if (getBody().empty())
    return emitOpError() << "expected a body (because a kernel is never "
                            "external), got none";
  // kernel_c3
  LogicalResult result = verifyCaptures(*this, getArgumentTypes());
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (!isa<RankedTensorType>(type))
      result = emitOpError() << "expected a ranked tensor for result " << index
                             << ", got " << type;
  return result;
}

LogicalResult KernelOp::verifyRegions() {
  // kernel_c2
  Block &block = getBody().front();
  auto yield = block.mightHaveTerminator()
                   ? dyn_cast<YieldOp>(block.getTerminator())
                   : YieldOp();
  if (!yield)
    return emitOpError() << "expected the body to end in attn.yield";
  if (yield.getOperandTypes() != getResultTypes())
    return yield.emitOpError()
           << "expected values of types (" << getResultTypes()
           << ") (because kernel @" << getSymName() << " returns those), got ("
           << yield.getOperandTypes() << ")";
  return success();
}

LogicalResult CallOp::verify() {
  // call_c4
  bool anyTensor = false, anyMemref = false;
  for (Value operand : getOperands()) {
    anyTensor |= isa<TensorType>(operand.getType());
    anyMemref |= isa<BaseMemRefType>(operand.getType());
  }
  if (anyTensor && anyMemref)
    return emitOpError() << "expected shaped operands to be all tensors or all "
                            "memrefs, got both";
  // call_c5 is what DestinationStyleOpInterface checks.
  return success();
}

/// Whether a value of type `actual` can be passed for one of type `declared`:
/// the same type, or after bufferization the memref of a tensor.
static bool isPassableAs(Type actual, Type declared) {
  if (actual == declared)
    return true;
  auto memref = dyn_cast<MemRefType>(actual);
  auto tensor = dyn_cast<RankedTensorType>(declared);
  return memref && tensor && memref.getShape() == tensor.getShape() &&
         memref.getElementType() == tensor.getElementType();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // call_c1
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel)
    return emitOpError() << "expected the name of an attn.kernel, got "
                         << getCalleeAttr();
  auto check = [&](StringRef what, ValueRange actual,
                   ArrayRef<Type> declared) -> LogicalResult {
    if (actual.size() != declared.size()) {
      InFlightDiagnostic diagnostic = emitOpError();
      diagnostic << "expected " << declared.size() << " " << what
                 << "s (because kernel " << getCalleeAttr()
                 << " has that many), got " << actual.size();
      diagnostic.attachNote(kernel.getLoc()) << "the kernel is defined here";
      return diagnostic;
    }
    LogicalResult result = success();
    for (auto [index, value] : llvm::enumerate(actual)) {
      if (isPassableAs(value.getType(), declared[index]))
        continue;
      InFlightDiagnostic diagnostic = emitOpError();
      diagnostic << "expected type " << declared[index] << " for " << what
                 << " " << index << " (because kernel " << getCalleeAttr()
                 << " has that type), got " << value.getType();
      diagnostic.attachNote(kernel.getLoc()) << "the kernel is defined here";
      result = failure();
    }
    return result;
  };
  // call_c2, call_c3
  LogicalResult inputs = check("input", getInputs(), kernel.getArgumentTypes());
  LogicalResult outputs =
      check("output", getOutputs(), kernel.getResultTypes());
  return success(succeeded(inputs) && succeeded(outputs));
}

//===----------------------------------------------------------------------===//
// Attributes of functions and modules
//===----------------------------------------------------------------------===//

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == "attn.tuning") {
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !list ||
        !llvm::all_of(list, llvm::IsaPred<TunedAttentionAttr, TunedLinearAttr>))
      return op->emitOpError()
             << "expected attn.tuning to be a list of #attn.tuned_attention "
                "and #attn.tuned_linear on a module, got "
             << attribute.getValue();
    return success();
  }
  if (attribute.getName() != "attn.target")
    return success(); // Passes may leave notes for each other.
  if (!isa<ModuleOp>(op) || !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError()
           << "expected attn.target to be a string on a module, got "
           << attribute.getValue();
  return success();
}

/// Verifies `attn.name` or `attn.dims` of argument or result `index`, whose
/// type is `type`; `others` are the attributes of those before it.
static LogicalResult
verifyInterfaceAttribute(FunctionOpInterface function, StringRef kind,
                         unsigned index, Type type, NamedAttribute attribute,
                         function_ref<DictionaryAttr(unsigned)> others) {
  auto error = [&]() {
    InFlightDiagnostic diagnostic = function.emitOpError();
    diagnostic << kind << " " << index << ": ";
    return diagnostic;
  };
  if (attribute.getName() == "attn.name") {
    auto name = dyn_cast<StringAttr>(attribute.getValue());
    if (!name || !isCIdentifier(name.getValue()))
      return error() << "expected attn.name to be a C identifier (because "
                        "generated headers use it), got "
                     << attribute.getValue();
    for (unsigned other = 0; other < index; ++other)
      if (DictionaryAttr attributes = others(other))
        if (attributes.get("attn.name") == name)
          return error() << "expected an attn.name of its own, got " << name
                         << ", which " << kind << " " << other << " has";
    return success();
  }
  if (attribute.getName() != "attn.dims")
    return error() << "expected attn.name or attn.dims, got "
                   << attribute.getName();

  auto dims = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!dims || !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
    return error() << "expected attn.dims to be a list of strings, got "
                   << attribute.getValue();
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t rank = tensor ? tensor.getRank() : 0;
  if (int64_t(dims.size()) != rank)
    return error() << "expected " << rank << " names in attn.dims (because "
                   << type << " has that many dimensions), got " << dims.size();
  LogicalResult result = success();
  for (auto [dim, name] : llvm::enumerate(dims.getAsRange<StringAttr>())) {
    if (name.empty())
      continue;
    // A name that nothing declares is a size of any range; attn-name-dims
    // declares it.
    Operation *found = SymbolTable::lookupNearestSymbolFrom(function, name);
    if (!found)
      continue;
    auto symbol = dyn_cast<DimOp>(found);
    if (!symbol) {
      result = error() << "expected the name of an attn.dim in attn.dims, got "
                       << name << ", which is the name of an operation "
                       << found->getName().getStringRef();
      continue;
    }
    int64_t size = tensor.getDimSize(dim);
    if (ShapedType::isDynamic(size))
      continue;
    if (int64_t(symbol.getMin()) != size || int64_t(symbol.getMax()) != size)
      result = error() << "expected size ? for dimension " << dim
                       << " (because it is named " << name
                       << ", whose range is " << symbol.getMin() << " to "
                       << symbol.getMax() << "), got " << size;
  }
  return result;
}

LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyInterfaceAttribute(
      function, "argument", argument, function.getArgumentTypes()[argument],
      attribute,
      [&](unsigned other) { return function.getArgAttrDict(other); });
}

LogicalResult AttnDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyInterfaceAttribute(
      function, "result", result, function.getResultTypes()[result], attribute,
      [&](unsigned other) { return function.getResultAttrDict(other); });
}

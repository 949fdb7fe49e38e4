//===- Interface.cpp - inputs and outputs of the model --------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs become arguments, their dim_params named sizes. Lists (sequences,
// optionals) become one argument a tensor. Names become C identifiers, because
// the generated header uses them.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace attn::onnx {

/// Sizes are 32 bits in kernels.
static constexpr int64_t maxSize = INT32_MAX;

std::string Importer::makeName(StringRef name, llvm::StringSet<> &used) {
  std::string identifier;
  for (char c : name)
    identifier += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (identifier.empty() || llvm::isDigit(identifier.front()))
    identifier.insert(identifier.begin(), '_');
  std::string unique = identifier;
  for (unsigned i = 1; !used.insert(unique).second; ++i)
    unique = identifier + "_" + std::to_string(i);
  return unique;
}

Size Importer::dimSize(StringRef name) {
  if (auto found = dims.find(name); found != dims.end())
    return found->second;
  Location loc = function.getLoc();
  OpBuilder atTop(function);
  auto dim =
      DimOp::create(atTop, loc, atTop.getStringAttr(makeName(name, usedNames)),
                    /*sym_visibility=*/StringAttr(), atTop.getI64IntegerAttr(0),
                    atTop.getI64IntegerAttr(maxSize));
  symbols->insert(dim);
  dimNames[name] = dim.getSymName().str();
  Size size =
      DimSizeOp::create(builder, loc, builder.getIndexType(), dim.getSymName())
          .getResult();
  dims[name] = size;
  return size;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Datum Importer::addArgument(StringRef name, const Type &type) {
  Datum datum;
  datum.element = type.element;
  auto problem = [&](const Twine &message) {
    problems.add("input '" + name + "': " + message);
    datum.isMissing = true;
    return datum;
  };
  mlir::Type element = mlirType(type.element, context);
  if (type.kind != Type::Kind::Tensor || !element)
    return problem("expected a tensor of numbers or BOOL, got " +
                   (type.kind == Type::Kind::Tensor
                        ? elementTypeName(type.element)
                        : std::string("another type")));
  if (!type.hasShape)
    return problem("expected a shape (because sizes are known or have names "
                   "when the model is compiled), got none: run shape inference "
                   "on the model");
  SmallVector<int64_t> shape;
  SmallVector<std::string> names;
  for (const Dim &dim : type.dims) {
    bool isNumber = dim.size >= 0;
    if (!isNumber && dim.size != -1)
      return problem("expected sizes of 0 or more, got " + Twine(dim.size));
    shape.push_back(isNumber ? dim.size : ShapedType::kDynamic);
    if (!isNumber && !dim.name.empty())
      dimSize(dim.name);
    names.push_back(isNumber || dim.name.empty() ? "" : dimNames[dim.name]);
  }
  Block &body = function.getBody().front();
  BlockArgument argument =
      body.addArgument(RankedTensorType::get(shape, element),
                       NameLoc::get(StringAttr::get(context, name)));
  datum.tensor = argument;
  for (auto [i, dim] : llvm::enumerate(type.dims)) {
    if (dim.size >= 0)
      datum.sizes.push_back(builder.getIndexAttr(dim.size));
    else if (!dim.name.empty())
      datum.sizes.push_back(dimSize(dim.name));
    else
      datum.sizes.push_back(
          tensor::DimOp::create(builder, argument.getLoc(), argument, i)
              .getResult());
  }
  arguments.push_back({makeName(name, usedNames), std::move(names)});
  return datum;
}

/// The numbers of "1,-2,3", none if it is something else.
static std::optional<Scalars> parseNumbers(ElementType type, StringRef text) {
  Scalars scalars;
  SmallVector<StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    int64_t integer = 0;
    double number = 0;
    if (isFloat(type)) {
      if (part.getAsDouble(number))
        return std::nullopt;
      scalars.push_back(Scalar::ofFloat(roundTo(type, number)));
    } else {
      if (!isInteger(type) || part.getAsInteger(10, integer))
        return std::nullopt;
      scalars.push_back(Scalar::ofInteger(
          type == ElementType::Bool ? integer != 0 : integer));
    }
  }
  return scalars;
}

std::optional<Datum> Importer::makeInputValue(const ValueInfo &input) {
  std::string name = input.name.str();
  auto text = options.inputValues.find(name);
  auto tensor = options.inputTensors.find(name);
  if (text == options.inputValues.end() && tensor == options.inputTensors.end())
    return std::nullopt;
  Datum datum;
  datum.element = input.type.element;
  if (tensor != options.inputTensors.end()) {
    datum = makeStored(*tensor->second);
  } else {
    std::optional<Scalars> scalars =
        parseNumbers(input.type.element, text->second);
    if (!scalars) {
      problems.add("input '" + name + "': expected numbers of type " +
                   elementTypeName(input.type.element) +
                   " with commas between them, like 1,-1,64, got '" +
                   text->second + "'");
      datum.isMissing = true;
      return datum;
    }
    // One size may be left open.
    int64_t open = static_cast<int64_t>(scalars->size());
    for (const Dim &dim : input.type.dims)
      if (dim.size > 0)
        open /= dim.size;
    for (const Dim &dim : input.type.dims)
      datum.sizes.push_back(
          builder.getIndexAttr(dim.size >= 0 ? dim.size : open));
    if (datum.numElements() != static_cast<int64_t>(scalars->size())) {
      problems.add("input '" + name + "': expected as many numbers as " +
                   describe(datum) + " has, got " + Twine(scalars->size()));
      datum.isMissing = true;
      return datum;
    }
    datum.known = std::make_shared<const Scalars>(std::move(*scalars));
  }
  bool fits = input.type.kind == Type::Kind::Tensor &&
              datum.element == input.type.element &&
              datum.sizes.size() == input.type.dims.size();
  for (size_t i = 0; fits && i < datum.sizes.size(); ++i)
    fits = input.type.dims[i].size < 0 ||
           input.type.dims[i].size == numberOf(datum.sizes[i]);
  if (!fits) {
    problems.add("input '" + name +
                 "': expected a value of the input's type, got " +
                 describe(datum));
    datum.isMissing = true;
  }
  return datum;
}

void Importer::importInput(const ValueInfo &input) {
  if (std::optional<Datum> value = makeInputValue(input))
    return define(input.name, std::move(*value));
  if (input.type.kind == Type::Kind::Tensor)
    return define(input.name, addArgument(input.name, input.type));
  // A list of as many tensors as the caller says.
  const Type *type = &input.type;
  while (type->inner)
    type = type->inner.get();
  auto length = options.inputLengths.find(input.name.str());
  if (type->kind != Type::Kind::Tensor ||
      length == options.inputLengths.end()) {
    problems.add("input '" + input.name +
                 "': expected a tensor (because a compiled model has as many "
                 "inputs as it has tensors), got a list of unknown length or "
                 "another type");
    return;
  }
  Datum list;
  list.isList = true;
  for (size_t i = 0; i < length->second; ++i)
    list.parts.push_back(
        addArgument((input.name + "_" + Twine(i)).str(), *type));
  define(input.name, std::move(list));
}

void Importer::importInputs() {
  llvm::StringSet<> names;
  for (const ValueInfo &input : model.graph.inputs) {
    if (!names.insert(input.name).second)
      problems.add("expected a name of its own for each input, got '" +
                   input.name + "' twice");
    // Old writers list initializers as inputs with a default.
    else if (!scopes.back().values.count(input.name))
      importInput(input);
  }
  auto check = [&](StringRef name) {
    if (!names.contains(name))
      problems.add("expected the name of an input for a value, got '" + name +
                   "'");
  };
  for (const auto &[name, value] : options.inputValues)
    check(name);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Sizes that the model states and we do not know are those.
mlir::Value Importer::castToStated(Datum &datum, const ValueInfo &output,
                                   Location loc) {
  mlir::Value tensor = materialize(datum, loc);
  const Type &type = output.type;
  if (datum.element != type.element && type.kind == Type::Kind::Tensor) {
    problems.add("output '" + output.name + "': expected " +
                 elementTypeName(type.element) +
                 " (because the model states it), got " + describe(datum));
    return tensor;
  }
  if (type.kind != Type::Kind::Tensor || !type.hasShape)
    return tensor;
  SmallVector<int64_t> stated, shape;
  bool fits = type.dims.size() == datum.sizes.size();
  for (size_t i = 0; fits && i < type.dims.size(); ++i) {
    std::optional<int64_t> number = numberOf(datum.sizes[i]);
    int64_t size = type.dims[i].size;
    fits = size < 0 || !number || *number == size;
    shape.push_back(number ? *number : size < 0 ? ShapedType::kDynamic : size);
  }
  if (!fits) {
    std::string text = elementTypeName(type.element) + " (";
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(type.dims, stream, [&](const Dim &dim) {
      if (dim.size >= 0)
        stream << dim.size;
      else
        stream << (dim.name.empty() ? "?" : dim.name);
    });
    problems.add("output '" + output.name + "': expected " + text +
                 ") (because the model states it), got " + describe(datum));
    return tensor;
  }
  auto type0 = cast<RankedTensorType>(tensor.getType());
  auto wanted = RankedTensorType::get(shape, type0.getElementType());
  if (wanted == type0)
    return tensor;
  return tensor::CastOp::create(builder, loc, wanted, tensor);
}

void Importer::importOutputs() {
  llvm::StringSet<> used;
  SmallVector<mlir::Value> results;
  std::vector<std::string> names;
  for (const ValueInfo &output : model.graph.outputs) {
    Datum *datum = lookup(output.name);
    if (!datum) {
      problems.add("output '" + output.name +
                   "': expected a node that makes it, got none");
      continue;
    }
    Location loc = NameLoc::get(StringAttr::get(context, output.name));
    if (datum->isList) {
      for (auto [i, part] : llvm::enumerate(datum->parts)) {
        results.push_back(materialize(part, loc));
        names.push_back(makeName((output.name + "_" + Twine(i)).str(), used));
      }
      continue;
    }
    results.push_back(castToStated(*datum, output, loc));
    names.push_back(makeName(output.name, used));
  }
  if (model.graph.outputs.empty())
    problems.add("expected at least one output, got none");
  if (!problems.empty())
    return;
  func::ReturnOp::create(builder, function.getLoc(), results);
  Block &body = function.getBody().front();
  function.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), ValueRange(results).getTypes()));
  auto attribute = [&](StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  };
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    SmallVector<StringRef> dims(argument.second.begin(), argument.second.end());
    function.setArgAttrs(
        i, {attribute("attn.name", builder.getStringAttr(argument.first)),
            attribute("attn.dims", builder.getStrArrayAttr(dims))});
  }
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttrs(
        i, {attribute("attn.name", builder.getStringAttr(name))});
}

} // namespace attn::onnx

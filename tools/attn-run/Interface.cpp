//===- Interface.cpp - what a model takes and gives -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Interface.h.
//
//===----------------------------------------------------------------------===//

#include "Interface.h"

#include "attn/Dialect/IR/Attn.h"
#include "attn/Support/Json.h"
#include "attn/Support/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;

namespace attn::run {

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '(';
  interleaveComma(shape, stream);
  stream << ')';
  return text;
}

SmallVector<int64_t, 4> shapeOf(const TensorInfo &tensor,
                                ArrayRef<int64_t> dims) {
  SmallVector<int64_t, 4> shape;
  for (int64_t size : tensor.sizes)
    shape.push_back(size >= 0 ? size : dims[-1 - size]);
  return shape;
}

NpyArray makeArray(const TensorInfo &tensor, ArrayRef<int64_t> dims) {
  NpyArray array;
  array.name = tensor.name;
  array.type = tensor.type;
  array.shape = shapeOf(tensor, dims);
  uint64_t bytes = npyTypeBytes(tensor.type);
  for (int64_t size : array.shape)
    bytes *= size;
  array.data.resize(bytes);
  return array;
}

/// The type of that name in NAME_info or of that name in MLIR, none if arrays
/// cannot have it.
static std::optional<NpyType> typeNamed(StringRef name) {
  return name == "bool" ? NpyType::Bool : npyTypeNamed(name.lower());
}

static Error badType(const Twine &what, const Twine &type) {
  return createStringError(inconvertibleErrorCode(),
                           "expected " + what +
                               " to have floats or integers of 1 to 8 bytes "
                               "as elements (because cases hold those), got " +
                               type);
}

//===----------------------------------------------------------------------===//
// From a compiled object
//===----------------------------------------------------------------------===//

static Error malformed() {
  return createStringError(inconvertibleErrorCode(),
                           "expected a compiled model whose NAME_info "
                           "describes its dims, inputs and outputs, got other "
                           "text: was it compiled by another version?");
}

static Error readTensors(const json::Object &object, StringRef field,
                         const Interface &interface,
                         std::vector<TensorInfo> &tensors) {
  const json::Array *list = object.getArray(field);
  if (!list)
    return malformed();
  for (const json::Value &value : *list) {
    const json::Object *entry = value.getAsObject();
    std::optional<StringRef> name, typeName;
    const json::Array *sizes = nullptr;
    if (entry) {
      name = entry->getString("name");
      typeName = entry->getString("type");
      sizes = entry->getArray("dims");
    }
    if (!name || !typeName || !sizes)
      return malformed();
    std::optional<NpyType> type = typeNamed(*typeName);
    if (!type)
      return badType(*name, *typeName);
    TensorInfo tensor{name->str(), *type, {}};
    for (const json::Value &size : *sizes) {
      if (std::optional<int64_t> number = size.getAsInteger()) {
        tensor.sizes.push_back(*number);
        continue;
      }
      auto dim = find_if(interface.dims, [&](const DimInfo &dim) {
        return size.getAsString() == StringRef(dim.name);
      });
      if (dim == interface.dims.end())
        return malformed();
      tensor.sizes.push_back(-1 - (dim - interface.dims.begin()));
    }
    if (const json::Value *former = entry->get("in_place")) {
      auto input = find_if(interface.inputs, [&](const TensorInfo &input) {
        return former->getAsString() == StringRef(input.name);
      });
      if (input == interface.inputs.end())
        return malformed();
      tensor.inPlace = input - interface.inputs.begin();
    }
    tensors.push_back(std::move(tensor));
  }
  return Error::success();
}

Expected<Interface> interfaceFromInfo(StringRef info) {
  Expected<json::Object> object = parseJsonObject(info, "NAME_info");
  if (!object)
    return object.takeError();
  Interface interface;
  interface.name = object->getString("name").value_or("model").str();
  const json::Array *dims = object->getArray("dims");
  if (!dims)
    return malformed();
  for (const json::Value &value : *dims) {
    const json::Object *dim = value.getAsObject();
    std::optional<StringRef> name = dim ? dim->getString("name") : std::nullopt;
    if (!name || !dim->getInteger("min") || !dim->getInteger("max"))
      return malformed();
    interface.dims.push_back(
        {name->str(), *dim->getInteger("min"), *dim->getInteger("max")});
  }
  if (Error error = readTensors(*object, "inputs", interface, interface.inputs))
    return std::move(error);
  if (Error error =
          readTensors(*object, "outputs", interface, interface.outputs))
    return std::move(error);
  return interface;
}

//===----------------------------------------------------------------------===//
// From a module
//===----------------------------------------------------------------------===//

static Expected<TensorInfo> tensorOf(mlir::Type type,
                                     mlir::DictionaryAttr attributes,
                                     const Twine &fallbackName,
                                     ArrayRef<DimInfo> dims) {
  TensorInfo tensor;
  auto name = attributes ? attributes.getAs<mlir::StringAttr>("attn.name")
                         : mlir::StringAttr();
  tensor.name = name ? name.str() : fallbackName.str();
  auto ranked = dyn_cast<mlir::RankedTensorType>(type);
  std::string typeName;
  raw_string_ostream(typeName) << (ranked ? ranked.getElementType() : type);
  std::optional<NpyType> element = ranked ? typeNamed(typeName) : std::nullopt;
  if (!element)
    return badType(tensor.name, typeName);
  tensor.type = *element;
  auto names = attributes ? attributes.getAs<mlir::ArrayAttr>("attn.dims")
                          : mlir::ArrayAttr();
  for (auto [i, size] : enumerate(ranked.getShape())) {
    if (!mlir::ShapedType::isDynamic(size)) {
      tensor.sizes.push_back(size);
      continue;
    }
    auto dimName = names && i < names.size()
                       ? dyn_cast<mlir::StringAttr>(names[i])
                       : mlir::StringAttr();
    auto dim = find_if(dims, [&](const DimInfo &dim) {
      return dimName && dimName.getValue() == dim.name;
    });
    assert(dim != dims.end() && "attn-name-dims names every dimension");
    tensor.sizes.push_back(-1 - (dim - dims.begin()));
  }
  return tensor;
}

/// The dims in the order in which the arguments use them, which is that of the
/// compiled model: values of dims go from one to the other by number. Those
/// that nothing uses come last.
static std::vector<DimInfo> dimsOf(mlir::ModuleOp module,
                                   mlir::func::FuncOp entry) {
  SetVector<StringRef> names;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto used = entry.getArgAttrOfType<mlir::ArrayAttr>(i, "attn.dims"))
      for (auto name : used.getAsRange<mlir::StringAttr>())
        names.insert(name.getValue());
  for (auto dim : module.getOps<DimOp>())
    names.insert(dim.getSymName());
  std::vector<DimInfo> dims;
  for (StringRef name : names)
    if (auto dim = module.lookupSymbol<DimOp>(name))
      dims.push_back({name.str(), static_cast<int64_t>(dim.getMin()),
                      static_cast<int64_t>(dim.getMax())});
  return dims;
}

Expected<Interface> interfaceOfModule(mlir::ModuleOp module) {
  mlir::func::FuncOp entry;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !entry)
      entry = function;
  if (!entry)
    return createStringError(inconvertibleErrorCode(),
                             "expected a public func.func in the module, got "
                             "none");
  Interface interface;
  interface.name = entry.getName().str();
  interface.dims = dimsOf(module, entry);
  for (auto [i, type] : enumerate(entry.getArgumentTypes())) {
    Expected<TensorInfo> tensor = tensorOf(type, entry.getArgAttrDict(i),
                                           "arg" + Twine(i), interface.dims);
    if (!tensor)
      return tensor.takeError();
    interface.inputs.push_back(std::move(*tensor));
  }
  for (auto [i, type] : enumerate(entry.getResultTypes())) {
    Expected<TensorInfo> tensor = tensorOf(type, entry.getResultAttrDict(i),
                                           "result" + Twine(i), interface.dims);
    if (!tensor)
      return tensor.takeError();
    interface.outputs.push_back(std::move(*tensor));
  }
  return interface;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

uint64_t memoryOfMachine() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

Error checkSizes(const Interface &interface, ArrayRef<int64_t> dims) {
  static const uint64_t memory = memoryOfMachine();
  Problems problems;
  for (auto *tensors : {&interface.inputs, &interface.outputs})
    for (const TensorInfo &tensor : *tensors) {
      uint64_t bytes = npyTypeBytes(tensor.type);
      bool overflow = false;
      SmallVector<int64_t, 4> shape = shapeOf(tensor, dims);
      for (int64_t size : shape)
        overflow |=
            __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
      if (!is_contained(shape, 0) && (overflow || bytes > memory))
        problems.add("expected tensors that fit into the memory of this "
                     "machine, got " +
                     tensor.name + " of shape " + shapeText(shape));
    }
  return problems.take();
}

Expected<SmallVector<int64_t>>
dimsFromCommandLine(const Interface &interface,
                    const StringMap<int64_t> &given) {
  Problems problems;
  SmallVector<int64_t> values;
  for (const DimInfo &dim : interface.dims) {
    auto found = given.find(dim.name);
    int64_t value = found == given.end() ? dim.min : found->second;
    values.push_back(value);
    if (found == given.end() && dim.min != dim.max)
      problems.add("expected --dim " + dim.name + "=N with N of " +
                   Twine(dim.min) + " to " + Twine(dim.max) + ", got none");
    else if (value < dim.min || value > dim.max)
      problems.add("expected --dim " + dim.name + " of " + Twine(dim.min) +
                   " to " + Twine(dim.max) + ", got " + Twine(value));
  }
  SmallVector<StringRef> unknown;
  for (const auto &entry : given)
    if (none_of(interface.dims,
                [&](const DimInfo &dim) { return dim.name == entry.first(); }))
      unknown.push_back(entry.first());
  sort(unknown);
  for (StringRef name : unknown)
    problems.add(
        "expected --dim of " +
        (interface.dims.empty()
             ? std::string("nothing (because the model has no dims)")
             : join(map_range(interface.dims,
                              [](const DimInfo &dim) { return dim.name; }),
                    ", ")) +
        ", got " + name);
  if (!problems.empty())
    return problems.take();
  if (Error error = checkSizes(interface, values))
    return std::move(error);
  return values;
}

} // namespace attn::run

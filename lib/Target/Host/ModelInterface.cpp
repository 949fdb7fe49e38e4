//===- ModelInterface.cpp - names, types and sizes of a model ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads attn.name and attn.dims of the entry function's arguments and results,
// and decides which of them the driver takes with strides: those that only
// kernels touch which address their operands by strides.
//
//===----------------------------------------------------------------------===//

#include "ModelInterface.h"
#include "KernelStrides.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;
using namespace attn;

/// Tensors that the run-time has room for.
static constexpr unsigned maxTensors = 64;

FailureOr<func::FuncOp> attn::getEntry(ModuleOp module) {
  func::FuncOp entry;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isDeclaration())
      continue;
    if (entry) {
      InFlightDiagnostic diag =
          function.emitError("expected one public function (because it becomes "
                             "the model), got another one: make it private");
      diag.attachNote(entry.getLoc()) << "the first one is here";
      return diag;
    }
    entry = function;
  }
  if (!entry)
    return module.emitError("expected a public func.func (because it becomes "
                            "the model), got none");
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitError("expected one block in the host function, got ")
           << entry.getBody().getBlocks().size();
  Operation *last = entry.getBody().front().getTerminator();
  if (!isa<func::ReturnOp>(last))
    return last->emitError("expected func.return at the end of the host "
                           "function, got ")
           << last->getName();
  return entry;
}

int64_t attn::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

FailureOr<attn_type>
attn::getElementKind(Type type, function_ref<InFlightDiagnostic()> emitError) {
  if (type.isF32())
    return ATTN_F32;
  if (type.isF64())
    return ATTN_F64;
  if (type.isF16())
    return ATTN_F16;
  if (type.isBF16())
    return ATTN_BF16;
  if (type.isInteger(1))
    return ATTN_BOOL;
  if (type.isInteger(8))
    return ATTN_I8;
  if (type.isInteger(16))
    return ATTN_I16;
  if (type.isInteger(32))
    return ATTN_I32;
  if (type.isInteger(64))
    return ATTN_I64;
  if (isa<Float8E4M3FNType>(type))
    return ATTN_F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return ATTN_F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return ATTN_F8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return ATTN_F8E5M2FNUZ;
  if (isa<Float4E2M1FNType>(type))
    return ATTN_F4E2M1FN;
  return emitError()
         << "expected elements of f32, f64, f16, bf16, i1, i8, i16, i32, i64, "
            "f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ or f4E2M1FN (because the "
            "C API has no other), got "
         << type;
}

std::string attn::makeIdentifier(StringRef text) {
  static const llvm::StringSet<> keywords = {
      "alignas",  "alignof",  "and",       "asm",       "auto",   "bool",
      "break",    "case",     "catch",     "char",      "class",  "const",
      "continue", "default",  "delete",    "do",        "double", "else",
      "enum",     "explicit", "export",    "extern",    "false",  "float",
      "for",      "friend",   "goto",      "if",        "inline", "int",
      "long",     "mutable",  "namespace", "new",       "not",    "nullptr",
      "operator", "or",       "private",   "protected", "public", "register",
      "restrict", "return",   "short",     "signed",    "sizeof", "static",
      "struct",   "switch",   "template",  "this",      "throw",  "true",
      "try",      "typedef",  "typeid",    "typename",  "union",  "unsigned",
      "using",    "virtual",  "void",      "volatile",  "while",  "xor"};
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(name.begin(), '_');
  if (keywords.contains(name))
    name += '_';
  return name;
}

namespace {
/// Reads arguments and results; collects dims in order of first use. The
/// dialect has verified that attn.dims has a name a dimension and that none is
/// the name of another operation than an attn.dim; a size whose name nothing
/// declares may have any value, as in attn-name-dims.
struct InterfaceReader {
  func::FuncOp entry;
  ModuleOp module;
  ModelInterface result;
  llvm::StringMap<int64_t> dimNumbers;
  bool failed = false;

  InFlightDiagnostic error() {
    failed = true;
    return entry.emitError();
  }

  /// The number of a dim, new if `create`; -1 after an error.
  int64_t getDim(StringRef name, bool create, const Twine &where) {
    if (auto it = dimNumbers.find(name); it != dimNumbers.end())
      return it->second;
    if (!create) {
      error() << "expected the dims of " << where
              << " to be dims of arguments (because the caller allocates the "
                 "results), got '"
              << name << "'";
      return -1;
    }
    auto dim = SymbolTable::lookupNearestSymbolFrom<DimOp>(
        entry, StringAttr::get(entry.getContext(), name));
    int64_t number = result.dims.size();
    dimNumbers[name] = number;
    result.dims.push_back({name.str(),
                           dim ? static_cast<int64_t>(dim.getMin()) : 0,
                           dim ? static_cast<int64_t>(dim.getMax())
                               : std::numeric_limits<int32_t>::max()});
    return number;
  }

  void readTensor(Type type, DictionaryAttr attributes, StringRef side,
                  unsigned number, SmallVectorImpl<ModelTensor> &list) {
    std::string where = (side + " " + Twine(number)).str();
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType || tensorType.getRank() > ATTN_MAX_RANK) {
      error() << "expected a tensor of at most " << int(ATTN_MAX_RANK)
              << " dimensions for " << where << ", got " << type;
      return;
    }
    ModelTensor tensor;
    auto name =
        attributes ? attributes.getAs<StringAttr>("attn.name") : nullptr;
    tensor.name =
        name ? name.str()
             : ((side == "result" ? "result" : "arg") + Twine(number)).str();
    FailureOr<attn_type> kind = getElementKind(
        tensorType.getElementType(), [&] { return error() << where << ": "; });
    tensor.type = kind.value_or(ATTN_F32);
    auto dims = attributes ? attributes.getAs<ArrayAttr>("attn.dims") : nullptr;
    for (auto [axis, size] : llvm::enumerate(tensorType.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        tensor.sizes.push_back(size);
        continue;
      }
      auto dimName = dims ? dyn_cast<StringAttr>(dims[axis]) : nullptr;
      if (!dimName || dimName.empty()) {
        error() << "expected a name in attn.dims for dynamic dimension " << axis
                << " of " << where << ", got none: run attn-name-dims";
        return;
      }
      int64_t dim = getDim(dimName, side == "argument", where);
      tensor.sizes.push_back(-1 - std::max<int64_t>(dim, 0));
    }
    list.push_back(std::move(tensor));
  }

  /// Names become fields of C structs: they must differ as identifiers.
  void checkNames() {
    llvm::StringSet<> inputs, outputs;
    auto check = [&](StringRef name, llvm::StringSet<> &seen, StringRef what) {
      if (!seen.insert(makeIdentifier(name)).second)
        error() << "expected names that differ as C identifiers, got " << what
                << " '" << name << "' twice";
    };
    for (const ModelDim &dim : result.dims)
      check(dim.name, inputs, "dim or input");
    for (const ModelTensor &tensor : result.inputs)
      check(tensor.name, inputs, "dim or input");
    for (const ModelTensor &tensor : result.outputs)
      check(tensor.name, outputs, "output");
  }
};
} // namespace

FailureOr<ModelInterface> attn::getModelInterface(func::FuncOp entry,
                                                  StringRef name) {
  InterfaceReader reader{entry, entry->getParentOfType<ModuleOp>(), {}, {}};
  reader.result.name = name.str();
  if (entry.getNumArguments() > maxTensors ||
      entry.getNumResults() > maxTensors)
    return entry.emitError("expected at most ")
           << maxTensors << " arguments and results each, got "
           << entry.getNumArguments() << " and " << entry.getNumResults();
  if (entry.getNumResults() == 0)
    return entry.emitError("expected at least one result, got none");
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    reader.readTensor(entry.getArgumentTypes()[i], entry.getArgAttrDict(i),
                      "argument", i, reader.result.inputs);
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    reader.readTensor(entry.getResultTypes()[i], entry.getResultAttrDict(i),
                      "result", i, reader.result.outputs);
  if (!reader.failed)
    reader.checkNames();
  if (reader.failed)
    return failure();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    reader.result.inputs[i].strided = takesStrides(entry.getArgument(i));
  auto terminator =
      cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(terminator.getOperands()))
    reader.result.outputs[i].strided = givesStrides(value);
  return std::move(reader.result);
}

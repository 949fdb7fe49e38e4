//===- NameDims.cpp - attn-name-dims ---------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-name-dims: gives every argument, result and dynamic size of the entry
// function a name and a range, so that a caller can say what "sequence" is and
// that equal sizes are known to be equal. Names follow from the classes of
// DimClasses: one class, one name.
//
//===----------------------------------------------------------------------===//

#include "DimClasses.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "attn-name-dims"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNNAMEDIMSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

FailureOr<func::FuncOp> attn::findEntry(ModuleOp module) {
  func::FuncOp entry;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isDeclaration())
      continue;
    if (entry) {
      InFlightDiagnostic diag =
          func.emitError()
          << "expected one public function, the entry of the model, got '"
          << entry.getSymName() << "' and '" << func.getSymName()
          << "': make the others private";
      diag.attachNote(entry.getLoc()) << "the other one is here";
      return diag;
    }
    entry = func;
  }
  if (entry && !entry.getBody().hasOneBlock())
    return entry.emitError("expected the entry to be one block (because a "
                           "compiled model has no branches), got ")
           << entry.getBody().getBlocks().size();
  return entry;
}

std::optional<DimRange> attn::parseDimRange(StringRef text) {
  DimRange range;
  StringRef numbers;
  std::tie(range.name, numbers) = text.split('=');
  auto [low, high] = numbers.split("..");
  if (!numbers.contains(".."))
    high = low;
  if (range.name.empty() || low.getAsInteger(10, range.min) ||
      high.getAsInteger(10, range.max) || range.min < 0 ||
      range.max < range.min || range.max > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return range;
}

namespace {

/// Names the dimensions of one entry function.
class DimNamer {
public:
  DimNamer(ModuleOp module, func::FuncOp entry, ArrayRef<std::string> ranges)
      : module(module), entry(entry), ranges(ranges), symbols(module) {}

  LogicalResult run() {
    nameValues();
    if (failed(readNames()) || failed(classes.unify(entry)))
      return failure();
    inventNames();
    writeArgumentDims();
    if (failed(writeResultDims()) || failed(setRanges()))
      return failure();
    useNames();
    return success();
  }

private:
  /// "argument 'x'" or "result 'y'".
  std::string describe(bool isArgument, unsigned index) {
    auto name = isArgument
                    ? entry.getArgAttrOfType<StringAttr>(index, "attn.name")
                    : entry.getResultAttrOfType<StringAttr>(index, "attn.name");
    return (isArgument ? "argument '" : "result '") + name.str() + "'";
  }

  /// Gives each unnamed argument and result a name: arg0, result0.
  void nameValues() {
    Builder builder(module.getContext());
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (!entry.getArgAttr(i, "attn.name"))
        entry.setArgAttr(i, "attn.name",
                         builder.getStringAttr("arg" + Twine(i)));
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (!entry.getResultAttr(i, "attn.name"))
        entry.setResultAttr(i, "attn.name",
                            builder.getStringAttr("result" + Twine(i)));
  }

  /// Takes the names that attn.dims state.
  LogicalResult readNames() {
    bool ok = true;
    for (BlockArgument arg : entry.getArguments())
      if (auto dims = entry.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(),
                                                        "attn.dims"))
        ok &=
            succeeded(readNames(arg, dims, describe(true, arg.getArgNumber())));
    for (auto [i, value] : llvm::enumerate(returnedValues()))
      if (auto dims = entry.getResultAttrOfType<ArrayAttr>(i, "attn.dims"))
        ok &= succeeded(readNames(value, dims, describe(false, i)));
    return success(ok);
  }

  LogicalResult readNames(Value value, ArrayAttr dims, const Twine &where) {
    if (!isa<RankedTensorType>(value.getType()))
      return success();
    for (auto [dim, name] : llvm::enumerate(dims.getAsRange<StringAttr>()))
      if (!name.empty() &&
          failed(classes.name(value, dim, name.getValue(), where, entry)))
        return failure();
    return success();
  }

  OperandRange returnedValues() {
    return entry.getBody().front().getTerminator()->getOperands();
  }

  /// Gives each dynamic dimension of an argument that has no name one: dim0.
  void inventNames() {
    llvm::StringSet<> used;
    forEachDim(entry.getArguments(), [&](Value value, unsigned dim) {
      used.insert(classes.info(value, dim).name);
    });
    unsigned next = 0;
    forEachDim(entry.getArguments(), [&](Value value, unsigned dim) {
      DimClasses::Info &info = classes.info(value, dim);
      if (!info.name.empty() ||
          !cast<RankedTensorType>(value.getType()).isDynamicDim(dim))
        return;
      do
        info.name = ("dim" + Twine(next++)).str();
      while (used.contains(info.name) || symbols.lookup(info.name));
    });
  }

  template <typename Values, typename Fn>
  static void forEachDim(Values &&values, Fn &&fn) {
    for (Value value : values)
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          fn(value, dim);
  }

  /// The attn.dims of a tensor: "" where the size is static.
  ArrayAttr dimNames(Value value) {
    SmallVector<StringRef> names;
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      names.push_back(type.isDynamicDim(dim)
                          ? StringRef(classes.info(value, dim).name)
                          : StringRef());
    return Builder(module.getContext()).getStrArrayAttr(names);
  }

  void writeArgumentDims() {
    for (BlockArgument arg : entry.getArguments())
      if (isa<RankedTensorType>(arg.getType()))
        entry.setArgAttr(arg.getArgNumber(), "attn.dims", dimNames(arg));
  }

  /// Result sizes must be sizes of arguments: a caller allocates the results.
  LogicalResult writeResultDims() {
    bool ok = true;
    for (auto [i, value] : llvm::enumerate(returnedValues())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (!type.isDynamicDim(dim) || isArgumentSize(value, dim))
          continue;
        entry.emitError() << "expected dimension " << dim << " of "
                          << describe(false, i)
                          << " to be the size of an argument's dimension "
                             "(because the caller allocates the results), got "
                             "a size that only the model computes";
        ok = false;
      }
      entry.setResultAttr(i, "attn.dims", dimNames(value));
    }
    return success(ok);
  }

  bool isArgumentSize(Value value, unsigned dim) {
    StringRef name = classes.info(value, dim).name;
    bool found = false;
    if (!name.empty())
      forEachDim(entry.getArguments(), [&](Value arg, unsigned argDim) {
        found |= classes.info(arg, argDim).name == name;
      });
    return found;
  }

  /// Makes an attn.dim of each name in use and applies the ranges that were
  /// asked for and the limits that operations set.
  LogicalResult setRanges() {
    SmallVector<StringRef> names;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    bool ok = true;
    forEachDim(entry.getArguments(), [&](Value value, unsigned dim) {
      const DimClasses::Info &info = classes.info(value, dim);
      if (info.name.empty() || llvm::is_contained(names, info.name))
        return;
      names.push_back(info.name);
      auto dimOp = symbols.lookup<DimOp>(info.name);
      bool isNew = !dimOp;
      if (isNew) {
        dimOp = DimOp::create(builder, entry.getLoc(), info.name, StringAttr(),
                              info.size.value_or(0),
                              info.size.value_or(info.limit));
        symbols.insert(dimOp);
      }
      // The largest size there is says that nobody stated one.
      bool isOpen = isNew || dimOp.getMax() ==
                                 uint64_t(std::numeric_limits<int32_t>::max());
      bool asked = applyRange(dimOp);
      ok &= succeeded(checkLimit(dimOp, info, isOpen && !asked));
    });
    return success(succeeded(checkRanges(names)) && ok);
  }

  /// Applies the last --dim of that name. True if there was one.
  bool applyRange(DimOp dimOp) {
    bool found = false;
    for (const std::string &text : ranges) {
      std::optional<DimRange> range = parseDimRange(text);
      if (!range || range->name != dimOp.getSymName())
        continue;
      dimOp.setMin(range->min);
      dimOp.setMax(range->max);
      found = true;
    }
    return found;
  }

  /// A tensor that is read at each position has a row for it, a static size is
  /// what it is.
  LogicalResult checkLimit(DimOp dimOp, const DimClasses::Info &info,
                           bool mayShrink) {
    int64_t max = static_cast<int64_t>(dimOp.getMax());
    int64_t min = static_cast<int64_t>(dimOp.getMin());
    if (info.size && (min > *info.size || max < *info.size))
      return dimOp.emitError()
             << "expected the range of '" << info.name << "' to include "
             << *info.size
             << " (because an operation forces it to be equal to a dimension "
                "of that size), got "
             << min << ".." << max;
    if (info.size) {
      dimOp.setMin(*info.size);
      dimOp.setMax(*info.size);
      return success();
    }
    if (max <= info.limit)
      return success();
    if (mayShrink) {
      dimOp.setMax(info.limit);
      return success();
    }
    InFlightDiagnostic diag =
        dimOp.emitError() << "expected '" << info.name << "' to be at most "
                          << info.limit
                          << " (because the tensor that is read there has "
                          << "no more), got a range of " << min << ".." << max;
    if (info.limitedBy)
      diag.attachNote(info.limitedBy->getLoc()) << "it is read here";
    return diag;
  }

  /// Complains about each --dim that cannot be read or names nothing.
  LogicalResult checkRanges(ArrayRef<StringRef> names) {
    bool ok = true;
    for (const std::string &text : ranges) {
      std::optional<DimRange> range = parseDimRange(text);
      if (!range) {
        entry.emitError() << "expected a range like batch=1..8 or batch=4 with "
                             "sizes from 0 to 2147483647, got '"
                          << text << "'";
        ok = false;
      } else if (!llvm::is_contained(names, range->name)) {
        entry.emitError() << "expected the name of a dimension ("
                          << (names.empty() ? "this function has none"
                                            : llvm::join(names, ", "))
                          << "), got '" << range->name << "' in '" << text
                          << "'";
        ok = false;
      }
    }
    return success(ok);
  }

  /// Replaces tensor.dim of a named size by the name.
  void useNames() {
    SmallVector<tensor::DimOp> dims;
    entry.walk([&](tensor::DimOp op) { dims.push_back(op); });
    for (tensor::DimOp op : dims) {
      std::optional<int64_t> dim = op.getConstantIndex();
      auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
      if (!dim || !type || *dim >= type.getRank())
        continue;
      StringRef name = classes.info(op.getSource(), *dim).name;
      if (name.empty() || !type.isDynamicDim(*dim) || !symbols.lookup(name))
        continue;
      // In front of the loops that ask for it, who need not ask each time.
      Operation *place = op;
      if (op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>() == entry)
        place = entry.getBody().findAncestorOpInRegion(*op);
      OpBuilder builder(place);
      op.replaceAllUsesWith(
          DimSizeOp::create(builder, op.getLoc(), builder.getIndexType(), name)
              .getResult());
      op.erase();
    }
  }

  ModuleOp module;
  func::FuncOp entry;
  ArrayRef<std::string> ranges;
  SymbolTable symbols;
  DimClasses classes;
};

struct AttnNameDimsPass final
    : attn::impl::AttnNameDimsPassBase<AttnNameDimsPass> {
  using AttnNameDimsPassBase::AttnNameDimsPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> entry = findEntry(getOperation());
    if (failed(entry))
      return signalPassFailure();
    if (*entry && failed(DimNamer(getOperation(), *entry, dims).run()))
      signalPassFailure();
  }
};

} // namespace

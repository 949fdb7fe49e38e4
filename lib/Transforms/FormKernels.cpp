//===- FormKernels.cpp - attn-form-kernels ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-form-kernels: outlines each group of KernelGroups as an attn.kernel and
// puts an attn.call in its place. Arguments are positional, one for each use of
// an outside value, and no names go in: two layers that differ in weights, or
// in which of their operands are the same tensor, get the same text and so
// share one kernel.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "KernelGroups.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "attn-form-kernels"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNFORMKERNELSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {

/// Outlines one group.
class Outliner {
public:
  Outliner(const KernelGroup &group, OpBuilder &host)
      : group(group), host(host), loc(group.last()->getLoc()) {}

  /// Fills in the body of `kernel`, which has no block yet, and its type.
  /// Afterwards `arguments` are what a call must pass.
  void outline(KernelOp kernel);

  SmallVector<Value> arguments;
  SmallVector<Value> results;

private:
  /// An outside value that the kernel needs: as an operand, or, where `use` is
  /// null, inside a region.
  struct Need {
    Value value;
    OpOperand *use;
  };

  void collectArguments();
  void addNeed(Value value, OpOperand *use);
  void fillBody(Block *body);
  Value lookUp(OpBuilder &builder, Value value, OpOperand *use);

  bool isInside(Value value) const {
    return value.getDefiningOp() && group.contains(value.getDefiningOp());
  }
  /// The argument whose tensor.dim `value` is, if it is one.
  const Need *sizeOfArgument(Value value) const;

  const KernelGroup &group;
  OpBuilder &host;
  Location loc;
  SmallVector<Need> tensors, scalars;
  IRMapping inKernel;
  DenseMap<OpOperand *, Value> argumentOfUse;
};

} // namespace

/// True for an operand for which the kernel repeats a constant. A constant
/// tensor can only stand in front of an element-wise operation.
static bool isRepeatedFor(OpOperand &operand) {
  Operation *op = operand.get().getDefiningOp();
  if (!op || !isRepeatedInKernel(op))
    return false;
  return !isa<TensorType>(operand.get().getType()) ||
         operand.getOwner()->hasTrait<OpTrait::Elementwise>();
}

const Outliner::Need *Outliner::sizeOfArgument(Value value) const {
  auto size = value.getDefiningOp<tensor::DimOp>();
  if (!size || !size.getConstantIndex())
    return nullptr;
  auto *need = llvm::find_if(
      tensors, [&](const Need &n) { return n.value == size.getSource(); });
  return need == tensors.end() ? nullptr : need;
}

void Outliner::addNeed(Value value, OpOperand *use) {
  if (isInside(value) || (use && isRepeatedFor(*use)))
    return;
  if (isa<TensorType>(value.getType())) {
    tensors.push_back({value, use});
    return;
  }
  if (!isRepeatedInKernel(value.getDefiningOp()))
    scalars.push_back({value, use});
}

/// Tensors first, then scalars that no argument tells, each in the order of the
/// operations.
void Outliner::collectArguments() {
  for (Operation *op : group.ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
      if (!empty || !isa<linalg::LinalgOp>(op)) {
        addNeed(operand.get(), &operand);
        continue;
      }
      // A destination is made inside, from its sizes.
      for (OpOperand &size : empty->getOpOperands())
        addNeed(size.get(), &size);
    }
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      addNeed(value, nullptr);
  }
  llvm::erase_if(scalars, [&](const Need &need) {
    return sizeOfArgument(need.value) != nullptr;
  });
  for (const Need &need : llvm::concat<Need>(tensors, scalars))
    arguments.push_back(need.value);
}

/// What stands for an outside value inside the kernel.
Value Outliner::lookUp(OpBuilder &builder, Value value, OpOperand *use) {
  if (Value argument = use ? argumentOfUse.lookup(use) : Value())
    return argument;
  if (Value known = inKernel.lookupOrNull(value))
    return known;
  if (const Need *need = sizeOfArgument(value)) {
    auto size = value.getDefiningOp<tensor::DimOp>();
    Value tensor = lookUp(builder, need->value, need->use);
    return tensor::DimOp::create(builder, size.getLoc(), tensor,
                                 *size.getConstantIndex());
  }
  // A constant, or a destination.
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(lookUp(builder, operand.get(), &operand));
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

void Outliner::fillBody(Block *body) {
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  for (const Need &need : llvm::concat<Need>(tensors, scalars)) {
    Value argument = body->addArgument(need.value.getType(), loc);
    if (need.use)
      argumentOfUse[need.use] = argument;
    else
      inKernel.map(need.value, argument);
  }
  for (Operation *op : group.ops) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(lookUp(builder, operand.get(), &operand));
    IRMapping inRegions;
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      inRegions.map(value, lookUp(builder, value, nullptr));
    // Two uses of one value are two arguments: operands are set one by one.
    Operation *copy = builder.clone(*op, inRegions);
    copy->setOperands(operands);
    for (auto [result, copied] :
         llvm::zip_equal(op->getResults(), copy->getResults()))
      inKernel.map(result, copied);
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(inKernel.lookup(result));
  YieldOp::create(builder, loc, yielded);
}

void Outliner::outline(KernelOp kernel) {
  results = group.results();
  collectArguments();
  kernel.setFunctionType(
      host.getFunctionType(TypeRange(arguments), TypeRange(results)));
  fillBody(&kernel.getBody().emplaceBlock());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// Forms the kernels of one module.
class KernelFormer {
public:
  explicit KernelFormer(ModuleOp module) : module(module), symbols(module) {
    for (auto kernel : module.getOps<KernelOp>())
      kernels.push_back(kernel);
  }

  LogicalResult run(func::FuncOp func) {
    FailureOr<std::vector<KernelGroup>> groups = formKernelGroups(func);
    if (failed(groups) || failed(checkTables(*groups)))
      return failure();
    nameConstants(func);
    for (const KernelGroup &group : *groups)
      replace(func, group);
    eraseUnused(func);
    shareSizes(func);
    return success();
  }

private:
  /// The ids of an embedding are checked against the number of rows, which must
  /// therefore be known.
  LogicalResult checkTables(ArrayRef<KernelGroup> groups) {
    bool ok = true;
    for (const KernelGroup &group : groups)
      for (Operation *op : group.ops)
        if (auto embedding = dyn_cast<EmbeddingOp>(op))
          if (embedding.getTable().getType().isDynamicDim(0)) {
            op->emitOpError("expected a table with a static number of rows "
                            "(because ids are checked against it), got ")
                << embedding.getTable().getType();
            ok = false;
          }
    return success(ok);
  }

  /// Constant tensors that a kernel would have to carry become weights.
  void nameConstants(func::FuncOp func) {
    SmallVector<arith::ConstantOp> constants;
    for (auto constant : func.getOps<arith::ConstantOp>())
      if (isa<RankedTensorType>(constant.getType()))
        constants.push_back(constant);
    for (arith::ConstantOp constant : constants) {
      auto elements = dyn_cast<ElementsAttr>(constant.getValue());
      if (!elements || llvm::all_of(constant->getUses(), isRepeatedFor))
        continue;
      OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
      auto weight = WeightOp::create(
          atTop, constant.getLoc(), atTop.getStringAttr(unusedName("constant")),
          StringAttr(), ValueAttr::get(module.getContext(), elements),
          TypeAttr::get(constant.getType()));
      symbols.insert(weight);
      OpBuilder builder(constant);
      auto ref = WeightRefOp::create(builder, constant.getLoc(),
                                     constant.getType(), weight.getSymName());
      constant.getResult().replaceUsesWithIf(
          ref.getResult(), [](OpOperand &use) { return !isRepeatedFor(use); });
    }
  }

  std::string unusedName(StringRef prefix) {
    std::string name;
    do
      name = (prefix + "_" + Twine(next[prefix]++)).str();
    while (symbols.lookup(name));
    return name;
  }

  /// Puts a call of a new or of an equal kernel in the place of a group.
  void replace(func::FuncOp func, const KernelGroup &group) {
    OpBuilder host(group.last());
    Location loc = group.last()->getLoc();
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    auto kernel = KernelOp::create(
        atEnd, loc, "", FunctionType::get(module.getContext(), {}, {}),
        StringAttr(), ArrayAttr(), ArrayAttr(), Attribute());
    Outliner outliner(group, host);
    outliner.outline(kernel);
    bool isNew = true;
    for (KernelOp other : kernels)
      if (isEqual(kernel, other)) {
        kernel.erase();
        kernel = other;
        isNew = false;
        break;
      }
    if (isNew) {
      kernel.setSymName(unusedName(group.name()));
      kernel->moveBefore(func);
      symbols.insert(kernel);
      kernels.push_back(kernel);
    }

    checkIds(host, group);
    SmallVector<Value> destinations;
    for (Value result : outliner.results)
      destinations.push_back(tensor::EmptyOp::create(
          host, loc, hostSizes(host, loc, result),
          cast<RankedTensorType>(result.getType()).getElementType()));
    auto call =
        CallOp::create(host, loc, TypeRange(outliner.results),
                       kernel.getSymName(), outliner.arguments, destinations);
    remark::passed(
        loc, remark::RemarkOpts::name(isNew ? "kernel-formed" : "kernel-shared")
                 .category(DEBUG_TYPE)
                 .function(func.getSymName()))
        << remark::add("{0}", kernel.getSymName())
        << remark::metric("Operations", group.ops.size());
    for (auto [result, replacement] :
         llvm::zip_equal(outliner.results, call.getResults()))
      result.replaceAllUsesWith(replacement);
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

  static bool isEqual(KernelOp a, KernelOp b) {
    return a.getFunctionType() == b.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(
               &a.getBody(), &b.getBody(),
               OperationEquivalence::IgnoreLocations);
  }

  /// Ids come from outside: the model returns an error for one that is not in
  /// the table.
  void checkIds(OpBuilder &host, const KernelGroup &group) {
    for (Operation *op : group.ops) {
      auto embedding = dyn_cast<EmbeddingOp>(op);
      if (!embedding)
        continue;
      Value ids = embedding.getIds();
      int64_t rows = embedding.getTable().getType().getDimSize(0);
      if (!checked.insert({ids, rows}).second)
        continue;
      CheckIdsOp::create(host, op->getLoc(), ids, host.getIndexAttr(rows),
                         argumentName(ids, "ids"));
    }
  }

  /// Constants and sizes that have moved into kernels.
  static void eraseUnused(func::FuncOp func) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// One size, one value; one weight, one reference. Not upstream's CSE: it
  /// would also merge destinations, and two results cannot share one.
  static void shareSizes(func::FuncOp func) {
    SmallVector<Operation *> seen;
    for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
      if (!isHostOp(&op) || !isPure(&op) || op.getNumResults() != 1 ||
          isa<tensor::EmptyOp>(op))
        continue;
      auto *same = llvm::find_if(seen, [&](Operation *other) {
        return OperationEquivalence::isEquivalentTo(
            other, &op, OperationEquivalence::IgnoreLocations);
      });
      if (same == seen.end()) {
        seen.push_back(&op);
        continue;
      }
      op.replaceAllUsesWith(*same);
      op.erase();
    }
  }

  ModuleOp module;
  SymbolTable symbols;
  SmallVector<KernelOp> kernels;
  llvm::StringMap<unsigned> next;
  llvm::DenseSet<std::pair<Value, int64_t>> checked;
};

struct AttnFormKernelsPass final
    : attn::impl::AttnFormKernelsPassBase<AttnFormKernelsPass> {
  using AttnFormKernelsPassBase::AttnFormKernelsPassBase;

  void runOnOperation() override {
    KernelFormer former(getOperation());
    bool ok = true;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!func.isDeclaration())
        ok &= succeeded(former.run(func));
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

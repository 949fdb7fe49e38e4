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
  void collectArguments();
  void fillBody(Block *body);
  /// The value that stands for an operand of the group inside the kernel.
  void repeat(OpBuilder &builder, Operation *op);
  bool isInside(Value value) const {
    return value.getDefiningOp() && group.contains(value.getDefiningOp());
  }
  /// tensor.dim of a tensor that the kernel has as an argument.
  tensor::DimOp sizeOfArgument(Value value) const;

  const KernelGroup &group;
  OpBuilder &host;
  Location loc;
  IRMapping inKernel;
  /// For each argument, the operand that it stands for.
  SmallVector<OpOperand *> argumentUses;
  /// Operations from outside that the body repeats, operands first.
  SmallVector<Operation *> repeated;
};

} // namespace

/// True for an operand of an op in the group that the kernel takes a constant
/// for; attn ops with captures only read tensors from arguments.
static bool isRepeatedFor(OpOperand &operand) {
  Operation *op = operand.get().getDefiningOp();
  if (!op || !isRepeatedInKernel(op))
    return false;
  return !isa<TensorType>(operand.get().getType()) ||
         operand.getOwner()->hasTrait<OpTrait::Elementwise>();
}

tensor::DimOp Outliner::sizeOfArgument(Value value) const {
  auto size = value.getDefiningOp<tensor::DimOp>();
  if (!size || !size.getConstantIndex())
    return nullptr;
  return llvm::any_of(
             argumentUses,
             [&](OpOperand *use) { return use->get() == size.getSource(); })
             ? size
             : nullptr;
}

/// Tensors first, then scalars, each in the order of the operations.
void Outliner::collectArguments() {
  for (bool wantTensors : {true, false})
    for (Operation *op : group.ops)
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        bool isDestination =
            value.getDefiningOp<tensor::EmptyOp>() && isa<linalg::LinalgOp>(op);
        if (isInside(value) || isRepeatedFor(operand) || isDestination ||
            isa<TensorType>(value.getType()) != wantTensors ||
            sizeOfArgument(value))
          continue;
        argumentUses.push_back(&operand);
        arguments.push_back(value);
      }
  // The sizes of destinations, unless the kernel can take them from arguments.
  for (Operation *op : group.ops)
    for (OpOperand &operand : op->getOpOperands())
      if (auto empty = operand.get().getDefiningOp<tensor::EmptyOp>())
        for (OpOperand &size : empty->getOpOperands())
          if (!sizeOfArgument(size.get()) &&
              !isRepeatedInKernel(size.get().getDefiningOp())) {
            argumentUses.push_back(&size);
            arguments.push_back(size.get());
          }
}

void Outliner::fillBody(Block *body) {
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  // An argument may stand for several equal values: each use finds its own.
  DenseMap<OpOperand *, Value> argumentOf;
  for (OpOperand *use : argumentUses)
    argumentOf[use] = body->addArgument(use->get().getType(), loc);

  auto lookUp = [&](OpOperand &operand, auto &self) -> Value {
    Value value = operand.get();
    if (Value argument = argumentOf.lookup(&operand))
      return argument;
    if (Value inside = inKernel.lookupOrNull(value))
      return inside;
    if (tensor::DimOp size = sizeOfArgument(value)) {
      OpOperand *use = *llvm::find_if(argumentUses, [&](OpOperand *use) {
        return use->get() == size.getSource();
      });
      return tensor::DimOp::create(builder, size.getLoc(), argumentOf[use],
                                   *size.getConstantIndex());
    }
    // A constant, or a destination.
    Operation *op = value.getDefiningOp();
    IRMapping operands;
    for (OpOperand &inner : op->getOpOperands())
      operands.map(inner.get(), self(inner, self));
    return builder.clone(*op, operands)->getResult(0);
  };

  for (Operation *op : group.ops) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(lookUp(operand, lookUp));
    // Cloned with its own operands first: two equal operands may differ inside.
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    inKernel.map(op->getResults(), copy->getResults());
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
      StringRef name = "ids";
      if (auto arg = dyn_cast<BlockArgument>(ids))
        if (auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()))
          if (auto given = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                             "attn.name"))
            name = given;
      CheckIdsOp::create(host, op->getLoc(), ids, rows, name);
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

//===- PlaceOnDevice.cpp - where each tensor is, and when -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels run on the device, everything else on the host. The function is one
// block, so for each tensor it is known at each operation which of its two
// memories holds the value; a copy is put in front of what needs it in the
// other. Weights are in both. Where a model is all kernels, nothing is copied
// but its inputs and outputs.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attn;

namespace {
enum class Side { Host, Device };

/// An argument, or a temporary in the workspace.
struct Tensor {
  /// As the run-time numbers it (lib/Runtime/Device.h).
  int64_t root;
  bool onHost = false, onDevice = false;
  /// Of the caller's, and nothing has written to it: which of both holds it is
  /// known at run time only, as the caller chooses.
  bool isGiven = false;

  bool &at(Side side) { return side == Side::Host ? onHost : onDevice; }
};

/// What an operation does to a tensor.
struct Access {
  bool reads = false, writes = false, writesAll = false;
};

struct Placement {
  Driver &driver;
  Block &body;
  OpBuilder builder;
  /// By the buffer that is all of the tensor.
  llvm::MapVector<Value, Tensor> tensors;

  explicit Placement(Driver &driver)
      : driver(driver), body(driver.function.front()),
        builder(driver.function.getContext()) {}

  LogicalResult run();

private:
  Value getWhole(Value buffer, bool &isWhole);
  Tensor &getTensor(Value whole);
  void transfer(Value whole, Side side, bool unlessBound, bool ifBound);
  void need(Value whole, Side side);
  void access(Value whole, Side side, Access access);
  void visitCall(CallOp call);
  void visitCopy(memref::CopyOp copy, Operation *at);
  void visitHost(Operation *op);
  void visit(Operation *op);
  void settleOutputs();
};
} // namespace

/// The buffer that `buffer` is a part or another shape of. `isWhole` says
/// whether it is all of it.
Value Placement::getWhole(Value buffer, bool &isWhole) {
  isWhole = true;
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<memref::ViewOp>(op);
        view && view.getSource() == body.getArgument(driver.workspace()))
      return buffer;
    auto viewLike = dyn_cast<ViewLikeOpInterface>(op);
    if (!viewLike)
      return {};
    isWhole &=
        isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op);
    buffer = viewLike.getViewSource();
  }
  return buffer;
}

Tensor &Placement::getTensor(Value whole) {
  auto [it, isNew] = tensors.try_emplace(whole);
  Tensor &tensor = it->second;
  if (!isNew)
    return tensor;
  auto argument = dyn_cast<BlockArgument>(whole);
  if (!argument) {
    tensor.root = -1;
    return tensor;
  }
  tensor.root = argument.getArgNumber();
  tensor.isGiven = argument.getArgNumber() < driver.firstOutput();
  bool isWeight = argument.getArgNumber() >= driver.firstWeight();
  tensor.onHost = tensor.onDevice = isWeight;
  return tensor;
}

void Placement::transfer(Value whole, Side side, bool unlessBound,
                         bool ifBound) {
  TransferOp::create(builder, whole.getLoc(), whole, side == Side::Device,
                     unlessBound, ifBound,
                     builder.getI64IntegerAttr(getTensor(whole).root));
}

void Placement::need(Value whole, Side side) {
  Tensor &tensor = getTensor(whole);
  if (tensor.at(side))
    return;
  if (tensor.isGiven)
    transfer(whole, side, /*unlessBound=*/side == Side::Device,
             /*ifBound=*/side == Side::Host);
  else if (tensor.onHost || tensor.onDevice)
    transfer(whole, side, false, false);
  else
    return; // Nobody has written to it.
  tensor.at(side) = true;
}

void Placement::access(Value whole, Side side, Access access) {
  // What is not written must not get lost.
  if (access.reads || (access.writes && !access.writesAll))
    need(whole, side);
  if (!access.writes)
    return;
  Tensor &tensor = getTensor(whole);
  tensor.onHost = side == Side::Host;
  tensor.onDevice = side == Side::Device;
  tensor.isGiven = false;
}

void Placement::visitCall(CallOp call) {
  SmallVector<int64_t> roots;
  auto visitOperands = [&](ValueRange operands, bool isOutput) {
    for (Value operand : operands) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      bool isWhole;
      Value whole = getWhole(operand, isWhole);
      roots.push_back(getTensor(whole).root);
      access(whole, Side::Device, {!isOutput, isOutput, isWhole});
    }
  };
  // All that is read is in place before the first output counts as written.
  visitOperands(call.getInputs(), /*isOutput=*/false);
  visitOperands(call.getOutputs(), /*isOutput=*/true);
  call->setAttr(deviceRootsName, builder.getDenseI64ArrayAttr(roots));
}

/// A copy of what is on the device stays there. Copies that depend on whether
/// two tensors share memory (shareInputs) lie inside of `at`.
void Placement::visitCopy(memref::CopyOp copy, Operation *at) {
  bool all, allOfTarget;
  Value source = getWhole(copy.getSource(), all);
  Value target = getWhole(copy.getTarget(), allOfTarget);
  Tensor &from = getTensor(source);
  if (!from.isGiven && !from.onDevice)
    return visitHost(at);
  access(source, Side::Device, {true});
  access(target, Side::Device, {false, true, allOfTarget});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  DeviceCopyOp::create(builder, copy.getLoc(), copy.getSource(),
                       copy.getTarget(),
                       builder.getI64IntegerAttr(getTensor(source).root),
                       builder.getI64IntegerAttr(getTensor(target).root));
  copy.erase();
}

/// Whether an operation of linalg writes all of an output and reads none of it.
static bool writesAll(Operation *op, Value buffer) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() != 0)
    return false;
  for (OpOperand &init : linalgOp.getDpsInitsMutable())
    if (init.get() == buffer)
      return !linalgOp.payloadUsesValueFromOperand(&init) &&
             linalgOp.getMatchingIndexingMap(&init).isPermutation();
  return false;
}

/// Loops, and whatever else is no kernel.
void Placement::visitHost(Operation *op) {
  llvm::MapVector<Value, Access> accesses;
  op->walk([&](Operation *inner) {
    if (isa<ViewLikeOpInterface, memref::DimOp,
            memref::ExtractAlignedPointerAsIndexOp,
            memref::ExtractStridedMetadataOp>(inner))
      return;
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    for (Value operand : inner->getOperands()) {
      bool isWhole;
      Value whole = isa<MemRefType>(operand.getType())
                        ? getWhole(operand, isWhole)
                        : Value();
      if (!whole)
        continue;
      Access &access = accesses[whole];
      bool writes =
          effects ? effects.getEffectOnValue<MemoryEffects::Write>(operand)
                        .has_value()
                  : !isa<CheckIdsOp>(inner);
      access.writes |= writes;
      access.writesAll |=
          writes && inner == op && isWhole &&
          (writesAll(op, operand) ||
           (isa<memref::CopyOp>(op) && operand != op->getOperand(0)));
      access.reads |=
          !writes ||
          (effects &&
           effects.getEffectOnValue<MemoryEffects::Read>(operand).has_value() &&
           !access.writesAll);
    }
  });
  for (auto &[whole, how] : accesses)
    if (how.reads)
      need(whole, Side::Host);
  for (auto &[whole, how] : accesses)
    access(whole, Side::Host, how);
}

void Placement::visit(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto call = dyn_cast<CallOp>(op))
    return visitCall(call);
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return visitCopy(copy, op);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.elseBlock()) {
    Block &then = *branch.thenBlock();
    if (auto copy = dyn_cast<memref::CopyOp>(then.front());
        copy && copy->getNextNode() == then.getTerminator())
      return visitCopy(copy, op);
  }
  visitHost(op);
}

/// Results end where the caller wants them.
void Placement::settleOutputs() {
  builder.setInsertionPoint(body.getTerminator());
  for (unsigned i = driver.firstOutput(); i < driver.firstWeight(); ++i) {
    Value output = body.getArgument(i);
    Tensor &tensor = getTensor(output);
    if (tensor.onDevice && !tensor.onHost)
      transfer(output, Side::Host, /*unlessBound=*/true, /*ifBound=*/false);
    else if (tensor.onHost && !tensor.onDevice)
      transfer(output, Side::Device, /*unlessBound=*/false, /*ifBound=*/true);
  }
}

LogicalResult Placement::run() {
  WalkResult result = driver.function.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      bool isWhole;
      if (isa<MemRefType>(operand.getType()) && !getWhole(operand, isWhole)) {
        op->emitError("not supported on a device: expected a buffer that is "
                      "part of an argument or of the workspace, got one of ")
            << operand.getType();
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    visit(&op);
  settleOutputs();
  return success();
}

LogicalResult attn::placeOnDevice(Driver &driver) {
  return driver.target->isGpu() ? Placement(driver).run() : success();
}

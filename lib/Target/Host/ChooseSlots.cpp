//===- ChooseSlots.cpp - which temporaries share memory ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The host function is straight-line code, so a temporary lives from its
// allocation to the last operation that uses it or a view of it. Temporaries
// whose lives do not overlap share a slot. Which ones do is decided at compile
// time for typical dims (a greedy choice of the slot that wastes least); that
// choice is right for all dims and good for typical ones.
//
//===----------------------------------------------------------------------===//

#include "MemoryPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

/// Dims at which sizes are compared when slots are chosen.
static constexpr int64_t typicalDim = 128;

namespace {
struct Slot {
  Operation *freeAfter;
  double typicalBytes;
};
} // namespace

/// The last operation of the block that uses the value or a view of it.
static Operation *getLastUse(Value value, Operation *last, Block &body) {
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = body.findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
    for (Value result : ancestor->getResults())
      if (isa<BaseMemRefType>(result.getType()))
        last = getLastUse(result, last, body);
  }
  return last;
}

/// An index value at typical dims; sizes are sums and products of dims.
static double getTypicalSize(const ModelInterface &interface, unsigned firstDim,
                             Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned dim = argument.getArgNumber() - firstDim;
    if (dim >= interface.dims.size())
      return typicalDim;
    const ModelDim &range = interface.dims[dim];
    return std::max(std::min(range.max, typicalDim), range.min);
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  if (op->getNumOperands() == 2) {
    double lhs = getTypicalSize(interface, firstDim, op->getOperand(0));
    double rhs = getTypicalSize(interface, firstDim, op->getOperand(1));
    if (isa<arith::MulIOp>(op))
      return lhs * rhs;
    if (isa<arith::AddIOp>(op))
      return lhs + rhs;
    if (isa<arith::SubIOp>(op))
      return lhs - rhs;
    if (isa<arith::DivUIOp, arith::DivSIOp>(op))
      return rhs == 0 ? 0 : lhs / rhs;
  }
  return typicalDim;
}

/// All temporaries, in the order of their allocations.
static FailureOr<SmallVector<Temporary>> collect(const Driver &driver) {
  func::FuncOp function = driver.function;
  Block &body = function.front();
  SmallVector<Temporary> temporaries;
  WalkResult walk = function.walk([&](memref::AllocOp alloc) -> WalkResult {
    if (alloc->getBlock() != &body)
      return alloc.emitOpError("expected temporaries outside of loops");
    double typical = getElementBytes(alloc.getType().getElementType());
    for (int64_t size : alloc.getType().getShape())
      typical *= ShapedType::isDynamic(size) ? 1 : size;
    for (Value size : alloc.getDynamicSizes())
      typical *= getTypicalSize(*driver.interface, driver.firstDim(), size);
    temporaries.push_back(
        {alloc, getLastUse(alloc.getResult(), alloc, body), typical});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return temporaries;
}

/// Greedy, in the order of the allocations: the free slot whose size is
/// nearest, a new one where all are taken. A free slot of another size is taken
/// too: it grows if it must, which is never more than a new slot would cost.
FailureOr<MemoryPlan> attn::chooseSlots(const Driver &driver) {
  FailureOr<SmallVector<Temporary>> found = collect(driver);
  if (failed(found))
    return failure();
  MemoryPlan plan{std::move(*found)};
  SmallVector<Slot> slots;
  for (Temporary &temporary : plan.temporaries) {
    std::optional<unsigned> best;
    double bestCost = 0;
    for (auto [number, slot] : llvm::enumerate(slots)) {
      if (!slot.freeAfter->isBeforeInBlock(temporary.alloc))
        continue;
      double cost = std::abs(slot.typicalBytes - temporary.typicalBytes);
      if (!best || cost < bestCost) {
        best = number;
        bestCost = cost;
      }
    }
    if (!best) {
      best = slots.size();
      slots.push_back({nullptr, 0});
    }
    temporary.slot = *best;
    Slot &slot = slots[*best];
    slot.freeAfter = temporary.last;
    slot.typicalBytes = std::max(slot.typicalBytes, temporary.typicalBytes);
  }
  plan.slots = slots.size();
  return plan;
}

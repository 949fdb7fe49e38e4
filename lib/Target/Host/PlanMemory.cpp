//===- PlanMemory.cpp - one workspace for all temporaries -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The host function is straight-line code, so a temporary lives from its
// allocation to the last operation that uses it or a view of it. Temporaries
// whose lives do not overlap share a slot; a slot is as large as the largest of
// them when the model runs, since sizes depend on the dims. Which ones share is
// decided at compile time for typical dims (a greedy choice of the slot that
// wastes least); that choice is right for all dims and good for typical ones.
// A second function, of the dims alone, computes the size of the workspace and
// says so if it does not fit into 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace attn;

/// Slots start at multiples of a cache line, which is also a widest vector.
static constexpr int64_t alignment = 64;
/// Dims at which sizes are compared when slots are chosen.
static constexpr int64_t typicalDim = 128;

namespace {
/// An allocation with the operations between which it lives.
struct Temporary {
  memref::AllocOp alloc;
  Operation *last;
  double typicalBytes;
  unsigned slot = 0;
};

struct Slot {
  Operation *freeAfter;
  double typicalBytes;
};

/// Clones the index arithmetic behind sizes in front of everything else, with
/// dims taken from elsewhere, and adds up an overflow flag where asked.
struct SizeEmitter {
  OpBuilder &builder;
  Location loc;
  IRMapping mapping;
  /// i1, set where a product passes 64 bits; null: no checks.
  Value overflow;
  /// Sizes by static bytes and dynamic sizes: temporaries come in a few kinds.
  std::map<std::pair<int64_t, std::vector<void *>>, Value> known;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Value multiply(Value a, Value b) {
    if (!overflow)
      return arith::MulIOp::create(builder, loc, a, b);
    Type i64 = builder.getI64Type();
    Value x = arith::IndexCastOp::create(builder, loc, i64, a);
    Value y = arith::IndexCastOp::create(builder, loc, i64, b);
    auto product = arith::MulUIExtendedOp::create(builder, loc, x, y);
    Value zero = arith::ConstantIntOp::create(builder, loc, i64, 0);
    Value high = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       product.getHigh(), zero);
    // 2^55 leaves room for the sum of all slots.
    Value limit = arith::ConstantIntOp::create(builder, loc, i64, 1LL << 55);
    Value large = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                        product.getLow(), limit);
    overflow = arith::OrIOp::create(builder, loc, overflow, high);
    overflow = arith::OrIOp::create(builder, loc, overflow, large);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      product.getLow());
  }

  /// The value at the builder's position; fails where it depends on more than
  /// the dims.
  FailureOr<Value> emit(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() ||
        !isa_and_present<arith::ArithDialect>(op->getDialect()))
      return failure();
    for (Value operand : op->getOperands())
      if (failed(emit(operand)))
        return failure();
    if (auto product = dyn_cast<arith::MulIOp>(op)) {
      mapping.map(value, multiply(mapping.lookup(product.getLhs()),
                                  mapping.lookup(product.getRhs())));
      return mapping.lookup(value);
    }
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

  /// Bytes of an allocation.
  FailureOr<Value> bytes(memref::AllocOp alloc) {
    int64_t fixed = getElementBytes(alloc.getType().getElementType());
    for (int64_t extent : alloc.getType().getShape())
      if (!ShapedType::isDynamic(extent) &&
          llvm::MulOverflow(fixed, extent, fixed))
        return failure();
    std::vector<void *> key;
    for (Value extent : alloc.getDynamicSizes())
      key.push_back(extent.getAsOpaquePointer());
    Value &size = known[{fixed, key}];
    if (size)
      return size;
    Value product = constant(fixed);
    for (Value extent : alloc.getDynamicSizes()) {
      FailureOr<Value> value = emit(extent);
      if (failed(value))
        return failure();
      product = multiply(*value, product);
    }
    size = product;
    return size;
  }
};

struct Planner {
  Driver &driver;
  func::FuncOp function;
  Block &body;
  SmallVector<Temporary> temporaries;
  SmallVector<Slot> slots;

  explicit Planner(Driver &driver)
      : driver(driver), function(driver.function), body(function.front()) {}

  LogicalResult run();
  double getTypicalSize(Value value);
  void writeOutputsInPlace();
  LogicalResult collect();
  void chooseSlots();
  FailureOr<Value> emitOffsets(SizeEmitter &sizes, SmallVector<Value> &offsets);
  LogicalResult placeTemporaries();
  LogicalResult emitWorkspaceFunction();
};
} // namespace

/// The allocation behind a chain of reshapes; the chain ends at it.
static memref::AllocOp getAllocation(Value value,
                                     SmallVectorImpl<Operation *> &chain) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      break;
    chain.push_back(op);
    value = op->getOperand(0);
  }
  return value.getDefiningOp<memref::AllocOp>();
}

/// An output seen as the allocation that is copied to it through `chain`; null
/// where that is not possible.
static Value invertReshapes(OpBuilder &builder, Value output,
                            ArrayRef<Operation *> chain,
                            memref::AllocOp alloc) {
  for (Operation *op : chain) {
    auto type = cast<MemRefType>(op->getOperand(0).getType());
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      output =
          memref::CollapseShapeOp::create(builder, op->getLoc(), type, output,
                                          expand.getReassociationIndices());
      continue;
    }
    // Only the allocation knows the sizes that were joined.
    if (op->getOperand(0) != alloc.getResult())
      return {};
    output = memref::ExpandShapeOp::create(
        builder, op->getLoc(), type, output,
        cast<memref::CollapseShapeOp>(op).getReassociationIndices(),
        getMixedValues(type.getShape(), alloc.getDynamicSizes(), builder));
  }
  return output;
}

/// An allocation that is copied to an output of the caller becomes that output,
/// seen through the inverse of the reshapes between both.
void Planner::writeOutputsInPlace() {
  OpBuilder builder(function.getContext());
  for (auto copy : llvm::make_early_inc_range(body.getOps<memref::CopyOp>())) {
    auto output = dyn_cast<BlockArgument>(copy.getTarget());
    SmallVector<Operation *> chain;
    memref::AllocOp alloc = getAllocation(copy.getSource(), chain);
    if (!output || !alloc || alloc->getBlock() != &body)
      continue;
    // An output with strides only where all users take them.
    if (!cast<MemRefType>(output.getType()).getLayout().isIdentity() &&
        (!chain.empty() ||
         !llvm::all_of(alloc->getUsers(),
                       llvm::IsaPred<CallOp, memref::CopyOp, memref::DimOp>)))
      continue;
    builder.setInsertionPoint(alloc);
    Value buffer = invertReshapes(builder, output, chain, alloc);
    if (!buffer)
      continue;
    copy.erase();
    alloc.getResult().replaceAllUsesWith(buffer);
    alloc.erase();
  }
}

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
double Planner::getTypicalSize(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned dim = argument.getArgNumber() - driver.firstDim();
    if (dim >= driver.interface->dims.size())
      return typicalDim;
    const ModelDim &range = driver.interface->dims[dim];
    return std::max(std::min(range.max, typicalDim), range.min);
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  if (op->getNumOperands() == 2) {
    double lhs = getTypicalSize(op->getOperand(0));
    double rhs = getTypicalSize(op->getOperand(1));
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

LogicalResult Planner::collect() {
  WalkResult walk = function.walk([&](memref::AllocOp alloc) -> WalkResult {
    if (alloc->getBlock() != &body)
      return alloc.emitOpError("expected temporaries outside of loops");
    double typical = getElementBytes(alloc.getType().getElementType());
    for (int64_t size : alloc.getType().getShape())
      typical *= ShapedType::isDynamic(size) ? 1 : size;
    for (Value size : alloc.getDynamicSizes())
      typical *= getTypicalSize(size);
    temporaries.push_back(
        {alloc, getLastUse(alloc.getResult(), alloc, body), typical});
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Greedy, in the order of the allocations: the free slot whose size is
/// nearest, a new one where all are taken. A free slot of another size is taken
/// too: it grows if it must, which is never more than a new slot would cost.
void Planner::chooseSlots() {
  for (Temporary &temporary : temporaries) {
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
}

/// Offsets of all slots; the result is their sum.
FailureOr<Value> Planner::emitOffsets(SizeEmitter &sizes,
                                      SmallVector<Value> &offsets) {
  OpBuilder &builder = sizes.builder;
  Location loc = sizes.loc;
  SmallVector<SetVector<Value>> slotBytes(slots.size());
  for (Temporary &temporary : temporaries) {
    FailureOr<Value> bytes = sizes.bytes(temporary.alloc);
    if (failed(bytes))
      return temporary.alloc.emitOpError(
          "expected a size that follows from the dims of the arguments "
          "(because the caller provides the workspace), got one that depends "
          "on data");
    slotBytes[temporary.slot].insert(*bytes);
  }
  // For the reader of --emit=host.
  auto named = [&](const Twine &name) {
    return NameLoc::get(builder.getStringAttr(name), loc);
  };
  Value offset = sizes.constant(0), round = sizes.constant(alignment - 1);
  Value mask = sizes.constant(-alignment);
  for (SetVector<Value> &candidates : slotBytes) {
    offsets.push_back(offset);
    Value bytes = candidates.front();
    for (Value candidate : llvm::drop_begin(candidates))
      bytes = arith::MaxUIOp::create(builder, loc, bytes, candidate);
    std::string number = std::to_string(offsets.size() - 1);
    Value rounded = arith::AndIOp::create(
        builder, named("size" + number),
        arith::AddIOp::create(builder, loc, bytes, round), mask);
    offset =
        arith::AddIOp::create(builder, named("end" + number), offset, rounded);
  }
  return offset;
}

LogicalResult Planner::placeTemporaries() {
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = function.getLoc();
  SizeEmitter sizes{builder, loc, {}, {}, {}};
  for (BlockArgument argument : body.getArguments())
    sizes.mapping.map(argument, argument);
  auto workspaceType =
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value workspace = body.addArgument(
      workspaceType, NameLoc::get(builder.getStringAttr("workspace"), loc));
  SmallVector<Value> offsets;
  if (failed(emitOffsets(sizes, offsets)))
    return failure();
  for (Temporary &temporary : temporaries) {
    builder.setInsertionPoint(temporary.alloc);
    Value view = memref::ViewOp::create(
        builder, temporary.alloc.getLoc(), temporary.alloc.getType(), workspace,
        offsets[temporary.slot], temporary.alloc.getDynamicSizes());
    temporary.alloc.getResult().replaceAllUsesWith(view);
  }
  return success();
}

LogicalResult Planner::emitWorkspaceFunction() {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  unsigned numDims = driver.interface->dims.size();
  builder.setInsertionPointAfter(function);
  Type index = builder.getIndexType();
  auto workspace = func::FuncOp::create(
      builder, loc, driver.workspaceName(),
      builder.getFunctionType(SmallVector<Type>(numDims, index),
                              builder.getI64Type()));
  workspace.setPrivate();
  Block *block = workspace.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SizeEmitter sizes{builder, loc, {}, {}, {}};
  sizes.overflow =
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  for (unsigned i = 0; i < numDims; ++i) {
    BlockArgument dim = body.getArgument(driver.firstDim() + i);
    block->getArgument(i).setLoc(dim.getLoc());
    sizes.mapping.map(dim, block->getArgument(i));
  }
  SmallVector<Value> offsets;
  FailureOr<Value> total = emitOffsets(sizes, offsets);
  if (failed(total))
    return failure();
  Type i64 = builder.getI64Type();
  Value bytes = arith::IndexCastOp::create(builder, loc, i64, *total);
  Value none = arith::ConstantIntOp::create(builder, loc, i64, -1);
  Value result =
      arith::SelectOp::create(builder, loc, sizes.overflow, none, bytes);
  func::ReturnOp::create(builder, loc, result);
  return success();
}

LogicalResult Planner::run() {
  writeOutputsInPlace();
  if (failed(collect()))
    return failure();
  chooseSlots();
  if (failed(emitWorkspaceFunction()) || failed(placeTemporaries()))
    return failure();
  for (Temporary &temporary : temporaries)
    temporary.alloc.erase();
  function.walk([](memref::DeallocOp op) { op.erase(); });
  function.setFunctionType(FunctionType::get(
      function.getContext(), body.getArgumentTypes(), TypeRange()));
  return success();
}

LogicalResult attn::planMemory(Driver &driver) {
  if (failed(Planner(driver).run()))
    return failure();
  PassManager pm(driver.module->getContext());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  return pm.run(*driver.module);
}

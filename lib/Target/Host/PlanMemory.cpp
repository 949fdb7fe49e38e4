//===- PlanMemory.cpp - one workspace for all temporaries -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Temporaries become views of the caller's workspace. A slot is as large as the
// largest of the temporaries that share it when the model runs, since sizes
// depend on the dims. A second function, of the dims alone, computes the size
// of the workspace and says so if it does not fit into 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "MemoryPlan.h"
#include "SizeEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

/// Slots start at multiples of a cache line, which is also a widest vector; on
/// a device of what any wants the start of a tensor to be.
static int64_t getAlignment(const TargetInfo &target) {
  return target.isGpu() ? 512 : 64;
}

namespace {
/// Puts the temporaries of a plan into the workspace.
struct Planner {
  Driver &driver;
  MemoryPlan &plan;
  func::FuncOp function;
  Block &body;

  Planner(Driver &driver, MemoryPlan &plan)
      : driver(driver), plan(plan), function(driver.function),
        body(function.front()) {}

  LogicalResult run();
  FailureOr<Value> emitOffsets(SizeEmitter &sizes, SmallVector<Value> &offsets);
  LogicalResult placeTemporaries();
  LogicalResult emitWorkspaceFunction();
};
} // namespace

/// Offsets of all slots; the result is their sum.
FailureOr<Value> Planner::emitOffsets(SizeEmitter &sizes,
                                      SmallVector<Value> &offsets) {
  OpBuilder &builder = sizes.builder;
  Location loc = sizes.loc;
  SmallVector<SetVector<Value>> slotBytes(plan.slots);
  for (Temporary &temporary : plan.temporaries) {
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
  int64_t alignment = getAlignment(*driver.target);
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
  SizeEmitter sizes(builder, loc);
  for (BlockArgument argument : body.getArguments())
    sizes.mapping.map(argument, argument);
  auto workspaceType =
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value workspace = body.addArgument(
      workspaceType, NameLoc::get(builder.getStringAttr("workspace"), loc));
  SmallVector<Value> offsets;
  if (failed(emitOffsets(sizes, offsets)))
    return failure();
  for (Temporary &temporary : plan.temporaries) {
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
  SizeEmitter sizes(builder, loc);
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
  if (failed(emitWorkspaceFunction()) || failed(placeTemporaries()))
    return failure();
  for (Temporary &temporary : plan.temporaries)
    temporary.alloc.erase();
  function.walk([](memref::DeallocOp op) { op.erase(); });
  function.setFunctionType(FunctionType::get(
      function.getContext(), body.getArgumentTypes(), TypeRange()));
  return success();
}

LogicalResult attn::planMemory(Driver &driver) {
  writeOutputsInPlace(driver.function);
  FailureOr<MemoryPlan> plan = chooseSlots(driver);
  if (failed(plan) || failed(Planner(driver, *plan).run()))
    return failure();
  PassManager pm(driver.module->getContext());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  return pm.run(*driver.module);
}

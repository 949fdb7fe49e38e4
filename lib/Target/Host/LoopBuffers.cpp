//===- LoopBuffers.cpp - buffers of loops in the host function --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bufferization may allocate in each iteration of a loop and hand the buffer on
// to the next one. There is no heap here: what a loop or a branch yields is
// copied into a buffer outside of it, so that nothing which is allocated inside
// leaves, and then every allocation moves out of all loops, where the memory
// plan finds it. One buffer for all iterations is right because they run one
// after the other.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;
using namespace attn;

static bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// A new buffer like `buffer`, of its type.
static Value allocateLike(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  auto dense = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(builder, loc, dense, sizes);
  if (dense == type)
    return copy;
  return memref::CastOp::create(builder, loc, type, copy);
}

/// Copies `from` into `to`, value by value. Through other buffers, because a
/// value that is copied late may be one that is overwritten early.
static void copyAll(OpBuilder &builder, Location loc, ValueRange from,
                    ValueRange to) {
  SmallVector<Value> stable = llvm::to_vector(from);
  for (auto [value, target] : llvm::zip_equal(stable, to)) {
    bool isOwn = value.getDefiningOp<memref::AllocOp>() &&
                 !llvm::is_contained(to, value);
    if (stable.size() == 1 || isOwn || value == target)
      continue;
    Value copy = allocateLike(builder, loc, value);
    memref::CopyOp::create(builder, loc, value, copy);
    value = copy;
  }
  for (auto [source, target] : llvm::zip_equal(stable, to))
    if (source != target)
      memref::CopyOp::create(builder, loc, source, target);
}

/// A loop without buffers among its iter_args.
static void keepStateOutside(scf::ForOp loop) {
  SmallVector<unsigned> kept;
  SmallVector<Value> buffers, inits;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!isBuffer(init)) {
      kept.push_back(number);
      inits.push_back(init);
      continue;
    }
    // A buffer that is handed on as it came stands outside already.
    if (loop.getYieldedValues()[number] == loop.getRegionIterArg(number)) {
      buffers.push_back(init);
      continue;
    }
    Value buffer = allocateLike(builder, loc, init);
    memref::CopyOp::create(builder, loc, init, buffer);
    buffers.push_back(buffer);
  }
  if (buffers.empty())
    return;

  auto plain = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  Block *body = plain.getBody();
  // With no values left the builder has made a terminator already.
  if (!body->empty())
    body->getTerminator()->erase();
  SmallVector<Value> arguments{plain.getInductionVar()}, yields, states;
  unsigned nextKept = 0, nextBuffer = 0;
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    Value replacement, result;
    if (isBuffer(init)) {
      replacement = result = buffers[nextBuffer++];
      states.push_back(yield->getOperand(number));
    } else {
      replacement = plain.getRegionIterArgs()[nextKept];
      result = plain.getResult(nextKept++);
      yields.push_back(yield->getOperand(number));
    }
    arguments.push_back(replacement);
    loop.getResult(number).replaceAllUsesWith(result);
  }
  for (auto [argument, replacement] :
       llvm::zip_equal(loop.getBody()->getArguments(), arguments)) {
    argument.replaceAllUsesWith(replacement);
    llvm::replace(yields, Value(argument), replacement);
    llvm::replace(states, Value(argument), replacement);
  }
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPoint(yield);
  copyAll(builder, loc, states, buffers);
  scf::YieldOp::create(builder, yield->getLoc(), yields);
  yield->erase();
  loop.erase();
}

/// A branch without buffers among its results.
static LogicalResult keepResultsOutside(scf::IfOp branch) {
  SmallVector<unsigned> numbers;
  for (OpResult result : branch.getResults())
    if (isBuffer(result))
      numbers.push_back(result.getResultNumber());
  if (numbers.empty())
    return success();
  OpBuilder builder(branch);
  SmallVector<Value> buffers;
  for (unsigned number : numbers) {
    auto type = cast<MemRefType>(branch.getResult(number).getType());
    // Sizes, where they are not static, are those of a value outside.
    Value like;
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      Value value = block->getTerminator()->getOperand(number);
      if (value.getParentBlock() != block)
        like = value;
    }
    if (!like && !type.hasStaticShape())
      return branch.emitOpError("expected result ")
             << number
             << " to be of static shape, or a tensor from outside in one of "
                "the branches (because the memory plan must know its size), "
                "got neither";
    if (like) {
      buffers.push_back(allocateLike(builder, branch.getLoc(), like));
    } else {
      auto dense = MemRefType::get(type.getShape(), type.getElementType());
      buffers.push_back(
          memref::AllocOp::create(builder, branch.getLoc(), dense));
    }
    if (buffers.back().getType() != type)
      buffers.back() = memref::CastOp::create(builder, branch.getLoc(), type,
                                              buffers.back());
  }
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    Operation *yield = block->getTerminator();
    builder.setInsertionPoint(yield);
    SmallVector<Value> values;
    for (unsigned number : numbers)
      values.push_back(yield->getOperand(number));
    for (auto [value, buffer] : llvm::zip_equal(values, buffers))
      memref::CopyOp::create(builder, branch.getLoc(), value, buffer);
    for (auto [number, buffer] : llvm::zip_equal(numbers, buffers))
      yield->setOperand(number, buffer);
  }
  for (auto [number, buffer] : llvm::zip_equal(numbers, buffers))
    branch.getResult(number).replaceAllUsesWith(buffer);
  return success();
}

/// Moves allocations in front of the outermost loop or branch around them, if
/// their sizes are known there.
static void hoistAllocations(func::FuncOp function) {
  Block &body = function.front();
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() != &body)
      allocations.push_back(alloc);
  });
  for (memref::AllocOp alloc : allocations) {
    Operation *outermost = body.findAncestorOpInBlock(*alloc);
    if (llvm::all_of(alloc.getDynamicSizes(), [&](Value size) {
          return !outermost->isAncestor(size.getParentRegion()->getParentOp());
        }))
      alloc->moveBefore(outermost);
  }
}

LogicalResult attn::settleLoopBuffers(Driver &driver) {
  IRRewriter rewriter(driver.module->getContext());
  SmallVector<scf::ForallOp> foralls;
  driver.function.walk([&](scf::ForallOp op) { foralls.push_back(op); });
  for (scf::ForallOp forall : foralls) {
    rewriter.setInsertionPoint(forall);
    if (failed(scf::forallToForLoop(rewriter, forall)))
      return failure();
  }
  // Inner operations first: their buffers are new ones for the outer.
  SmallVector<Operation *> holders;
  driver.function.walk([&](Operation *op) {
    if (op->getNumRegions() && op != driver.function)
      holders.push_back(op);
  });
  for (Operation *op : holders) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      keepStateOutside(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op);
             branch && failed(keepResultsOutside(branch)))
      return failure();
    else if (!branch && llvm::any_of(op->getResults(), isBuffer))
      return op->emitOpError("expected results of tensor type of scf.for and "
                             "scf.if only (because the memory plan follows no "
                             "others)");
  }
  hoistAllocations(driver.function);
  return success();
}

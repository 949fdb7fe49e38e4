//===- ShareInputs.cpp - results in the memory of an input ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cache of the caller's comes in as an input, is copied to an output, and
// there grows by a few rows. A caller that needs the former cache no more
// passes one buffer as both; then the copy is all that is in the way. It may be
// left out if nothing reads the input after it and nothing touches the output
// before it: up to the copy the buffer is the input, from there on the output.
//
// This looks at the function as it will run, when every temporary has its
// place, so it holds for whatever made the copy. No two pairs share an input or
// an output, since each has one last reader and one first.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace attn;

/// The argument that a buffer is, seen through reshapes of all of it; null if
/// it is none.
static BlockArgument getArgument(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      return {};
    buffer = op->getOperand(0);
  }
  return dyn_cast<BlockArgument>(buffer);
}

/// Calls `visit` for the operations of the body that read or write a buffer or
/// a view of it. To make a view or ask for a size is neither.
static void forEachAccess(Value buffer, Block &body,
                          function_ref<void(Operation *)> visit) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::DimOp>(user))
      continue;
    if (!isa<ViewLikeOpInterface>(user))
      visit(body.findAncestorOpInBlock(*user));
    for (Value result : user->getResults())
      if (isa<BaseMemRefType>(result.getType()))
        forEachAccess(result, body, visit);
  }
}

/// Whether all that happens to a buffer besides a copy is in front of it, or
/// all behind it. `first` is the first operation that is not so.
static bool isOnOneSide(memref::CopyOp copy, Value buffer, bool before,
                        Operation *&first) {
  Block &body = *copy->getBlock();
  first = nullptr;
  forEachAccess(buffer, body, [&](Operation *op) {
    if (op == copy || op->isBeforeInBlock(copy) == before)
      return;
    if (!first || op->isBeforeInBlock(first))
      first = op;
  });
  return !first;
}

/// Makes the copy only where both are not one buffer.
static void copyUnlessShared(memref::CopyOp copy, Value input, Value output) {
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto address = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  Value from = address(input), to = address(output);
  Value apart =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, from, to);
  auto branch =
      scf::IfOp::create(builder, loc, apart, /*withElseRegion=*/false);
  copy->moveBefore(branch.thenBlock()->getTerminator());
}

namespace {
/// A copy of an input to an output of the same sizes.
struct Pair {
  memref::CopyOp copy;
  BlockArgument from, to;
  unsigned input, output;
};
} // namespace

static std::optional<Pair> getPair(const Driver &driver, memref::CopyOp copy) {
  const ModelInterface &interface = *driver.interface;
  BlockArgument from = getArgument(copy.getSource());
  BlockArgument to = getArgument(copy.getTarget());
  if (!from || !to || from.getArgNumber() >= driver.firstOutput() ||
      to.getArgNumber() < driver.firstOutput() ||
      to.getArgNumber() >= driver.firstWeight())
    return std::nullopt;
  unsigned input = from.getArgNumber();
  unsigned output = to.getArgNumber() - driver.firstOutput();
  // Strides can be equal only where sizes are.
  if (interface.inputs[input].sizes != interface.outputs[output].sizes)
    return std::nullopt;
  return Pair{copy, from, to, input, output};
}

void attn::shareInputs(Driver &driver) {
  Block &body = driver.function.front();
  driver.inPlace.resize(driver.interface->outputs.size());
  for (auto copy : llvm::make_early_inc_range(body.getOps<memref::CopyOp>())) {
    std::optional<Pair> pair = getPair(driver, copy);
    Operation *other;
    if (!pair || !isOnOneSide(copy, pair->to, /*before=*/false, other))
      continue;
    StringRef input = driver.interface->inputs[pair->input].name;
    StringRef output = driver.interface->outputs[pair->output].name;
    auto options = [&](StringRef name) {
      return remark::RemarkOpts::name(name).category("host").function(
          driver.function.getName());
    };
    if (!isOnOneSide(copy, pair->from, /*before=*/true, other)) {
      remark::missed(other->getLoc(), options("output-not-in-place"))
          << remark::metric("Output", output) << remark::metric("Input", input)
          << remark::reason("'{0}' is read here after '{1}' was begun",
                            input.str(), output.str())
          << remark::suggest("place what reads it in front of what continues "
                             "it");
      continue;
    }
    remark::passed(copy.getLoc(), options("output-in-place"))
        << remark::metric("Output", output) << remark::metric("Input", input);
    copyUnlessShared(copy, pair->from, pair->to);
    driver.inPlace[pair->output] = pair->input;
  }
}

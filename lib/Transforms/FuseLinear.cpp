//===- FuseLinear.cpp - attn-fuse-linear -----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-fuse-linear: every attn.linear becomes an attn.fused_linear on rows.
// What is element-wise after it (bias, activation, residual) is computed while
// a product is still in registers, and a norm while its row is still in
// the cache, as long as nobody else needs a value in between.
//
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"
#include "LinearSteps.h"
#include "Scalarize.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

#define DEBUG_TYPE "attn-fuse-linear"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNFUSELINEARPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {

/// What follows a linear layer and can be computed with it.
struct Epilogue {
  /// Element-wise operations, operands first. Only the last one's result is
  /// used by others.
  SmallVector<Operation *> ops;
  /// An attn.layer_norm or attn.rms_norm of that result, or null.
  Operation *norm = nullptr;

  /// The value that the fused operation computes.
  Value result(LinearOp linear) {
    if (norm)
      return norm->getResult(0);
    return ops.empty() ? Value(linear.getResult()) : ops.back()->getResult(0);
  }
};

} // namespace

static bool isNorm(Operation *op) { return isa<LayerNormOp, RmsNormOp>(op); }

/// True if all users of `op` are in `ops`.
static bool isUsedOnlyBy(Operation *op, ArrayRef<Operation *> ops) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return llvm::is_contained(ops, user);
  });
}

/// A number of 16 bits is one of 32 bits in the epilogue.
static bool readsHalfBits(Operation *op) {
  return isa<arith::BitcastOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType())
                 .getIntOrFloatBitWidth() == 16;
}

/// The longest sequence of element-wise operations on the linear layer's result
/// of which only the last is seen by others.
static Epilogue findEpilogue(LinearOp linear) {
  SmallVector<Operation *> candidates;
  SmallVector<Operation *> known = {linear};
  for (Operation *op = linear->getNextNode(); op; op = op->getNextNode()) {
    bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::is_contained(known, operand.getDefiningOp());
    });
    if (!depends || !isElementwise(op) || readsHalfBits(op) ||
        cast<RankedTensorType>(op->getResult(0).getType()).getShape() !=
            linear.getType().getShape())
      continue;
    candidates.push_back(op);
    known.push_back(op);
  }

  Epilogue epilogue;
  for (size_t count = candidates.size(); count > 0; --count) {
    auto ops = ArrayRef<Operation *>(candidates).take_front(count);
    if (ops.back()->getResult(0).getType() == linear.getType() &&
        isUsedOnlyBy(linear, ops) &&
        llvm::all_of(ops.drop_back(),
                     [&](Operation *op) { return isUsedOnlyBy(op, ops); })) {
      epilogue.ops.assign(ops.begin(), ops.end());
      break;
    }
  }
  Value result = epilogue.result(linear);
  if (result.hasOneUse())
    if (Operation *user = *result.user_begin();
        isNorm(user) && user->getOperand(0) == result)
      epilogue.norm = user;
  return epilogue;
}

/// Builds the epilogue region and collects its captures.
class EpilogueBuilder {
public:
  EpilogueBuilder(OpBuilder &host, LinearOp linear)
      : host(host), compute(getComputeType(linear.getType().getElementType())) {
    Location loc = linear.getLoc();
    block->addArgument(compute, loc);
    block->addArgument(host.getIndexType(), loc);
    block->addArgument(host.getIndexType(), loc);
    value = block->getArgument(0);
    inRegion.map(linear.getResult(), value);
    if (linear.getBias()) {
      OpBuilder builder = builderAtEnd(*block);
      Value bias = tensor::ExtractOp::create(
          builder, loc, capture(linear.getBias()), block->getArgument(2));
      bias = convertFloat(builder, loc, bias, compute);
      value = arith::AddFOp::create(builder, loc, value, bias);
      inRegion.map(linear.getResult(), value);
    }
  }

  /// Adds an operation to the end.
  void add(Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(lookUp(op->getLoc(), operand));
    OpBuilder builder = builderAtEnd(*block);
    value = createScalar(builder, op, operands, compute);
    inRegion.map(op->getResult(0), value);
  }

  /// Ends the block and moves it into the operation, if it does something.
  void moveTo(FusedLinearOp op) {
    if (value == block->getArgument(0))
      return;
    OpBuilder builder = builderAtEnd(*block);
    YieldOp::create(builder, op.getLoc(), value);
    op.getEpilogue().push_back(block.release());
  }

  SmallVector<Value> captures;

private:
  Value capture(Value outside) {
    captures.push_back(outside);
    return block->addArgument(outside.getType(), outside.getLoc());
  }

  /// The element of an operand, of the compute type if it is of 16 bits.
  Value lookUp(Location loc, Value operand) {
    if (Value inside = inRegion.lookupOrNull(operand))
      return inside;
    Value element = load(loc, operand);
    auto number = dyn_cast<FloatType>(element.getType());
    if (!number || number.getWidth() >= compute.getWidth())
      return element;
    OpBuilder builder = builderAtEnd(*block);
    return convertFloat(builder, loc, element, compute);
  }

  /// The element as it is stored. Every use of a tensor is a capture of its
  /// own, so that the text does not depend on which tensors are the same.
  Value load(Location loc, Value operand) {
    OpBuilder builder = builderAtEnd(*block);
    if (TypedAttr element = splatElement(operand))
      return arith::ConstantOp::create(builder, loc, element);
    if (!isa<RankedTensorType>(operand.getType()))
      return capture(operand);
    Value rows = collapseRows(host, loc, operand);
    return tensor::ExtractOp::create(
        builder, loc, capture(rows),
        ValueRange{block->getArgument(1), block->getArgument(2)});
  }

  OpBuilder &host;
  FloatType compute;
  std::unique_ptr<Block> block = std::make_unique<Block>();
  IRMapping inRegion;
  Value value;
};

/// Replaces a linear layer and its epilogue by one attn.fused_linear.
static FusedLinearOp fuse(LinearOp linear, Epilogue &epilogue) {
  Value result = epilogue.result(linear);
  OpBuilder host(result.getDefiningOp());
  Location loc = linear.getLoc();
  EpilogueBuilder region(host, linear);
  for (Operation *op : epilogue.ops)
    region.add(op);

  Value input = collapseRows(host, loc, linear.getInput());
  auto rowsType = cast<RankedTensorType>(input.getType());
  Value gamma, beta;
  FloatAttr epsilon;
  if (auto norm = dyn_cast_or_null<LayerNormOp>(epilogue.norm)) {
    gamma = norm.getGamma();
    beta = norm.getBeta();
    epsilon = norm.getEpsilonAttr();
  } else if (auto norm = dyn_cast_or_null<RmsNormOp>(epilogue.norm)) {
    gamma = norm.getGamma();
    epsilon = norm.getEpsilonAttr();
  }
  auto fused = FusedLinearOp::create(
      host, loc,
      RankedTensorType::get(
          {rowsType.getDimSize(0), linear.getType().getShape().back()},
          linear.getType().getElementType()),
      input, linear.getWeight(), region.captures, gamma, beta, epsilon);
  region.moveTo(fused);

  result.replaceAllUsesWith(
      expandRows(host, loc, fused.getResult(), linear.getResult()));
  if (epilogue.norm)
    epilogue.norm->erase();
  for (Operation *op : llvm::reverse(epilogue.ops))
    op->erase();
  linear.erase();
  return fused;
}

namespace {

struct AttnFuseLinearPass final
    : attn::impl::AttnFuseLinearPassBase<AttnFuseLinearPass> {
  using AttnFuseLinearPassBase::AttnFuseLinearPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      preferBshd(func);
      concatProjections(func, symbols);
      lowerHeads(func);
      fuseLayers(func);
    }
  }

private:
  void fuseLayers(func::FuncOp func) {
    SmallVector<LinearOp> layers;
    func.walk([&](LinearOp op) { layers.push_back(op); });
    for (LinearOp linear : layers) {
      Epilogue epilogue = findEpilogue(linear);
      explainEnd(func, epilogue.result(linear));
      unsigned operations = epilogue.ops.size();
      FusedLinearOp fused = fuse(linear, epilogue);
      remark::passed(fused.getLoc(), options(func, "linear-fused"))
          << remark::metric("EpilogueOperations", operations)
          << remark::metric("Captures", fused.getCaptures().size())
          << remark::metric("HasNorm", static_cast<bool>(fused.getGamma()));
    }
  }

  /// Says why a norm or an element-wise operation stays outside.
  void explainEnd(func::FuncOp func, Value result) {
    if (result.hasOneUse() || isNorm(result.getDefiningOp()))
      return;
    for (Operation *user : result.getUsers()) {
      if (!isNorm(user) && !isElementwise(user))
        continue;
      remark::missed(user->getLoc(), options(func, "epilogue-not-fused"))
          << remark::reason("{0} stays outside because the value in front of "
                            "it has other users too",
                            user->getName().getStringRef().str())
          << remark::metric("Users", std::distance(result.user_begin(),
                                                   result.user_end()));
    }
  }

  static remark::RemarkOpts options(func::FuncOp func, StringRef name) {
    return remark::RemarkOpts::name(name)
        .category(DEBUG_TYPE)
        .function(func.getSymName());
  }
};

} // namespace

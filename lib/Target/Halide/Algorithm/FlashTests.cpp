//===- FlashTests.cpp - whether a key tile is visited ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The scf.if around a tile become conditions of the update of X. Those that are
// arithmetic restrict the loop over tiles, and Halide computes nothing for the
// other tiles. Those that ask the mask itself (attn.tile_any) are functions;
// TileGuards.h puts the rest of the tile under them, so that a tile that is not
// visited costs its test and nothing else: no key or value is read.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "../TileGuards.h"
#include "FlashBuilder.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;

namespace {
/// The width of the widest numbers that are compared.
class ComparedBits final : public Halide::Internal::IRVisitor {
public:
  int bits = 32;

private:
  using IRVisitor::visit;
  template <typename Op> void compare(const Op *op) {
    bits = std::max(bits, op->a.type().bits());
    IRVisitor::visit(op);
  }
  void visit(const Halide::Internal::EQ *op) override { compare(op); }
  void visit(const Halide::Internal::NE *op) override { compare(op); }
  void visit(const Halide::Internal::LT *op) override { compare(op); }
  void visit(const Halide::Internal::LE *op) override { compare(op); }
  void visit(const Halide::Internal::GT *op) override { compare(op); }
  void visit(const Halide::Internal::GE *op) override { compare(op); }
};
} // namespace

/// attn.tile_any as an or over the tile: keys one after the other with queries
/// in the lanes of vectors or, where queries do not matter, keys in the lanes.
LogicalResult FlashBuilder::buildTest(FlashStage &stage, TileAnyOp op,
                                      ExprEmitter &inside) {
  std::string suffix =
      std::to_string(stage.update) + "_" + std::to_string(stage.tests.size());
  FailureOr<Expr> rows = inside.get(op.getRows());
  FailureOr<Expr> keys = inside.get(op.getKeys());
  if (failed(rows) || failed(keys))
    return failure();
  Block &body = op.getBody().front();
  bool readsQuery = !body.getArgument(2).use_empty();
  bool readsKey = !body.getArgument(3).use_empty();

  TileTest test;
  int64_t steps = op.getSizes()[1];
  // Whole vectors; rows that are none are left out below.
  test.numLanes = op.getSizes()[0];
  test.numLanes = test.numLanes < out.lanes
                      ? llvm::PowerOf2Ceil(test.numLanes)
                      : llvm::alignTo(test.numLanes, out.lanes);
  if (!readsKey)
    steps = 1;
  if (!readsQuery) {
    test.numLanes = out.lanes;
    steps = llvm::divideCeil(steps, out.lanes);
  }
  RDom step(0, static_cast<int>(steps), "testStep" + suffix);
  Expr row = readsQuery ? Expr(out.lane) : Expr(0);
  Expr key = readsQuery ? Expr(step.x)
                        : step.x * static_cast<int>(out.lanes) + out.lane;
  if (readsKey)
    step.where(readsQuery ? step.x < *keys
                          : step.x * static_cast<int>(out.lanes) < *keys);
  auto where = positions(op.getPosition(), inside, row, key);
  if (failed(where))
    return failure();
  auto shown = inside.emitRegion(op.getBody(), *where, op.getCaptures());
  if (failed(shown))
    return failure();
  Expr visible = shown->front();
  if (readsKey && !readsQuery)
    visible = visible && key < *keys;

  test.lanes = Func("testLanes" + suffix);
  // Comparisons leave masks of the width of what they compare; so are lanes.
  ComparedBits compared;
  visible.accept(&compared);
  Halide::Type type = Halide::Int(compared.bits);
  Expr none = Halide::cast(type, 0), all = Halide::cast(type, -1);
  test.lanes(vars({out.lane, out.t})) = none;
  test.lanes(vars({out.lane, out.t})) =
      test.lanes(at({out.lane, out.t})) | Halide::select(visible, all, none);
  RDom lane(0, static_cast<int>(test.numLanes), "testLane" + suffix);
  test.any = Func("tileAny" + suffix);
  test.any(vars({out.t})) = 0;
  Expr found = test.lanes(at({lane.x, out.t})) != none;
  if (readsQuery)
    found = found && lane.x < *rows;
  test.any(vars({out.t})) = Halide::max(
      test.any(at({out.t})), Halide::select(found, Expr(1), Expr(0)));
  test.step = step.x;
  test.hasSteps = readsKey;
  test.lane = lane.x;
  stage.tests.push_back(std::move(test));
  return success();
}

/// Whether a loop walks over several pieces of the keys, or some of its tiles.
static bool isPlain(FlashLoop &loop) {
  Value key0 = loop.key.getIndices()[loop.key.getDims()[0]];
  scf::ForOp forOp = loop.loop;
  return loop.guards.empty() && key0 == forOp.getInductionVar() &&
         llvm::none_of(ValueRange{forOp.getLowerBound(), forOp.getUpperBound()},
                       [](Value bound) {
                         return bound.getDefiningOp<arith::SelectOp>() !=
                                nullptr;
                       });
}

/// What values around a loop are for it. Of a loop that is not plain the bounds
/// and all that its tiles are found by are long: Halide, which would put them
/// into each of its own bounds, must not look into them.
FailureOr<ExprEmitter> FlashBuilder::hideBounds(FlashLoop &loop) {
  ExprEmitter around = values;
  if (isPlain(loop))
    return around;
  // The first row and the heads of keys and values stay visible.
  auto isPlace = [&](Value value) {
    return value == nest.firstRow() ||
           llvm::is_contained(loop.key.getIndices(), value) ||
           llvm::is_contained(loop.value.getIndices(), value);
  };
  llvm::SetVector<Value> used;
  loop.loop->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getBlock() == nest.forall.getBody() &&
          operand.getType().isIndex() && !isPlace(operand) &&
          !matchPattern(operand, m_Constant()))
        used.insert(operand);
    }
  });
  for (Value value : used) {
    FailureOr<Expr> expr = around.get(value);
    if (failed(expr))
      return failure();
    around.bind(value, out.loads.hide(*expr, out.counters));
  }
  return around;
}

/// Says again that tiles lie inside of the tensors, which hidden bounds do not.
LogicalResult FlashBuilder::boundKeys(FlashLoop &loop, ExprEmitter &inside) {
  if (isPlain(loop))
    return success();
  Value key0 = loop.key.getIndices()[loop.key.getDims()[0]];
  FailureOr<Expr> expr = inside.get(key0);
  if (failed(expr))
    return failure();
  const TensorSource *source = inside.getTensor(loop.key.getTensor());
  Expr keys = source->sizes[loop.key.getDims()[0]];
  inside.bind(
      key0, Halide::unsafe_promise_clamped(*expr, 0, Halide::max(keys, 1) - 1));
  return success();
}

LogicalResult FlashBuilder::buildTests(FlashStage &stage, ExprEmitter &inside) {
  for (Value guard : stage.loop.guards)
    if (auto any = guard.getDefiningOp<TileAnyOp>())
      if (failed(buildTest(stage, any, inside)))
        return failure();
  return success();
}

/// 0, which Halide does not know: what reads it is computed after the tests of
/// the tile, in what is put under them.
Expr FlashBuilder::zeroAfterTests(FlashStage &stage) {
  Expr zero = 0;
  if (!out.isGpu)
    for (const TileTest &test : stage.tests)
      zero = Halide::min(zero, test.any(at({out.t})));
  return Halide::reinterpret<float>(zero);
}

/// `value`, which is computed after the tests of the tile, in what is put under
/// them. It must be the last to read them: their memory is free then.
Expr FlashBuilder::afterTests(FlashStage &stage, Expr value) {
  for (const TileTest &test : stage.tests)
    value = markGuard(test.any, value, test.any(at({out.t})));
  return value;
}

/// Restricts the tiles of an update, `domain.z`, to those that are visited.
LogicalResult FlashBuilder::addGuards(FlashStage &stage, RDom &domain,
                                      const ExprEmitter &around) {
  scf::ForOp loop = stage.loop.loop;
  ExprEmitter atTile = around;
  FailureOr<Expr> begin = atTile.get(loop.getLowerBound());
  FailureOr<Expr> step = atTile.get(loop.getStep());
  if (failed(begin) || failed(step))
    return failure();
  atTile.bind(loop.getInductionVar(), *begin + domain.z * *step);
  size_t tests = 0;
  for (Value guard : stage.loop.guards) {
    if (guard.getDefiningOp<TileAnyOp>()) {
      if (out.isGpu) // Only what is put under it.
        continue;
      domain.where(stage.tests[tests++].any(at({domain.z})) != 0);
      continue;
    }
    FailureOr<Expr> condition = atTile.get(guard);
    if (failed(condition))
      return failure();
    domain.where(*condition);
  }
  return success();
}

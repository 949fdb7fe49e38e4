//===- FlashTests.cpp - whether a key tile is visited ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The scf.if around a tile become conditions of the update of X. Halide puts
// them around everything that only this update needs, so that a tile that is
// not visited costs its test and nothing else: no key or value is read.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "FlashBuilder.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;

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
  test.numLanes = op.getSizes()[0];
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
  if (readsQuery)
    visible = visible && out.lane < *rows;
  else if (readsKey)
    visible = visible && key < *keys;

  test.lanes = Func("testLanes" + suffix);
  test.lanes(vars({out.lane, out.t})) = 0;
  test.lanes(vars({out.lane, out.t})) =
      Halide::max(test.lanes(at({out.lane, out.t})),
                  Halide::select(visible, Expr(1), Expr(0)));
  RDom lane(0, static_cast<int>(test.numLanes), "testLane" + suffix);
  test.any = Func("tileAny" + suffix);
  test.any(vars({out.t})) = 0;
  test.any(vars({out.t})) = Halide::max(test.any(at({out.t})),
                                        test.lanes(at({lane.x, out.t})));
  test.step = step.x;
  test.lane = lane.x;
  stage.tests.push_back(std::move(test));
  return success();
}

/// Restricts the tiles of an update, `domain.z`, to those that are visited.
LogicalResult FlashBuilder::addGuards(FlashStage &stage, RDom &domain,
                                      ExprEmitter &inside) {
  scf::ForOp loop = stage.loop.loop;
  ExprEmitter atTile = values;
  FailureOr<Expr> begin = values.get(loop.getLowerBound());
  FailureOr<Expr> step = values.get(loop.getStep());
  if (failed(begin) || failed(step))
    return failure();
  atTile.bind(loop.getInductionVar(), *begin + domain.z * *step);
  for (Value guard : stage.loop.guards) {
    if (auto any = guard.getDefiningOp<TileAnyOp>()) {
      if (failed(buildTest(stage, any, inside)))
        return failure();
      domain.where(stage.tests.back().any(at({domain.z})) != 0);
      continue;
    }
    FailureOr<Expr> condition = atTile.get(guard);
    if (failed(condition))
      return failure();
    domain.where(*condition);
  }
  return success();
}

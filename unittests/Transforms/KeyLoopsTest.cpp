//===- KeyLoopsTest.cpp - what the loops over key tiles visit --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random predicates (fixed seeds) go through attn-analyze-masks and attn-tile
// with random tile sizes. The loops that come out are walked through with their
// index arithmetic evaluated, and compared with the truth: no tile is visited
// twice, no visible pair is left out, no hidden pair is in a tile without a
// mask, and every tile that is visited holds a visible pair, whatever the
// predicate is.
//
//===----------------------------------------------------------------------===//

#include "../Analysis/RandomMask.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

/// A tile that was visited.
struct Visit {
  int64_t key0, keys;
  bool masked;
};

/// Walks through the loops of one query tile.
class Walk {
public:
  Walk(const Environment &env, scf::ForallOp forall, int64_t tile) : env(env) {
    auto kernel = forall->getParentOfType<KernelOp>();
    known[kernel.getBody().getArgument(2)] = env.capture;
    int64_t counters[] = {env.b, env.h, tile};
    for (auto [counter, number] :
         llvm::zip(forall.getInductionVars(), counters))
      known[counter] = number;
    for (auto loop : forall.getBody()->getOps<scf::ForOp>())
      for (int64_t at = eval(loop.getLowerBound()),
                   end = eval(loop.getUpperBound());
           at < end; at += eval(loop.getStep())) {
        known[loop.getInductionVar()] = at;
        visit(*loop.getBody());
      }
  }

  std::vector<Visit> visits;
  int64_t asked = 0;

private:
  int64_t eval(Value value) {
    Interpreter interpreter(env);
    for (auto [value, number] : known)
      interpreter.set(value, number);
    return interpreter.eval(value);
  }

  void visit(Block &block) {
    for (auto ifOp : block.getOps<scf::IfOp>()) {
      auto any = ifOp.getCondition().getDefiningOp<TileAnyOp>();
      if (any ? holds(any) : eval(ifOp.getCondition()) != 0)
        visit(*ifOp.thenBlock());
    }
    for (auto scores : block.getOps<TileScoresOp>()) {
      auto load = scores.getKey().getDefiningOp<TileLoadOp>();
      auto masks = block.getOps<TileMaskOp>();
      visits.push_back({eval(load.getIndices()[load.getDims()[0]]),
                        eval(load.getRows()), masks.begin() != masks.end()});
    }
  }

  bool holds(TileAnyOp any) {
    ++asked;
    SmallVector<int64_t> position;
    for (Value value : any.getPosition())
      position.push_back(eval(value));
    Block &body = any.getBody().front();
    for (int64_t row = 0; row < eval(any.getRows()); ++row)
      for (int64_t key = 0; key < eval(any.getKeys()); ++key) {
        Interpreter interpreter(env);
        for (auto [argument, number] : llvm::zip(body.getArguments(), position))
          interpreter.set(argument, number);
        interpreter.set(body.getArgument(2), position[2] + row);
        interpreter.set(body.getArgument(3), position[3] + key);
        for (auto [argument, capture] :
             llvm::zip(body.getArguments().drop_front(4), any.getCaptures()))
          if (!isa<RankedTensorType>(capture.getType()))
            interpreter.set(argument, eval(capture));
        if (interpreter.eval(body.getTerminator()->getOperand(0)))
          return true;
      }
    return false;
  }

  const Environment &env;
  llvm::DenseMap<Value, int64_t> known;
};

class KeyLoops : public testing::Test {
protected:
  KeyLoops() {
    mask.context.loadDialect<affine::AffineDialect, scf::SCFDialect>();
  }

  /// Tiles the attention in the module and checks the loops.
  void tileAndCheck() {
    std::vector<std::pair<Environment, std::vector<std::vector<bool>>>> truths;
    for (int sizes = 0; sizes < 2; ++sizes) {
      Environment env = mask.environment();
      truths.push_back({env, mask.evaluate(env)});
    }
    int64_t queryTile = mask.random(1, 6), keyTile = mask.random(1, 6);
    std::string before = mask.print();
    PassManager manager(&mask.context);
    manager.addPass(createAttnAnalyzeMasksPass());
    AttnTilePassOptions options;
    options.queryTile = queryTile;
    options.keyTile = keyTile;
    manager.addPass(createAttnTilePass(options));
    ASSERT_TRUE(succeeded(manager.run(*mask.module))) << before;
    scf::ForallOp forall;
    mask.module->walk([&](scf::ForallOp op) { forall = op; });
    ASSERT_TRUE(forall);
    for (auto &[env, visible] : truths)
      for (int64_t tile = 0; tile * queryTile < env.n; ++tile)
        check(env, visible, Walk(env, forall, tile), tile * queryTile,
              std::min((tile + 1) * queryTile, env.n), keyTile);
    if (HasFailure())
      FAIL() << before << mask.print();
  }

  void check(const Environment &env,
             const std::vector<std::vector<bool>> &visible, const Walk &walk,
             int64_t query0, int64_t query1, int64_t keyTile) {
    std::vector<bool> visited(env.m, false);
    for (const Visit &visit : walk.visits) {
      ASSERT_GE(visit.key0, 0);
      ASSERT_EQ(visit.key0 % keyTile, 0);
      ASSERT_GE(visit.keys, 1);
      ASSERT_LE(visit.keys, keyTile);
      ASSERT_LE(visit.key0 + visit.keys, env.m);
      ASSERT_FALSE(visited[visit.key0]) << "twice: " << visit.key0;
      bool any = false, all = true;
      for (int64_t j = visit.key0; j < visit.key0 + visit.keys; ++j) {
        visited[j] = true;
        for (int64_t i = query0; i < query1; ++i) {
          any |= visible[i][j];
          all &= visible[i][j];
        }
      }
      EXPECT_TRUE(any) << "nothing in " << query0 << ", " << visit.key0;
      EXPECT_TRUE(visit.masked || all)
          << "hidden without a mask in " << query0 << ", " << visit.key0;
      EXPECT_TRUE(visit.masked || visit.keys == keyTile);
      ++(visit.masked ? masked : full);
    }
    for (int64_t i = query0; i < query1; ++i)
      for (int64_t j = 0; j < env.m; ++j)
        EXPECT_TRUE(visited[j] || !visible[i][j])
            << "not visited: " << i << ", " << j;
    asked += walk.asked;
    skipped += llvm::count(visited, false);
  }

  RandomMask mask{21};
  /// What there was, so that a test that shows nothing is noticed.
  int64_t masked = 0, full = 0, skipped = 0, asked = 0;
};

} // namespace

TEST_F(KeyLoops, VisitWhatAffinePredicatesShow) {
  for (int round = 0; round < 1000; ++round) {
    mask.begin();
    mask.finish(mask.predicate(mask.depth(), /*allowLoads=*/false));
    tileAndCheck();
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(masked, 0);
  EXPECT_GT(full, 0);
  EXPECT_GT(skipped, 0);
}

TEST_F(KeyLoops, VisitWhatAnyPredicateShows) {
  for (int round = 0; round < 1000; ++round) {
    mask.begin();
    mask.finish(mask.predicate(mask.random(0, 2), /*allowLoads=*/true));
    tileAndCheck();
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(masked, 0);
  EXPECT_GT(full, 0);
  EXPECT_GT(skipped, 0);
  EXPECT_GT(asked, 0);
}

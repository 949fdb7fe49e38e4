//===- RandomMask.h - random predicates, and what is true ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Writes random predicates as mask regions and evaluates them pair by pair: and
// / or / not / xor / select over comparisons of terms of i, j, N, M, a captured
// index, b, h and loads, with floordiv, ceildiv, mod, min, max and abs.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_ANALYSIS_RANDOMMASK_H
#define ATTN_UNITTESTS_ANALYSIS_RANDOMMASK_H

#include "attn/Analysis/TileMap.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <random>
#include <string>

namespace attn::test {

/// Values of what a region reads: positions, sizes, a captured index, and the
/// elements of the one tensor, which is indexed modulo its size.
struct Environment {
  int64_t b = 0, h = 0, i = 0, j = 0, capture = 0, n = 0, m = 0;
  std::vector<int64_t> table = {};
};

/// Evaluates scalar integer arithmetic, of a mask region or of loops' bounds.
class Interpreter {
public:
  explicit Interpreter(const Environment &env) : env(env) {}

  int64_t eval(mlir::Value value) {
    auto known = values.find(value);
    if (known != values.end())
      return known->second;
    int64_t result = compute(value);
    values[value] = result;
    return result;
  }
  void set(mlir::Value value, int64_t number) { values[value] = number; }

private:
  static int64_t floorDiv(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
  }

  int64_t compute(mlir::Value value) {
    using namespace mlir;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // b, h, i, j, the captured index, the table, N, M
      int64_t scalars[] = {env.b,       env.h, env.i, env.j,
                           env.capture, 0,     env.n, env.m};
      return scalars[argument.getArgNumber()];
    }
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getBitWidth() == 1 ? constant.getZExtValue()
                                         : constant.getSExtValue();
    Operation *op = value.getDefiningOp();
    auto get = [&](unsigned position) {
      return eval(op->getOperand(position));
    };
    return llvm::TypeSwitch<Operation *, int64_t>(op)
        .Case([&](arith::AddIOp) { return get(0) + get(1); })
        .Case([&](arith::SubIOp) { return get(0) - get(1); })
        .Case([&](arith::MulIOp) { return get(0) * get(1); })
        .Case([&](arith::FloorDivSIOp) { return floorDiv(get(0), get(1)); })
        .Case([&](arith::CeilDivSIOp) { return -floorDiv(-get(0), get(1)); })
        .Case([&](arith::DivSIOp) { return get(0) / get(1); })
        .Case([&](arith::RemSIOp) { return get(0) % get(1); })
        .Case([&](arith::MinSIOp) { return std::min(get(0), get(1)); })
        .Case([&](arith::MaxSIOp) { return std::max(get(0), get(1)); })
        .Case([&](math::AbsIOp) { return std::abs(get(0)); })
        .Case([&](arith::AndIOp) { return get(0) & get(1); })
        .Case([&](arith::OrIOp) { return get(0) | get(1); })
        .Case([&](arith::XOrIOp) { return get(0) ^ get(1); })
        .Case([&](arith::SelectOp) { return get(0) ? get(1) : get(2); })
        .Case([&](arith::IndexCastOp) { return get(0); })
        .Case([&](arith::CmpIOp cmp) {
          bool isBool = cmp.getLhs().getType().isInteger(1);
          APInt lhs(isBool ? 1 : 64, uint64_t(get(0)), false, true);
          APInt rhs(isBool ? 1 : 64, uint64_t(get(1)), false, true);
          return int64_t(
              arith::applyCmpPredicate(cmp.getPredicate(), lhs, rhs));
        })
        .Case([&](tensor::ExtractOp) {
          return env.table[uint64_t(get(1)) % env.table.size()];
        })
        // Of the query, which is the kernel's first argument, or of the key.
        .Case([&](tensor::DimOp dim) {
          bool isQuery =
              cast<BlockArgument>(dim.getSource()).getArgNumber() == 0;
          return get(1) == 0 ? 1 : isQuery ? env.n : env.m;
        })
        .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
            [&](auto op) {
              SmallVector<int64_t> dims;
              for (Value operand : op.getMapOperands())
                dims.push_back(eval(operand));
              ArrayRef<AffineExpr> exprs = op.getAffineMap().getResults();
              return isa<affine::AffineMaxOp>(op)
                         ? evaluateMax(exprs, dims, {})
                         : evaluateMin(exprs, dims, {});
            });
  }

  const Environment &env;
  llvm::DenseMap<mlir::Value, int64_t> values;
};

/// Builds attn.attention operations with random mask regions.
class RandomMask {
public:
  explicit RandomMask(uint64_t seed) : builder(&context), generator(seed) {
    context.loadDialect<AttnDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect, mlir::tensor::TensorDialect>();
  }

  /// Starts a kernel whose attention has an empty mask region, and sets the
  /// builder into it. Captures are an index, a tensor, N and M.
  void begin();
  /// Ends the region.
  void finish(mlir::Value predicate);

  int64_t random(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  }
  /// 0 to 3, large ones seldom (because they take most of the time).
  int depth() { return int(std::min(random(0, 3), random(0, 3))); }
  /// A tree of this depth. With `allowLoads` some atoms cannot be understood.
  mlir::Value predicate(int depth, bool allowLoads);
  /// A comparison of terms with coefficients of 1 and no divisions.
  mlir::Value simpleAtom();
  template <typename Op> mlir::Value create(mlir::Value lhs, mlir::Value rhs) {
    return Op::create(builder, builder.getUnknownLoc(), lhs, rhs);
  }

  /// Random sizes and values.
  Environment environment();
  /// Whether each pair of [0, N) x [0, M) is visible.
  std::vector<std::vector<bool>> evaluate(Environment env);

  /// The kernel, for messages.
  std::string print();

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  AttentionOp op;

private:
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder,
                                                builder.getUnknownLoc(), value);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, builder.getUnknownLoc(),
                                       predicate, lhs, rhs);
  }
  mlir::Value load(mlir::Value index);
  mlir::Value argument(unsigned number) { return block->getArgument(number); }
  mlir::Value query() { return argument(2); }
  mlir::Value key() { return argument(3); }
  /// A number that depends neither on i nor on j.
  mlir::Value leaf();
  mlir::Value simpleTerm(mlir::Value position);
  mlir::Value term(int depth);
  mlir::Value atom(bool allowLoads);

  mlir::OpBuilder builder;
  std::mt19937_64 generator;
  mlir::Block *block = nullptr;
};

} // namespace attn::test

#endif // ATTN_UNITTESTS_ANALYSIS_RANDOMMASK_H

//===- MaskAnalysisTest.cpp - key ranges against brute force ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random predicates (fixed seeds) are written as mask regions, analyzed, and
// evaluated pair by pair. For every tile of small sequences no visible key may
// lie outside of [begin, end) and no hidden pair inside of a full range; where
// the analysis says that it is exact, the range must be the hull.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace attn;

namespace {

/// Values of what a region reads: positions, captures, and the elements of the
/// one tensor, which is indexed modulo its size.
struct Environment {
  int64_t b, h, i, j, capture;
  std::vector<int64_t> table;
};

/// Evaluates scalar integer arithmetic.
struct Interpreter {
  const Environment &env;
  Block &block;
  llvm::DenseMap<Value, int64_t> values = llvm::DenseMap<Value, int64_t>();

  int64_t eval(Value value) {
    auto known = values.find(value);
    if (known != values.end())
      return known->second;
    int64_t result = compute(value);
    values[value] = result;
    return result;
  }

private:
  static int64_t floorDiv(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
  }

  int64_t compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      int64_t scalars[] = {env.b, env.h, env.i, env.j, env.capture};
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
          APInt lhs(isBool ? 1 : 64, uint64_t(get(0)));
          APInt rhs(isBool ? 1 : 64, uint64_t(get(1)));
          return int64_t(
              arith::applyCmpPredicate(cmp.getPredicate(), lhs, rhs));
        })
        .Case([&](tensor::ExtractOp) {
          return env.table[uint64_t(get(1)) % env.table.size()];
        });
  }
};

class MaskAnalysis : public testing::Test {
protected:
  MaskAnalysis() : builder(&context) {
    context.loadDialect<AttnDialect, arith::ArithDialect, math::MathDialect,
                        tensor::TensorDialect>();
  }

  /// Starts an attention with an empty mask region, and sets the builder into
  /// it. Captures are an index and a tensor.
  void begin() {
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    auto type = RankedTensorType::get({1, ShapedType::kDynamic, 2, 4},
                                      builder.getF32Type());
    Location loc = builder.getUnknownLoc();
    Value size = arith::ConstantIndexOp::create(builder, loc, 16);
    Value tensor = tensor::EmptyOp::create(builder, loc, type, size);
    Value scale =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.5f));
    auto tableType =
        RankedTensorType::get(ShapedType::kDynamic, builder.getI64Type());
    Value table = tensor::EmptyOp::create(builder, loc, tableType, size);
    op = AttentionOp::create(builder, loc, type, Type(), tensor, tensor, tensor,
                             scale, /*sinks=*/Value(), ValueRange{size, table},
                             Layout::BSHD, KeyRangesAttr());
    block = &op.getMask().emplaceBlock();
    for (int position = 0; position < 5; ++position)
      block->addArgument(builder.getIndexType(), loc);
    block->addArgument(tableType, loc);
    builder.setInsertionPointToStart(block);
  }

  void finish(Value predicate) {
    YieldOp::create(builder, builder.getUnknownLoc(), predicate);
    summary = analyzeMask(op);
  }

  // Parts of random predicates.
  int64_t random(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(),
                                          value);
  }
  template <typename Op> Value create(Value lhs, Value rhs) {
    return Op::create(builder, builder.getUnknownLoc(), lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, builder.getUnknownLoc(), predicate,
                                 lhs, rhs);
  }
  Value load(Value index) {
    Value element = tensor::ExtractOp::create(builder, builder.getUnknownLoc(),
                                              block->getArgument(5), index);
    return arith::IndexCastOp::create(builder, builder.getUnknownLoc(),
                                      builder.getIndexType(), element);
  }
  Value query() { return block->getArgument(2); }
  Value key() { return block->getArgument(3); }

  /// A term of unit coefficients: i or j, plus a constant or a leaf.
  Value simpleTerm(Value position) {
    switch (random(0, 3)) {
    case 0:
      return create<arith::AddIOp>(position, block->getArgument(4));
    case 1:
      return create<arith::SubIOp>(position, constant(random(-6, 6)));
    case 2:
      return create<arith::AddIOp>(position, block->getArgument(0));
    default:
      return position;
    }
  }
  /// i, j, or i and j against each other.
  Value simpleAtom() {
    static constexpr arith::CmpIPredicate predicates[] = {
        arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
        arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge,
        arith::CmpIPredicate::eq};
    arith::CmpIPredicate predicate = predicates[random(0, 4)];
    switch (random(0, 2)) {
    case 0:
      return compare(predicate, simpleTerm(key()), constant(random(0, 9)));
    case 1:
      return compare(predicate, key(), block->getArgument(1));
    default:
      return compare(predicate, simpleTerm(key()), simpleTerm(query()));
    }
  }

  Value term(int depth) {
    Value leaf = random(0, 1) ? query() : key();
    if (depth == 0) {
      switch (random(0, 5)) {
      case 0:
        return constant(random(-4, 9));
      case 1:
        return block->getArgument(random(0, 1) ? 4 : 1);
      default:
        return leaf;
      }
    }
    switch (random(0, 9)) {
    case 0:
    case 1:
      return create<arith::AddIOp>(term(depth - 1), term(depth - 1));
    case 2:
    case 3:
      return create<arith::SubIOp>(term(depth - 1), term(depth - 1));
    case 4:
      return create<arith::MulIOp>(term(depth - 1), constant(random(-2, 3)));
    case 5:
      return create<arith::FloorDivSIOp>(term(depth - 1),
                                         constant(random(1, 5)));
    case 6:
      return random(0, 1) ? create<arith::DivSIOp>(term(depth - 1),
                                                   constant(random(1, 5)))
                          : create<arith::RemSIOp>(term(depth - 1),
                                                   constant(random(1, 5)));
    case 7:
      return random(0, 1)
                 ? create<arith::MinSIOp>(term(depth - 1), term(depth - 1))
                 : create<arith::MaxSIOp>(term(depth - 1), term(depth - 1));
    case 8:
      return math::AbsIOp::create(builder, builder.getUnknownLoc(),
                                  term(depth - 1));
    default:
      return create<arith::CeilDivSIOp>(term(depth - 1),
                                        constant(random(1, 5)));
    }
  }
  Value predicate(int depth) {
    if (depth == 0) {
      if (random(0, 7) == 0) // Unknown: a load.
        return compare(arith::CmpIPredicate::sgt,
                       load(random(0, 1) ? key() : block->getArgument(0)),
                       random(0, 1) ? key() : constant(3));
      if (random(0, 1))
        return simpleAtom();
      return compare(arith::CmpIPredicate(random(0, 9)), term(random(0, 2)),
                     term(random(0, 1)));
    }
    Value lhs = predicate(depth - 1), rhs = predicate(depth - 1);
    switch (random(0, 6)) {
    case 0:
    case 1:
      return create<arith::AndIOp>(lhs, rhs);
    case 2:
    case 3:
      return create<arith::OrIOp>(lhs, rhs);
    case 4:
      return create<arith::XOrIOp>(
          lhs, arith::ConstantIntOp::create(builder, builder.getUnknownLoc(),
                                            builder.getI1Type(), 1));
    case 5:
      return create<arith::XOrIOp>(lhs, rhs);
    default:
      return arith::SelectOp::create(builder, builder.getUnknownLoc(),
                                     simpleAtom(), lhs, rhs);
    }
  }

  /// The value of a bound: the maximum, or the minimum, of a map's results.
  static int64_t evaluate(AffineMapAttr map, ArrayRef<int64_t> inputs,
                          bool isLower) {
    std::optional<int64_t> value;
    AffineMap affine = map.getValue();
    SmallVector<AffineExpr> constants;
    for (int64_t input : inputs)
      constants.push_back(getAffineConstantExpr(input, map.getContext()));
    for (AffineExpr result : affine.getResults()) {
      int64_t one =
          cast<AffineConstantExpr>(
              result.replaceDimsAndSymbols(ArrayRef(constants).take_front(2),
                                           ArrayRef(constants).drop_front(2)))
              .getValue();
      if (!value)
        value = one;
      value = isLower ? std::max(*value, one) : std::min(*value, one);
    }
    return *value;
  }

  /// Compares with the truth for all tiles of one choice of sizes and values.
  void check() {
    KeyRangesAttr ranges = summary.ranges;
    ASSERT_TRUE(ranges);
    int64_t n = random(1, 12), m = random(1, 12), size = random(1, 6);
    Environment env{random(0, 3), random(0, 3), 0, 0, random(-3, 8), {}};
    for (int element = 0; element < 13; ++element)
      env.table.push_back(random(-2, 9));
    Value predicate = block->getTerminator()->getOperand(0);

    std::vector<std::vector<bool>> visible(n, std::vector<bool>(m));
    for (env.i = 0; env.i < n; ++env.i)
      for (env.j = 0; env.j < m; ++env.j)
        visible[env.i][env.j] = Interpreter{env, *block}.eval(predicate) != 0;

    SmallVector<int64_t> inputs{0, 0, n, m};
    env.i = env.j = 0;
    for (Value leaf : getMaskLeaves(op))
      inputs.push_back(Interpreter{env, *block}.eval(leaf));
    ASSERT_EQ(inputs.size(), 2 + ranges.getBegin().getValue().getNumSymbols());

    for (int64_t first = 0; first < n; first += size) {
      int64_t last = std::min(first + size, n);
      inputs[0] = first;
      inputs[1] = last;
      int64_t begin = evaluate(ranges.getBegin(), inputs, true);
      int64_t end = evaluate(ranges.getEnd(), inputs, false);
      int64_t fullBegin = evaluate(ranges.getFullBegin(), inputs, true);
      int64_t fullEnd = evaluate(ranges.getFullEnd(), inputs, false);

      int64_t least = m, greatest = -1;
      for (int64_t row = first; row < last; ++row)
        for (int64_t column = 0; column < m; ++column)
          if (visible[row][column]) {
            least = std::min(least, column);
            greatest = std::max(greatest, column);
          }
      if (greatest >= 0) {
        ASSERT_LE(begin, least);
        ASSERT_GT(end, greatest);
        if (ranges.getExact()) {
          ASSERT_EQ(begin, least);
          ASSERT_EQ(end, greatest + 1);
        }
        skipped += begin + (m - end);
      }
      // Whatever is visited is inside of the tensors.
      ASSERT_GE(begin, 0);
      ASSERT_LE(end, m);
      if (fullBegin < fullEnd) {
        ASSERT_GE(fullBegin, 0);
        ASSERT_LE(fullEnd, m);
      }
      for (int64_t row = first; row < last; ++row)
        for (int64_t column = fullBegin; column < fullEnd; ++column)
          ASSERT_TRUE(visible[row][column])
              << "row " << row << " key " << column;
      full += std::max<int64_t>(0, fullEnd - fullBegin);
    }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  AttentionOp op;
  Block *block = nullptr;
  MaskSummary summary;
  std::mt19937_64 generator{20};
  /// Keys that were skipped, and that were full: neither may be zero in a test
  /// that wants to show something.
  int64_t skipped = 0, full = 0;
};

/// The region, for messages.
std::string print(AttentionOp op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

} // namespace

TEST_F(MaskAnalysis, IsExactForConjunctionsOfAffineAtoms) {
  int exact = 0;
  for (int round = 0; round < 4000; ++round) {
    begin();
    Value all = simpleAtom();
    for (int64_t more = random(0, 2); more > 0; --more)
      all = create<arith::AndIOp>(all, simpleAtom());
    finish(all);
    ASSERT_FALSE(summary.tooLarge);
    ASSERT_EQ(summary.opaqueAtoms, 0u);
    EXPECT_TRUE(summary.ranges.getExact()) << print(op);
    for (int sizes = 0; sizes < 3; ++sizes)
      check();
    if (HasFailure())
      FAIL() << print(op);
    exact += summary.ranges.getExact();
  }
  EXPECT_EQ(exact, 4000);
  EXPECT_GT(skipped, 0);
  EXPECT_GT(full, 0);
}

TEST_F(MaskAnalysis, IsSafeForAnyPredicate) {
  int tooLarge = 0;
  for (int round = 0; round < 6000; ++round) {
    begin();
    finish(predicate(random(0, 2)));
    for (int sizes = 0; sizes < 3; ++sizes)
      check();
    if (HasFailure())
      FAIL() << print(op);
    tooLarge += summary.tooLarge;
  }
  // The limit is for what explodes, not for what people write.
  EXPECT_LT(tooLarge, 600);
  EXPECT_GT(skipped, 0);
  EXPECT_GT(full, 0);
}

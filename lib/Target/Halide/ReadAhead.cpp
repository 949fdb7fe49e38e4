//===- ReadAhead.cpp - memory that is asked for early ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call with a name that only this file knows goes through lowering like any
// pure function. In the end it becomes its value, and the address of the row,
// which is a load by then, that of the prefetches in front of the statement.
//
//===----------------------------------------------------------------------===//
#include "ReadAhead.h"

#include <algorithm>

using namespace Halide::Internal;
using Halide::Expr;

static const char *const marker = "attn_read_ahead";

/// Bytes of a cache line on every family of processors that is a target.
static constexpr int lineBytes = 64;

namespace {

class MakePrefetches final : public IRMutator {
private:
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    if (op->name != marker)
      return IRMutator::visit(op);
    if (const auto *first = op->args[1].as<Load>())
      rows.push_back({first, static_cast<int>(*as_const_int(op->args[2])),
                      op->args.size() > 3 ? op->args[3] : first->index});
    return mutate(op->args[0]);
  }

  Stmt visit(const Store *op) override { return withPrefetches(op); }
  Stmt visit(const LetStmt *op) override {
    // What the value asks for; the body has its own statements.
    Expr value = take(op->value);
    std::vector<Row> asked = std::move(rows);
    rows.clear();
    Stmt result = LetStmt::make(op->name, value, mutate(op->body));
    return inFrontOf(asked, result);
  }
  Stmt visit(const ProducerConsumer *op) override {
    // A row is asked for once while a function is computed, however often its
    // code repeats that.
    std::vector<Row> outside = std::move(done);
    done.clear();
    Stmt result = IRMutator::visit(op);
    done = std::move(outside);
    return result;
  }

  struct Row {
    const Load *first;
    int elements;
    Expr once; ///< Names what is asked for.
  };

  /// The expression without markers. Names that it lets would not be known in
  /// front of the statement.
  Expr take(const Expr &expr) {
    class Find final : public IRVisitor {
    public:
      using IRVisitor::visit;
      void visit(const Call *op) override {
        found |= op->name == marker;
        IRVisitor::visit(op);
      }
      bool found = false;
    } find;
    expr.accept(&find);
    return find.found ? mutate(substitute_in_all_lets(expr)) : expr;
  }

  Stmt withPrefetches(const Store *op) {
    Expr value = take(op->value);
    std::vector<Row> asked = std::move(rows);
    rows.clear();
    Stmt result = Store::make(op->name, value, op->index, op->param,
                              op->predicate, op->alignment);
    return inFrontOf(asked, result);
  }

  Stmt inFrontOf(const std::vector<Row> &asked, Stmt statement) {
    for (const Row &row : asked) {
      auto isSame = [&](const Row &other) {
        return other.first->name == row.first->name &&
               other.elements == row.elements && equal(other.once, row.once);
      };
      if (std::any_of(done.begin(), done.end(), isSame))
        continue;
      done.push_back(row);
      kept.emplace_back(row.first);
      Halide::Type type = row.first->type;
      int step = lineBytes / type.bytes();
      Expr base = Variable::make(Halide::Handle(), row.first->name);
      for (int at = 0; at < row.elements; at += step)
        statement = Block::make(
            Evaluate::make(Call::make(
                type, Call::prefetch,
                {base,
                 row.first->index + make_const(row.first->index.type(), at), 1,
                 step},
                Call::Intrinsic)),
            statement);
    }
    return statement;
  }

  std::vector<Row> rows, done;
  std::vector<Expr> kept; ///< Loads that rows point to.
};

} // namespace

Expr attn::readAhead(const Expr &value, const Expr &first, int elements,
                     const Expr &once) {
  std::vector<Expr> args = {value, first, elements};
  if (once.defined())
    args.push_back(once);
  return Call::make(value.type(), marker, args, Call::PureExtern);
}

void attn::attachReadAhead(Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new MakePrefetches());
}

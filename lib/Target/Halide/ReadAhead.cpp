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
#include <map>

using namespace Halide::Internal;
using Halide::Expr;

static const char *const marker = "attn_read_ahead";
static const char *const storeMarker = "attn_store_ahead";

namespace {

class MakePrefetches final : public IRMutator {
public:
  explicit MakePrefetches(const std::vector<Halide::Func> &outputs) {
    for (const Halide::Func &output : outputs)
      names.push_back(output.name());
  }

  Stmt mutate(const Stmt &s) override {
    bool outermost = depth++ == 0;
    Stmt result = IRMutator::mutate(s);
    --depth;
    if (outermost)
      for (const auto &[name, value] : strides)
        result = LetStmt::make(name, value, result);
    return result;
  }
  using IRMutator::mutate;

private:
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    if (op->name == storeMarker) {
      rows.push_back(outputRow(op));
      return mutate(op->args[0]);
    }
    if (op->name != marker)
      return IRMutator::visit(op);
    if (const auto *first = op->args[1].as<Load>()) {
      auto elements = static_cast<int>(*as_const_int(op->args[2]));
      Expr index = firstLane(first->index);
      rows.push_back({first->name, first->type.element_of(), index, elements,
                      op->args.size() > 3 ? op->args[3] : index});
    }
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

  /// Elements of a buffer.
  struct Row {
    std::string name;
    Halide::Type type;
    Expr first; ///< The index of the first.
    int elements;
    Expr once; ///< Names what is asked for.
  };

  /// The element of an output that a call names. An index that is a vector
  /// stands for its first lane.
  Row outputRow(const Call *op) {
    const std::string &name = names[*as_const_int(firstLane(op->args[1]))];
    Expr first = make_zero(Halide::Int(64));
    for (size_t dim = 0; dim + 2 < op->args.size(); ++dim) {
      Expr index =
          Halide::cast(Halide::Int(64), mutate(firstLane(op->args[dim + 2])));
      if (dim > 0)
        index = index * Halide::cast(Halide::Int(64), stride(name, dim));
      first = first + index;
    }
    return {name, op->type.element_of(), simplify(first), 1, first};
  }
  /// A stride of an output, which other code may not have kept.
  Expr stride(const std::string &name, size_t dim) {
    std::string result = name + ".stride." + std::to_string(dim);
    Expr buffer = Variable::make(Halide::type_of<struct halide_buffer_t *>(),
                                 name + ".buffer");
    strides[result] = Call::make(Halide::Int(32), Call::buffer_get_stride,
                                 {buffer, static_cast<int>(dim)}, Call::Extern);
    return Variable::make(Halide::Int(32), result);
  }
  static Expr firstLane(const Expr &value) {
    if (const auto *ramp = value.as<Ramp>())
      return ramp->base;
    const auto *broadcast = value.as<Broadcast>();
    return broadcast ? broadcast->value : value;
  }

  /// The expression without markers. Names that it lets would not be known in
  /// front of the statement.
  Expr take(const Expr &expr) {
    class Find final : public IRVisitor {
    public:
      using IRVisitor::visit;
      void visit(const Call *op) override {
        found |= op->name == marker || op->name == storeMarker;
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
        return other.name == row.name && other.elements == row.elements &&
               equal(other.once, row.once);
      };
      if (std::any_of(done.begin(), done.end(), isSame))
        continue;
      done.push_back(row);
      int step = attn::cacheLineBytes / row.type.bytes();
      Expr base = Variable::make(Halide::Handle(), row.name);
      for (int at = 0; at < row.elements; at += step)
        statement = Block::make(
            Evaluate::make(Call::make(
                row.type, Call::prefetch,
                {base, row.first + make_const(row.first.type(), at), 1, step},
                Call::Intrinsic)),
            statement);
    }
    return statement;
  }

  std::vector<Row> rows, done;
  std::vector<std::string> names; ///< Of outputs.
  std::map<std::string, Expr> strides;
  int depth = 0;
};

} // namespace

Expr attn::readAhead(const Expr &value, const Expr &first, int elements,
                     const Expr &once) {
  std::vector<Expr> args = {value, first, elements};
  if (once.defined())
    args.push_back(once);
  return Call::make(value.type(), marker, args, Call::PureExtern);
}

Expr attn::storeAhead(const Expr &value, int output,
                      const std::vector<Expr> &indices) {
  std::vector<Expr> args = {value, output};
  args.insert(args.end(), indices.begin(), indices.end());
  return Call::make(value.type(), storeMarker, args, Call::PureExtern);
}

void attn::attachReadAhead(Halide::Pipeline &pipeline,
                           const std::vector<Halide::Func> &outputs) {
  pipeline.add_custom_lowering_pass(new MakePrefetches(outputs));
}

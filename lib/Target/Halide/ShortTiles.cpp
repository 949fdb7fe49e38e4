//===- ShortTiles.cpp - register tiles that are not full ------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Halide has one loop nest for a register tile, which is unrolled and so always
// the whole of it. After lowering, its loops are copied, and the stores to what
// is not asked for left out. How many groups are asked for comes as an argument
// of a call with a name that only this file knows, which goes through lowering
// like any pure function and becomes its value in the end.
//
//===----------------------------------------------------------------------===//
#include "ShortTiles.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace Halide::Internal;
using Halide::Expr;

static const char *const marker = "attn_used_groups";

static Expr withoutBroadcast(const Expr &expr) {
  const auto *broadcast = expr.as<Broadcast>();
  return broadcast ? broadcast->value : expr;
}

/// The first element that is stored, if that is a constant.
static std::optional<int64_t> firstElement(const Store *op) {
  const auto *ramp = op->index.as<Ramp>();
  return as_const_int(ramp ? ramp->base : op->index);
}

namespace {

/// What is marked outside of a loop, where Halide moves it to if it is the same
/// in each iteration: the number of groups by the name that it was given.
using NamedMarks = std::map<std::string, Expr>;

/// Takes the marks out of a statement. `used` is what the first of them says,
/// which is that of the first group, without the names that the statement lets.
class TakeMarks final : public IRMutator {
public:
  explicit TakeMarks(const NamedMarks &outside) : outside(outside) {}
  Expr used;

private:
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    if (op->name != marker)
      return IRMutator::visit(op);
    if (!used.defined()) {
      used = withoutBroadcast(op->args[1]);
      for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        used = substitute(let->first, let->second, used);
    }
    return mutate(op->args[0]);
  }
  Expr visit(const Variable *op) override {
    if (auto found = outside.find(op->name);
        found != outside.end() && !used.defined())
      used = found->second;
    return op;
  }
  Expr visit(const Let *op) override { return visitLet<Expr>(op); }
  Stmt visit(const LetStmt *op) override { return visitLet<Stmt>(op); }

  template <typename Result, typename Node> Result visitLet(const Node *op) {
    Expr value = mutate(op->value);
    lets.emplace_back(op->name, value);
    Result body = mutate(op->body);
    lets.pop_back();
    return Node::make(op->name, value, body);
  }

  const NamedMarks &outside;
  std::vector<std::pair<std::string, Expr>> lets;
};

/// Leaves out stores to groups of `name` from `used` on.
class DropGroups final : public IRMutator {
public:
  DropGroups(std::string name, int size, int count, int used)
      : name(std::move(name)), size(size), count(count), used(used) {}

private:
  using IRMutator::visit;
  Stmt visit(const Store *op) override {
    std::optional<int64_t> first = firstElement(op);
    if (op->name != name || !first || *first / size % count < used)
      return op;
    return Evaluate::make(0);
  }
  Stmt visit(const Block *op) override {
    Stmt first = mutate(op->first), rest = mutate(op->rest);
    if (is_no_op(first))
      return rest;
    return is_no_op(rest) ? first : Block::make(first, rest);
  }

  std::string name;
  int size, count, used;
};

} // namespace

namespace attn {

class ShortenTiles final : public IRMutator {
public:
  explicit ShortenTiles(const ShortTiles &what) : what(what) {}

private:
  using IRMutator::visit;

  /// What is marked elsewhere is computed for all groups.
  Expr visit(const Call *op) override {
    return op->name == marker ? mutate(op->args[0]) : IRMutator::visit(op);
  }

  Stmt visit(const LetStmt *op) override {
    TakeMarks marks(outside);
    Expr value = marks.mutate(op->value);
    if (marks.used.defined())
      outside[op->name] = marks.used;
    return LetStmt::make(op->name, value, mutate(op->body));
  }

  Stmt visit(const ProducerConsumer *op) override {
    auto found = std::find_if(
        what.tiles.begin(), what.tiles.end(),
        [&](const ShortTiles::Tile &other) { return other.func == op->name; });
    if (!op->is_producer || found == what.tiles.end())
      return IRMutator::visit(op);
    TakeMarks marks(outside);
    Stmt body = marks.mutate(op->body);
    if (marks.used.defined()) {
      tile = &*found;
      used = marks.used;
      body = mutate(body);
      tile = nullptr;
    }
    return ProducerConsumer::make_produce(op->name, body);
  }

  Stmt visit(const For *op) override {
    if (tile)
      return copies(op);
    bool isLoop = std::any_of(what.loops.begin(), what.loops.end(),
                              [&](const ShortTiles::Loop &l) {
                                return starts_with(op->name, l.func + ".s") &&
                                       ends_with(op->name, "." + l.var);
                              });
    if (!isLoop)
      return IRMutator::visit(op);
    TakeMarks marks(outside);
    Stmt body = marks.mutate(op->body);
    Expr extent = op->extent;
    if (marks.used.defined())
      extent = min(extent, marks.used);
    return For::make(op->name, op->min, extent, op->for_type,
                     op->partition_policy, op->device_api, body);
  }

  /// One copy of a loop for each number of groups, the whole one first.
  Stmt copies(const Stmt &loop) const {
    Stmt result;
    for (int groups = tile->count - 1; groups >= 1; --groups) {
      Stmt copy =
          DropGroups(tile->func, tile->size, tile->count, groups).mutate(loop);
      if (copy.same_as(loop))
        return loop;
      result = result.defined() ? IfThenElse::make(used <= groups, copy, result)
                                : copy;
    }
    return result.defined()
               ? IfThenElse::make(used >= tile->count, loop, result)
               : loop;
  }

  ShortTiles what;
  NamedMarks outside;
  const ShortTiles::Tile *tile = nullptr; ///< Whose producer this is in.
  Expr used;
};

} // namespace attn

Expr attn::ShortTiles::mark(const Expr &value, const Expr &used) {
  return Call::make(value.type(), marker, {value, used}, Call::PureExtern);
}

void attn::ShortTiles::attach(Halide::Pipeline &pipeline) const {
  pipeline.add_custom_lowering_pass(new ShortenTiles(*this));
}

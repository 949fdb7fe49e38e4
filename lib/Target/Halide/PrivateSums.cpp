//===- PrivateSums.cpp - sums that a thread keeps in registers ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// When this pass runs, all threads of a block run one body with its barriers,
// and all functions of a block lie behind each other in one allocation, whose
// name lists them. The sums are known by calls around them; they are the first,
// because they are the first that is computed. What is not as expected here is
// an error: a sum that stayed in memory that moved would be wrong.
//
//===----------------------------------------------------------------------===//
#include "PrivateSums.h"

#include <map>
#include <sstream>

using namespace Halide::Internal;
using Halide::Expr;

static const char *const getMarker = "attn_get_private";
static const char *const setMarker = "attn_set_private";

static Expr mark(const char *marker, const Expr &value) {
  return Call::make(value.type(), marker, {value}, Call::PureExtern);
}

static bool isMarked(const Expr &value, const char *marker) {
  const auto *call = value.as<Call>();
  return call && call->name == marker;
}

Expr attn::PrivateSums::get(const Expr &element) {
  return mark(getMarker, element);
}

Expr attn::PrivateSums::set(const Expr &value) {
  return mark(setMarker, value);
}

static bool isThreadLoop(const For *loop) {
  return loop->for_type == ForType::GPUThread;
}

/// Whether a statement reads from a buffer.
static bool reads(const Stmt &stmt, const std::string &name) {
  class Find final : public IRVisitor {
  public:
    explicit Find(const std::string &name) : name(name) {}
    using IRVisitor::visit;
    void visit(const Load *op) override {
      found |= op->name == name;
      IRVisitor::visit(op);
    }
    const std::string &name;
    bool found = false;
  } find(name);
  stmt.accept(&find);
  return find.found;
}

static bool isBarrier(const Stmt &stmt) {
  const auto *evaluate = stmt.as<Evaluate>();
  const Call *call = evaluate ? evaluate->value.as<Call>() : nullptr;
  return call && call->is_intrinsic(Call::gpu_thread_barrier);
}

namespace {

class MoveSums final : public IRMutator {
public:
  MoveSums(std::string name, int elements, int x, int y)
      : prefix("allocgroup__" + name + "."), name(std::move(name)),
        elements(elements), x(x), y(y) {}

private:
  using IRMutator::visit;

  Stmt visit(const Allocate *op) override {
    if (op->name.compare(0, prefix.size(), prefix) != 0)
      return IRMutator::visit(op);
    // Functions that lie at the same place are joined by one underscore.
    size_t end = op->name.find_first_not_of("0123456789", prefix.size());
    expect(end == std::string::npos || op->name.compare(end, 2, "__") == 0,
           "shares its memory in " + op->name);
    expect(op->memory_type == Halide::MemoryType::GPUShared &&
               op->extents.size() == 1,
           "is not in shared memory");
    group = op->name;
    Stmt body = mutate(op->body);
    expect(isMoved, "is not in a thread");
    group.clear();
    Expr size = simplify(op->extents.front() - elements * x * y);
    return Allocate::make(op->name, op->type, op->memory_type, {size},
                          op->condition, body);
  }

  Stmt visit(const For *op) override {
    if (op->for_type == ForType::GPUBlock) {
      blocks.push_back(op->name);
      Stmt result = IRMutator::visit(op);
      blocks.pop_back();
      return result;
    }
    if (!isThreadLoop(op))
      return IRMutator::visit(op);
    threads.emplace_back(op->name,
                         Interval(op->min, simplify(op->min + op->extent - 1)));
    Stmt body = mutate(op->body);
    threads.pop_back();
    const auto *inner = op->body.as<For>();
    if (!group.empty() && !(inner && isThreadLoop(inner))) {
      body = Allocate::make(name, Halide::Float(32),
                            Halide::MemoryType::Register, {elements},
                            const_true(), Block::make(body, Free::make(name)));
      isMoved = true;
    }
    return For::make(op->name, op->min, op->extent, op->for_type,
                     op->partition_policy, op->device_api, body);
  }

  Stmt visit(const LetStmt *op) override {
    lets[op->name] = op->value;
    return IRMutator::visit(op);
  }
  Expr visit(const Let *op) override {
    lets[op->name] = op->value;
    return IRMutator::visit(op);
  }

  Expr visit(const Call *op) override {
    if (op->name == setMarker)
      return mutate(op->args.front());
    if (op->name != getMarker)
      return IRMutator::visit(op);
    Expr element = op->args.front();
    while (const auto *variable = element.as<Variable>())
      element = lets.at(variable->name);
    const auto *load = element.as<Load>();
    if (!load) // A value that is known.
      return mutate(element);
    expect(load->name == group, "is marked where another function is read");
    return Load::make(load->type, name, place(load->index), {}, {},
                      const_true(), {});
  }

  Expr visit(const Load *op) override {
    if (op->name != group)
      return IRMutator::visit(op);
    return Load::make(op->type, op->name, moved(op->index), op->image,
                      op->param, mutate(op->predicate), {});
  }

  Stmt visit(const Store *op) override {
    if (op->name != group)
      return IRMutator::visit(op);
    Expr value = op->value;
    while (const auto *variable = value.as<Variable>()) {
      auto known = lets.find(variable->name);
      if (known == lets.end())
        break;
      value = known->second;
    }
    if (isMarked(value, setMarker))
      return Store::make(name, mutate(op->value), place(op->index), {},
                         const_true(), {});
    return Store::make(op->name, mutate(op->value), moved(op->index), op->param,
                       mutate(op->predicate), {});
  }

  /// Stores of different functions need no barrier between them if nothing is
  /// read in between.
  Stmt visit(const Block *op) override {
    const auto *rest = op->rest.as<Block>();
    if (group.empty() || !rest || !isBarrier(rest->first))
      return IRMutator::visit(op);
    Stmt next = rest->rest;
    if (const auto *block = next.as<Block>())
      next = block->first;
    const auto *one = op->first.as<ProducerConsumer>(),
               *other = next.as<ProducerConsumer>();
    bool isFree = one && other && one->is_producer && other->is_producer &&
                  one->name != other->name && !reads(one->body, group) &&
                  !reads(other->body, group) && one->name != name &&
                  other->name != name;
    return isFree ? Block::make(mutate(op->first), mutate(rest->rest))
                  : IRMutator::visit(op);
  }

  /// The number of an element in its thread.
  Expr place(const Expr &index) const {
    Scope<Interval> ranges;
    std::map<std::string, Expr> firstThread;
    for (const auto &[name, range] : threads) {
      ranges.push(name, range);
      firstThread[name] = 0;
    }
    // Shared memory is one block's. The simplifier does not see that a block
    // changes nothing, but what is left for any one. The threads before it take
    // up `elements` each, unless a condition says that there are none.
    std::optional<int64_t> number;
    for (int block : {0, 1}) {
      std::map<std::string, Expr> sameBlock;
      for (const std::string &name : blocks)
        sameBlock[name] = block;
      Expr inBlock = substitute(sameBlock, expanded(index));
      Expr own = simplify(inBlock % elements, true, ranges);
      Expr first = simplify(substitute(firstThread, inBlock));
      std::optional<int64_t> constant = as_const_int(own);
      if (!constant || as_const_int(first) != constant ||
          (number && number != constant))
        fail("has an element that is not the thread's own", inBlock);
      number = constant;
    }
    return make_const(index.type(), *number);
  }

  /// The place of another function's element.
  Expr moved(const Expr &index) {
    return simplify(mutate(index) -
                    make_const(index.type(), int64_t(elements) * x * y));
  }

  /// `index` without names of other values, in 32 bits: an index of shared
  /// memory is small, and casts would hide that terms cancel.
  Expr expanded(const Expr &index) const {
    class Expand final : public IRMutator {
    public:
      explicit Expand(const std::map<std::string, Expr> &lets) : lets(lets) {}
      using IRMutator::mutate;

    private:
      using IRMutator::visit;
      Expr visit(const Variable *op) override {
        auto known = lets.find(op->name);
        return known == lets.end() ? Expr(op) : mutate(known->second);
      }
      Expr visit(const Cast *op) override {
        return op->type == Halide::Int(64) && op->value.type().is_int()
                   ? mutate(op->value)
                   : IRMutator::visit(op);
      }
      Expr visit(const IntImm *op) override {
        return make_const(Halide::Int(32), op->value);
      }
      const std::map<std::string, Expr> &lets;
    } expand(lets);
    return expand.mutate(substitute_in_all_lets(index));
  }

  void expect(bool condition, const std::string &otherwise) const {
    if (!condition)
      fail(otherwise, Expr());
  }
  void fail(const std::string &reason, const Expr &found) const {
    std::ostringstream text;
    text << name << " " << reason;
    if (found.defined())
      text << ": " << found;
    throw Halide::InternalError(text.str());
  }

  std::string prefix, name;
  int elements, x, y;
  /// The allocation that holds the sums, while its body is visited.
  std::string group;
  bool isMoved = false;
  /// The loops around what is visited.
  std::vector<std::string> blocks;
  std::vector<std::pair<std::string, Interval>> threads;
  std::map<std::string, Expr> lets;
};

} // namespace

void attn::PrivateSums::attach(Halide::Pipeline &pipeline) const {
  pipeline.add_custom_lowering_pass(new MoveSums(sums.name(), elements, x, y));
}

//===- ThreadPrivate.cpp - what each thread keeps for itself --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ThreadPrivate.h"

#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace attn;
using namespace Halide::Internal;
using Halide::Expr;

/// Halide's own checks are not for the use of others.
static void require(bool condition, const std::string &message) {
  if (!condition)
    throw Halide::InternalError(message);
}

namespace {

/// Indices are of 64 bits where tensors are large, which this storage is not;
/// of 32 bits they simplify.
class Narrow final : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Cast *op) override {
    return op->type == Halide::Int(64) && op->value.type() == Halide::Int(32)
               ? mutate(op->value)
               : IRMutator::visit(op);
  }
  Expr visit(const IntImm *op) override {
    return op->type == Halide::Int(64)
               ? IntImm::make(Halide::Int(32), op->value)
               : op;
  }

  /// The multiples of the divisor, which stand for the tile, are left out.
  Expr visit(const Mod *op) override {
    std::optional<int64_t> divisor = as_const_int(op->b);
    if (!divisor)
      return IRMutator::visit(op);
    Expr rest = Halide::Internal::make_zero(Halide::Int(32));
    addRest(mutate(op->a), 1, *divisor, rest);
    return rest % static_cast<int>(*divisor);
  }

  static void addRest(const Expr &value, int64_t factor, int64_t divisor,
                      Expr &sum) {
    if (factor % divisor == 0)
      return;
    if (const auto *add = value.as<Add>()) {
      addRest(add->a, factor, divisor, sum);
      addRest(add->b, factor, divisor, sum);
      return;
    }
    if (const auto *mul = value.as<Mul>())
      if (std::optional<int64_t> constant = as_const_int(mul->b))
        return addRest(mul->a, factor * *constant, divisor, sum);
    sum += value * static_cast<int>(factor);
  }
};

class KeepOwnPart final : public IRMutator {
public:
  KeepOwnPart(std::string name, PrivateLayout layout)
      : prefix(std::move(name) + "."), layout(layout) {}

private:
  using IRMutator::visit;

  bool isIt(const std::string &name) const {
    return name.compare(0, prefix.size(), prefix) == 0;
  }

  Stmt visit(const For *op) override {
    if (op->for_type == ForType::GPUThread) {
      // The innermost loop counts x; Halide has at most one more here.
      bool isX = ends_with(op->name, "x");
      (isX ? threadX : threadY) = op->name;
      if (is_const_one(op->extent))
        onlyFirst.insert(op->name);
      bounds.push(op->name,
                  Interval(op->min, simplify(op->min + op->extent - 1)));
    }
    return IRMutator::visit(op);
  }

  /// Of a loop over a part of the threads the rest is left out by a condition.
  Stmt visit(const IfThenElse *op) override {
    std::set<std::string> before = onlyFirst;
    findOnlyFirst(op->condition);
    Expr condition = mutate(op->condition);
    Stmt then = mutate(op->then_case);
    onlyFirst = before;
    return IfThenElse::make(condition, then, mutate(op->else_case));
  }

  /// The threads of which `condition` leaves that with number 0.
  void findOnlyFirst(const Expr &condition) {
    Expr full = expand(condition);
    if (const auto *both = full.as<And>()) {
      findOnlyFirst(both->a);
      findOnlyFirst(both->b);
    }
    const auto *below = full.as<LT>();
    const auto *most = full.as<LE>();
    bool isOne =
        (below && is_const_one(below->b)) || (most && is_const_zero(most->b));
    if (!isOne)
      return;
    const auto *thread = (below ? below->a : most->a).as<Variable>();
    if (thread && (thread->name == threadX || thread->name == threadY))
      onlyFirst.insert(thread->name);
  }

  Stmt visit(const Allocate *op) override {
    if (!isIt(op->name))
      return IRMutator::visit(op);
    int64_t size = op->constant_allocation_size();
    int64_t all = int64_t(layout.rows) * layout.columns;
    require(size > 0 && size % all == 0,
            "no whole number of elements a thread of " + op->name);
    return Allocate::make(op->name, op->type, op->memory_type,
                          {static_cast<int>(size / all * layout.rowsEach)},
                          op->condition, mutate(op->body));
  }

  Stmt visit(const LetStmt *op) override {
    lets[op->name] = expand(op->value);
    return IRMutator::visit(op);
  }
  Expr visit(const Let *op) override {
    lets[op->name] = expand(op->value);
    return IRMutator::visit(op);
  }

  Expr expand(const Expr &value) const { return substitute(lets, value); }

  /// Where the thread's own part has an element.
  Expr place(const Expr &index) const {
    Expr full = simplify(Narrow().mutate(expand(index)), true, bounds);
    std::map<std::string, Expr> first = {{threadX, 0}, {threadY, 0}};
    Expr base = simplify(substitute(first, full));
    Expr offset = 0;
    for (const auto &[thread, stride] :
         {std::pair(threadX, layout.rows), {threadY, layout.rowsEach}})
      if (!thread.empty())
        offset += Variable::make(Halide::Int(32), thread) * stride;
    std::map<std::string, Expr> zeros;
    for (const std::string &thread : onlyFirst)
      zeros[thread] = 0;
    Expr difference = simplify(substitute(zeros, full - base - offset));
    std::ostringstream text;
    text << "the part of another thread of " << prefix << full;
    require(is_const_zero(difference), text.str());
    int all = layout.rows * layout.columns;
    return simplify(base / all * layout.rowsEach + base % all);
  }

  Expr visit(const Load *op) override {
    if (!isIt(op->name))
      return IRMutator::visit(op);
    return Load::make(op->type, op->name, place(op->index), op->image,
                      op->param, mutate(op->predicate), ModulusRemainder());
  }

  Stmt visit(const Store *op) override {
    if (!isIt(op->name))
      return IRMutator::visit(op);
    return Store::make(op->name, mutate(op->value), place(op->index), op->param,
                       mutate(op->predicate), ModulusRemainder());
  }

  std::string prefix;
  PrivateLayout layout;
  std::string threadX, threadY;
  std::set<std::string> onlyFirst; ///< Threads that have number 0 here.
  std::map<std::string, Expr> lets;
  Scope<Interval> bounds;
};

} // namespace

void attn::makeThreadPrivate(Halide::Pipeline &pipeline,
                             const Halide::Func &func, PrivateLayout layout) {
  pipeline.add_custom_lowering_pass(new KeepOwnPart(func.name(), layout));
}

//===- TrimLoops.cpp - loops of a block of threads end early --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TrimLoops.h"

#include <map>

using namespace Halide::Internal;
using Halide::Expr;

namespace {

/// Whether a statement does nothing but wait.
bool onlyWaits(const Stmt &stmt) {
  if (!stmt.defined())
    return true;
  if (const auto *block = stmt.as<Block>())
    return onlyWaits(block->first) && onlyWaits(block->rest);
  const auto *evaluate = stmt.as<Evaluate>();
  return evaluate && Call::as_intrinsic(evaluate->value,
                                        {Call::gpu_thread_barrier}) != nullptr;
}

class Trim final : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For *op) override {
    if (op->for_type != ForType::Serial)
      return IRMutator::visit(op);
    Stmt body = op->body;
    const auto *block = body.as<Block>();
    if (block && onlyWaits(block->rest))
      body = block->first;
    std::map<std::string, Expr> lets;
    while (const auto *let = body.as<LetStmt>()) {
      lets[let->name] = substitute(lets, let->value);
      body = let->body;
    }
    const auto *choice = body.as<IfThenElse>();
    if (!choice || choice->else_case.defined())
      return IRMutator::visit(op);
    Interval steps = solve_for_outer_interval(
        simplify(substitute(lets, choice->condition)), op->name);
    // A part of what bounds the loop may be known inside of it only.
    Expr first = op->min, last = op->min + op->extent - 1;
    auto isKnown = [&](const Expr &bound) {
      return !expr_uses_var(bound, op->name);
    };
    if (steps.has_lower_bound() && isKnown(steps.min))
      first = max(first, steps.min);
    if (steps.has_upper_bound() && isKnown(steps.max))
      last = min(last, steps.max);
    return For::make(op->name, simplify(first),
                     simplify(max(last - first + 1, 0)), op->for_type,
                     op->partition_policy, op->device_api, mutate(op->body));
  }
};

} // namespace

void attn::trimLoops(Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new Trim());
}

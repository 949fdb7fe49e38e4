//===- TileGuards.cpp - tiles that are not visited ------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileGuards.h"

using namespace Halide::Internal;
using Halide::Expr;

namespace {

class GuardRest final : public IRMutator {
public:
  explicit GuardRest(std::string name) : name(std::move(name)) {}

private:
  using IRMutator::visit;

  Stmt visit(const Block *op) override {
    const auto *produce = op->first.as<ProducerConsumer>();
    if (!produce || !produce->is_producer || produce->name != name)
      return IRMutator::visit(op);
    Expr value = Load::make(Halide::Int(32), name, make_zero(Halide::Int(32)),
                            Halide::Buffer<>(), Halide::Parameter(),
                            const_true(), ModulusRemainder());
    return Block::make(op->first,
                       IfThenElse::make(value != 0, mutate(op->rest)));
  }

  std::string name;
};

const char *const markName = "attn_tile_guard";

/// Finds how the function of a guard is read, and takes the marks away.
class TakeMarks final : public IRMutator {
public:
  explicit TakeMarks(const std::string &name) : name(name) {}
  Expr read;

private:
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    if (op->name != markName || op->args[2].as<StringImm>()->value != name)
      return IRMutator::visit(op);
    read = op->args[1];
    return mutate(op->args[0]);
  }

  const std::string &name;
};

class GuardThreads final : public IRMutator {
public:
  explicit GuardThreads(std::string name) : name(std::move(name)) {}

private:
  using IRMutator::visit;

  Stmt visit(const ProducerConsumer *op) override {
    Stmt result = IRMutator::visit(op);
    isProduced |= op->is_producer && op->name == name;
    return result;
  }

  Stmt visit(const Block *op) override {
    Stmt first = mutate(op->first);
    if (!isProduced)
      return Block::make(first, mutate(op->rest));
    isProduced = false;
    TakeMarks take(name);
    Stmt rest = take.mutate(op->rest);
    // All threads see the same number, and may wait for each other under it.
    const auto *block = rest.as<Block>();
    const auto *load = take.read.as<Load>();
    if (!block || !load || !is_const(load->index))
      throw Halide::InternalError("no number that all threads share in " +
                                  name);
    return Block::make(
        {first, block->first, IfThenElse::make(take.read != 0, block->rest)});
  }

  std::string name;
  bool isProduced = false;
};

} // namespace

void attn::guardThreadsBy(const Halide::Func &func,
                          Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new GuardThreads(func.name()));
}

Expr attn::markGuard(const Halide::Func &func, const Expr &value,
                     const Expr &read) {
  return Call::make(value.type(), markName, {value, read, func.name()},
                    Call::PureExtern);
}

void attn::guardBy(const Halide::Func &func, Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new GuardRest(func.name()));
}

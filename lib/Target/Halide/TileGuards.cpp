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

} // namespace

void attn::guardBy(const Halide::Func &func, Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new GuardRest(func.name()));
}

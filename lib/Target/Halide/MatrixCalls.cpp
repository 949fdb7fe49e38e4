//===- MatrixCalls.cpp - functions that the run-time computes -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Halide's own stages in C take descriptors of buffers and are asked for their
// bounds when the kernel runs, which costs as much as a small tile. Here a
// store of a call goes through lowering like any other, with loads as the
// call's arguments. In the end it becomes the call alone, and the loads the
// addresses that they would read.
//
//===----------------------------------------------------------------------===//
#include "MatrixCalls.h"

using namespace Halide::Internal;
using Halide::Expr;

static const char *const prefix = "attn_rt_matrix_";
static const char *const strideMarker = "attn_matrix_stride";

namespace {

class MakeCalls final : public IRMutator {
private:
  using IRMutator::visit;

  Stmt visit(const LetStmt *op) override {
    lets.push(op->name, op->value);
    Stmt body = mutate(op->body);
    lets.pop(op->name);
    // A load that was let for several calls must not happen.
    if (!stmt_uses_var(body, op->name))
      return body;
    return LetStmt::make(op->name, op->value, body);
  }

  Stmt visit(const Store *op) override {
    Expr value = substitute_in_all_lets(op->value);
    const auto *call = value.as<Call>();
    if (!call || call->name.rfind(prefix, 0) != 0)
      return IRMutator::visit(op);
    std::vector<Expr> args;
    addAddress(args, op->name, op->index);
    for (const Expr &arg : call->args) {
      Expr element = resolve(arg);
      if (const auto *load = element.as<Load>())
        addAddress(args, load->name, load->index);
      else
        args.push_back(valueOf(element));
    }
    return Evaluate::make(
        Call::make(Halide::Int(32), call->name, args, Call::Extern));
  }

  static void addAddress(std::vector<Expr> &args, const std::string &name,
                         const Expr &index) {
    args.push_back(Variable::make(Halide::Handle(), name));
    args.push_back(Halide::cast<int64_t>(index));
  }

  /// What a name was let for, if that is a load.
  Expr resolve(const Expr &expr) const {
    Expr result = expr;
    while (const auto *variable = result.as<Variable>()) {
      if (!lets.contains(variable->name))
        return expr;
      result = lets.get(variable->name);
    }
    return result.as<Load>() ? result : expr;
  }

  Expr valueOf(const Expr &arg) const {
    const auto *call = arg.as<Call>();
    if (!call || call->name != strideMarker)
      return arg;
    Expr elements[] = {resolve(call->args[0]), resolve(call->args[1])};
    const auto *first = elements[0].as<Load>(),
               *second = elements[1].as<Load>();
    if (!first || !second)
      throw Halide::InternalError("a stride lies between two elements");
    return simplify(Halide::cast<int64_t>(second->index) -
                    Halide::cast<int64_t>(first->index));
  }

  Scope<Expr> lets;
};

} // namespace

Expr attn::matrixCall(Halide::Type type, const std::string &name,
                      const std::vector<Expr> &args) {
  return Call::make(type, prefix + name, args, Call::Extern);
}

Expr attn::matrixStride(const Expr &first, const Expr &second) {
  return Call::make(Halide::Int(64), strideMarker, {first, second},
                    Call::PureExtern);
}

void attn::attachMatrixCalls(Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new MakeCalls());
}

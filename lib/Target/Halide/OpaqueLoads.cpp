//===- OpaqueLoads.cpp - loads that bounds inference need not see ---------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pass runs after buffers were taken apart, so what it brings back
// (pointers, strides, sizes) is taken out of the buffers again at the top of
// the function.
//
//===----------------------------------------------------------------------===//
#include "OpaqueLoads.h"

#include <map>
#include <string>
#include <string_view>

using namespace Halide::Internal;
using Halide::Expr;

static constexpr std::string_view prefix = "attn_opaque_load_";

namespace attn {

/// Replaces the calls, and loads of kernel arguments inside of what they stand
/// for.
class RevealLoads final : public IRMutator {
public:
  RevealLoads(std::vector<OpaqueLoads::Entry> entries, bool hasWideOffsets)
      : entries(std::move(entries)),
        offsetType(Halide::Int(hasWideOffsets ? 64 : 32)) {}

  Stmt mutate(const Stmt &s) override {
    bool outermost = depth++ == 0;
    Stmt result = IRMutator::mutate(s);
    --depth;
    if (outermost) {
      for (const auto &[name, value] : definitions)
        result = LetStmt::make(name, value, result);
      definitions.clear();
    }
    return result;
  }
  using IRMutator::mutate;

private:
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    if (op->name.compare(0, prefix.size(), prefix) == 0) {
      return reveal(numberOf(op), op->args);
    }
    // An ImageParam is read through a function that has the same elements.
    if (op->call_type == Call::Halide && op->func.defined()) {
      Function function(op->func);
      std::map<std::string, Expr> values;
      for (size_t i = 0; i < op->args.size(); ++i)
        values[function.args()[i]] = op->args[i];
      return mutate(substitute(values, function.values()[op->value_index]));
    }
    if (op->call_type == Call::Image && op->param.defined())
      return load(op);
    return IRMutator::visit(op);
  }

  static size_t numberOf(const Call *op) {
    return std::stoul(op->name.substr(prefix.size()));
  }

  /// The value of an entry. Entries that it is made of, which come before it,
  /// and the counters are let, so that each is there once.
  Expr reveal(size_t number, const std::vector<Expr> &args) {
    class Uses final : public IRMutator {
    public:
      Uses(std::string name, std::vector<bool> &used)
          : name(std::move(name)), used(used) {}
      using IRMutator::visit;
      Expr visit(const Call *op) override {
        if (op->name.compare(0, prefix.size(), prefix) != 0)
          return IRMutator::visit(op);
        used[numberOf(op)] = true;
        return Variable::make(op->type,
                              name + "." + std::to_string(numberOf(op)));
      }
      std::string name;
      std::vector<bool> &used;
    };
    std::string name = unique_name("opaque");
    std::vector<bool> used(entries.size(), false);
    std::map<std::string, Expr> counters;
    std::vector<std::pair<std::string, Expr>> lets;
    for (size_t i = 0; i < args.size(); ++i) {
      lets.emplace_back(name + ".at" + std::to_string(i), mutate(args[i]));
      counters[entries[number].counters[i].name()] =
          Variable::make(args[i].type(), lets.back().first);
    }
    std::vector<std::pair<std::string, Expr>> parts;
    used[number] = true;
    for (size_t part = number + 1; part-- > 0;) {
      if (!used[part])
        continue;
      Expr value = Uses(name, used).mutate(entries[part].value);
      parts.emplace_back(name + "." + std::to_string(part),
                         mutate(substitute(counters, value)));
    }
    lets.insert(lets.end(), parts.rbegin(), parts.rend());
    Expr result = lets.back().second;
    lets.pop_back();
    for (; !lets.empty(); lets.pop_back())
      result = Let::make(lets.back().first, lets.back().second, result);
    return result;
  }

  /// Sizes of arguments are variables that other code may not have kept.
  Expr visit(const Variable *op) override {
    if (op->param.defined() && op->param.is_buffer()) {
      std::string start = op->param.name() + ".extent.";
      if (op->name.compare(0, start.size(), start) == 0)
        definitions[op->name] =
            query(op->param, Halide::Int(32), Call::buffer_get_extent,
                  std::stoi(op->name.substr(start.size())));
    }
    return op;
  }

  /// An element of an argument, whose minimum is 0 in each dimension and whose
  /// innermost stride is 1.
  Expr load(const Call *op) {
    const Halide::Parameter &param = op->param;
    Expr offset = make_zero(offsetType);
    for (size_t dim = 0; dim < op->args.size(); ++dim) {
      Expr index = Halide::cast(offsetType, mutate(op->args[dim]));
      if (dim > 0) {
        std::string name = param.name() + ".stride." + std::to_string(dim);
        definitions[name] =
            query(param, Halide::Int(32), Call::buffer_get_stride, int(dim));
        index = index *
                Halide::cast(offsetType, Variable::make(Halide::Int(32), name));
      }
      offset = offset + index;
    }
    definitions[param.name()] =
        Call::make(Halide::type_of<void *>(), Call::buffer_get_host,
                   {buffer(param)}, Call::Extern);
    return Load::make(op->type, param.name(), simplify(offset), op->image,
                      param, const_true(), ModulusRemainder());
  }

  static Expr buffer(const Halide::Parameter &param) {
    return Variable::make(Halide::type_of<struct halide_buffer_t *>(),
                          param.name() + ".buffer", param);
  }
  static Expr query(const Halide::Parameter &param, Halide::Type type,
                    const char *function, int dim) {
    return Call::make(type, function, {buffer(param), dim}, Call::Extern);
  }

  std::vector<OpaqueLoads::Entry> entries;
  Halide::Type offsetType;
  std::map<std::string, Expr> definitions;
  int depth = 0;
};

} // namespace attn

using namespace attn;

Expr OpaqueLoads::hide(const Expr &value,
                       const std::vector<Halide::Var> &counters) {
  std::vector<Expr> args(counters.begin(), counters.end());
  std::string name = std::string(prefix) + std::to_string(entries.size());
  entries.push_back({value, counters});
  return Call::make(value.type(), name, args, Call::PureExtern);
}

void OpaqueLoads::attach(Halide::Pipeline &pipeline,
                         bool hasWideOffsets) const {
  if (!entries.empty())
    pipeline.add_custom_lowering_pass(new RevealLoads(entries, hasWideOffsets));
}

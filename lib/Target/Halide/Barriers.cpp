//===- Barriers.cpp - where a block of threads waits ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// When these passes run, all threads of a block run one body with its barriers.
// Halide puts one behind each function that threads share something of, and
// behind each that it stores outside the loops over threads, also where that is
// a thread's own registers.
//
//===----------------------------------------------------------------------===//
#include "Barriers.h"

#include <set>
#include <string>

using namespace attn;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::MemoryType;

static bool isBarrier(const Stmt &stmt) {
  const auto *evaluate = stmt.as<Evaluate>();
  const Call *call = evaluate ? evaluate->value.as<Call>() : nullptr;
  return call && call->is_intrinsic(Call::gpu_thread_barrier);
}

bool attn::hasBarrier(const Stmt &stmt) {
  class Find final : public IRVisitor {
    using IRVisitor::visit;
    void visit(const Call *op) override {
      found |= op->is_intrinsic(Call::gpu_thread_barrier);
      IRVisitor::visit(op);
    }

  public:
    bool found = false;
  } find;
  stmt.accept(&find);
  return find.found;
}

/// Whether a statement reads what threads share: what is allocated in a block
/// but is not a thread's.
static bool readsShared(const Stmt &stmt, const std::set<std::string> &shared) {
  class Find final : public IRVisitor {
  public:
    explicit Find(const std::set<std::string> &shared) : shared(shared) {}
    bool found = false;

  private:
    using IRVisitor::visit;
    void visit(const Load *op) override {
      found |= shared.count(op->name) != 0;
      IRVisitor::visit(op);
    }
    const std::set<std::string> &shared;
  } find(shared);
  stmt.accept(&find);
  return find.found;
}

namespace {

/// Visits the body of each block of threads, and knows what its threads share.
class BlockMutator : public IRMutator {
protected:
  using IRMutator::visit;

  Stmt visit(const Allocate *op) override {
    if (op->memory_type == MemoryType::GPUShared)
      shared.insert(op->name);
    return IRMutator::visit(op);
  }

  std::set<std::string> shared;
};

/// Drops barriers before which nothing happened that others see since the last
/// one.
class DropIdle final : public BlockMutator {
  using BlockMutator::visit;

  Stmt visit(const For *op) override {
    if (op->for_type == ForType::GPUThread) {
      // The body of a launch, from its first statement on.
      isOpen = false;
      ++threads;
      Stmt result = IRMutator::visit(op);
      --threads;
      return result;
    }
    // Behind its own end a loop begins again.
    isOpen = true;
    Stmt result = IRMutator::visit(op);
    isOpen = true;
    return result;
  }

  Stmt visit(const IfThenElse *op) override {
    Expr condition = mutate(op->condition);
    bool before = isOpen;
    Stmt then = mutate(op->then_case);
    isOpen = before;
    Stmt otherwise = mutate(op->else_case);
    isOpen = true;
    return IfThenElse::make(condition, then, otherwise);
  }

  Stmt visit(const Evaluate *op) override {
    if (threads == 0 || !isBarrier(op))
      return IRMutator::visit(op);
    bool isIdle = !isOpen;
    isOpen = false;
    return isIdle ? Evaluate::make(0) : Stmt(op);
  }

  Stmt visit(const Block *op) override {
    Stmt first = mutate(op->first), rest = mutate(op->rest);
    return is_no_op(first)  ? rest
           : is_no_op(rest) ? first
                            : Block::make(first, rest);
  }

  Expr visit(const Load *op) override {
    isOpen |= shared.count(op->name) != 0;
    return IRMutator::visit(op);
  }

  Stmt visit(const Allocate *op) override {
    if (op->memory_type == MemoryType::Register ||
        op->memory_type == MemoryType::Stack)
      own.insert(op->name);
    return BlockMutator::visit(op);
  }

  Stmt visit(const Store *op) override {
    Stmt result = IRMutator::visit(op);
    isOpen |= own.count(op->name) == 0;
    return result;
  }

  std::set<std::string> own;
  int threads = 0;
  bool isOpen = false; ///< Something happened that others may see.
};

/// See joinStores.
class JoinStores final : public BlockMutator {
public:
  JoinStores(std::string first, std::string second)
      : first(std::move(first)), second(std::move(second)) {}

private:
  using BlockMutator::visit;

  Stmt visit(const For *op) override {
    if (op->for_type == ForType::GPUBlock)
      isUsed = false;
    bool isFirst = !isUsed;
    Stmt loop = IRMutator::visit(op);
    op = loop.as<For>();
    // What is stored takes the place of what others may read until the barrier
    // that is dropped: nothing before the loop, and in the iteration before
    // nothing behind its last barrier.
    if (!isFirst || op->for_type != ForType::Serial ||
        !endsWithBarrier(op->body))
      return loop;
    return For::make(op->name, op->min, op->extent, op->for_type,
                     op->partition_policy, op->device_api, join(op->body));
  }

  Expr visit(const Load *op) override {
    isUsed |= shared.count(op->name) != 0;
    return IRMutator::visit(op);
  }
  Stmt visit(const Store *op) override {
    isUsed |= shared.count(op->name) != 0;
    return IRMutator::visit(op);
  }

  static bool endsWithBarrier(const Stmt &body) {
    if (const auto *let = body.as<LetStmt>())
      return endsWithBarrier(let->body);
    const auto *block = body.as<Block>();
    return block ? endsWithBarrier(block->rest) : isBarrier(body);
  }

  bool onlyStores(const Stmt &stmt, const std::string &name) const {
    const auto *produce = stmt.as<ProducerConsumer>();
    return produce && produce->is_producer && produce->name == name &&
           !readsShared(produce->body, shared);
  }

  /// The body of a loop without the barrier between what it stores first.
  Stmt join(const Stmt &body) const {
    if (const auto *let = body.as<LetStmt>())
      return LetStmt::make(let->name, let->value, join(let->body));
    const auto *block = body.as<Block>();
    const auto *rest = block ? block->rest.as<Block>() : nullptr;
    if (!rest || !isBarrier(rest->first) || !onlyStores(block->first, first))
      return body;
    const auto *after = rest->rest.as<Block>();
    return onlyStores(after ? after->first : rest->rest, second)
               ? Block::make(block->first, rest->rest)
               : body;
  }

  std::string first, second;
  bool isUsed = false; ///< What threads share, in the launch so far.
};

} // namespace

void attn::dropIdleBarriers(Halide::Pipeline &pipeline) {
  pipeline.add_custom_lowering_pass(new DropIdle());
}

void attn::joinStores(Halide::Pipeline &pipeline, const Halide::Func &first,
                      const Halide::Func &second) {
  pipeline.add_custom_lowering_pass(
      new JoinStores(first.name(), second.name()));
}

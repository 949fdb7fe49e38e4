//===- GpuLaunch.cpp - what a kernel asks of a device ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GpuLaunch.h"
#include "Barriers.h"

#include "attn/Analysis/TargetInfo.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <map>
#include <optional>
#include <vector>

using namespace mlir;
using namespace attn;
using namespace Halide::Internal;
using Halide::Expr;

static const char *const keepAliveName = "attn_keep_alive";

Expr attn::keepAlive(const Expr &value, const Expr &read) {
  return Call::make(value.type(), keepAliveName, {value, read},
                    Call::PureExtern);
}

namespace {

class GpuPasses final : public IRMutator {
public:
  explicit GpuPasses(const std::vector<Halide::Func> &outputs) {
    for (const Halide::Func &output : outputs)
      results.emplace_back(output.name(), output.dimensions());
  }

  Stmt mutate(const Stmt &s) override {
    bool outermost = depth++ == 0;
    Stmt result = IRMutator::mutate(s);
    --depth;
    return outermost ? IfThenElse::make(hasResults(), result) : result;
  }
  using IRMutator::mutate;

private:
  using IRMutator::visit;

  /// Whether any result has an element.
  Expr hasResults() const {
    Expr any = const_false();
    for (const auto &[name, dimensions] : results) {
      Expr all = const_true();
      Expr buffer = Variable::make(Halide::type_of<struct halide_buffer_t *>(),
                                   name + ".buffer");
      for (int dim = 0; dim < dimensions; ++dim)
        all = all && Call::make(Halide::Int(32), Call::buffer_get_extent,
                                {buffer, dim}, Call::Extern) > 0;
      any = any || all;
    }
    return any;
  }

  Stmt visit(const For *op) override {
    if (op->for_type != ForType::GPUBlock)
      return IRMutator::visit(op);
    bool outermost = !inBlocks;
    if (outermost) {
      inBlocks = true;
      someBlocks = const_true();
    }
    someBlocks = someBlocks && op->extent > 0;
    Stmt result = IRMutator::visit(op);
    if (!outermost)
      return result;
    inBlocks = false;
    return IfThenElse::make(someBlocks, result);
  }

  /// Threads that wait for each other under a condition, which is the same for
  /// all of them, do so in a loop of one turn or none: PoCL 3.1 loses a part of
  /// what stands around a branch with barriers.
  Stmt visit(const IfThenElse *op) override {
    Stmt result = IRMutator::visit(op);
    const auto *branch = result.as<IfThenElse>();
    if (!inBlocks || !branch || branch->else_case.defined() ||
        !hasBarrier(branch->then_case))
      return result;
    return For::make(unique_name("once"), 0,
                     Halide::cast<int>(branch->condition), ForType::Serial,
                     Halide::Partition::Never, Halide::DeviceAPI::None,
                     branch->then_case);
  }

  Expr visit(const Call *op) override {
    if (op->is_intrinsic(Call::gpu_thread_barrier)) {
      constexpr int shared = 2; // CodeGen_GPU_Dev::MemoryFenceType::Shared
      int mask = static_cast<int>(*as_const_int(op->args[0])) | shared;
      return Call::make(op->type, Call::gpu_thread_barrier, {mask},
                        op->call_type);
    }
    if (op->name == keepAliveName)
      return mutate(op->args[0]);
    return IRMutator::visit(op);
  }

  /// In OpenCL C the digits of the least i32 are those of a number of 64 bits.
  Expr visit(const Reinterpret *op) override {
    const auto *value = op->value.as<IntImm>();
    if (!value || value->type != Halide::Int(32) || value->value >= 0)
      return IRMutator::visit(op);
    return Halide::reinterpret(
        op->type,
        make_const(Halide::UInt(32), static_cast<uint32_t>(value->value)));
  }

  /// Into OpenCL C Halide 21 writes the digits that an f32 has.
  Expr visit(const FloatImm *op) override {
    if (op->type != Halide::Float(64))
      return op;
    return Halide::reinterpret(
        op->type,
        make_const(Halide::Int(64), llvm::bit_cast<int64_t>(op->value)));
  }

  std::vector<std::pair<std::string, int>> results;
  Expr someBlocks;
  bool inBlocks = false;
  int depth = 0;
};

/// Puts arithmetic on numbers that the host would hand over into the device's
/// code.
class SinkArithmetic final : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const LetStmt *op) override {
    class FindCalls final : public IRVisitor {
      using IRVisitor::visit;
      void visit(const Call *op) override { found = true; }
      void visit(const Load *op) override { found = true; }

    public:
      bool found = false;
    } calls;
    op->value.accept(&calls);
    if (!calls.found)
      values[op->name] = substitute(values, op->value);
    return IRMutator::visit(op);
  }

  Stmt visit(const For *op) override {
    return op->for_type == ForType::GPUBlock ? substitute(values, Stmt(op))
                                             : IRMutator::visit(op);
  }

  std::map<std::string, Expr> values;
};

/// SPIR-V of Halide 21 does not say that a sum is to be computed as it is
/// written. Adding a number whose last bit is 1 rounds to an integer, which
/// compilers undo when it is taken away again: the integer is made before.
class RoundBefore final : public IRMutator {
  using IRMutator::visit;

  Expr visit(const Call *op) override {
    Expr result = IRMutator::visit(op);
    op = result.as<Call>();
    if (!op || !op->is_intrinsic(Call::strict_add))
      return result;
    std::optional<double> magic = as_const_float(op->args[1]);
    if (!magic || std::abs(*magic) < 0x1p23 || op->type != Halide::Float(32))
      return result;
    return Call::make(op->type, Call::strict_add,
                      {Halide::round(op->args[0]), op->args[1]},
                      Call::PureIntrinsic);
  }
};

/// Shared memory is one allocation, whose name lists what lies beside each
/// other and, in each place, what lies there one after the other:
///
///     allocgroup__a.0__b.1_c.2
class FindPlace final : public IRMutator {
public:
  explicit FindPlace(std::string name) : name(std::move(name)) {}

private:
  using IRMutator::visit;

  Stmt visit(const Allocate *op) override {
    llvm::SmallVector<llvm::StringRef> places;
    llvm::StringRef(op->name).split(places, "__");
    for (llvm::StringRef place : places) {
      size_t at = ("_" + place).str().find("_" + name + ".");
      bool isAlone =
          at == 0 &&
          place.drop_front(name.size() + 1).find_first_not_of("0123456789") ==
              llvm::StringRef::npos;
      if (at != std::string::npos && !isAlone)
        throw Halide::InternalError(
            "the shared memory of " + name +
            " is that of other functions as well: " + op->name);
    }
    return IRMutator::visit(op);
  }

  std::string name;
};

/// One call of halide_<interface>_run.
struct Launch {
  std::vector<Expr> threads;
  Expr sharedBytes;
  /// The arguments that are no buffers.
  std::vector<Halide::Type> scalars;
};

class FindLaunches final : public IRGraphVisitor {
public:
  std::vector<Launch> launches;

private:
  using IRGraphVisitor::visit;
  void visit(const Call *op) override {
    IRGraphVisitor::visit(op);
    if (!starts_with(op->name, "halide_") || !ends_with(op->name, "_run") ||
        op->args.size() != 12)
      return;
    // state, name, blocks, threads, shared, sizes, arguments, which are buffers
    Launch launch;
    for (int i = 5; i < 8; ++i)
      launch.threads.push_back(simplify(op->args[i]));
    launch.sharedBytes =
        simplify(common_subexpression_elimination(op->args[8]));
    const auto *arguments = op->args[10].as<Call>();
    const auto *areBuffers = op->args[11].as<Call>();
    for (size_t i = 0; i + 1 < areBuffers->args.size(); ++i)
      if (is_const_zero(areBuffers->args[i]))
        if (const auto *scalar = arguments->args[i].as<Call>())
          launch.scalars.push_back(scalar->args.front().type());
    launches.push_back(std::move(launch));
  }
};

} // namespace

void attn::attachGpuPasses(Halide::Pipeline &pipeline,
                           const TargetInfo &target) {
  if (target.api == DeviceApi::Vulkan) {
    pipeline.add_custom_lowering_pass(new SinkArithmetic());
    pipeline.add_custom_lowering_pass(new RoundBefore());
  }
  pipeline.add_custom_lowering_pass(new GpuPasses(pipeline.outputs()));
  dropIdleBarriers(pipeline);
}

void attn::requireOwnMemory(Halide::Pipeline &pipeline,
                            const Halide::Func &func) {
  pipeline.add_custom_lowering_pass(new FindPlace(func.name()));
}

/// What the SPIR-V of Halide 21 gets wrong without saying so.
static LogicalResult
checkVulkanLaunch(const Launch &launch,
                  llvm::function_ref<InFlightDiagnostic()> emitError) {
  // 64 bytes of scalar arguments arrive, later ones read as 0.
  constexpr int64_t scalarBytes = 64;
  int64_t bytes = 0;
  for (Halide::Type type : launch.scalars) {
    if (type.is_bool())
      return emitError() << "expected no truth value as an argument of the "
                            "device code (because the SPIR-V of it is not "
                            "valid), got one: use another device interface";
    bytes += type.bytes();
  }
  if (bytes > scalarBytes)
    return emitError() << "expected at most " << scalarBytes
                       << " bytes of numbers as arguments of the device code "
                          "(because those that follow read as 0 on Vulkan), "
                          "got "
                       << bytes
                       << ": make sizes static, or use another device "
                          "interface";
  return success();
}

LogicalResult
attn::checkLaunches(const Halide::Module &module, const TargetInfo &target,
                    llvm::function_ref<InFlightDiagnostic()> emitError) {
  FindLaunches find;
  for (const LoweredFunc &function : module.functions())
    function.body.accept(&find);
  for (const Launch &launch : find.launches) {
    std::optional<int64_t> shared = as_const_int(launch.sharedBytes);
    if (!shared)
      return emitError() << "expected shared memory of a size that is known "
                            "when the kernel is compiled, got a size that "
                            "depends on the tensors";
    if (*shared > target.device.sharedBytes)
      return emitError() << "expected at most " << target.device.sharedBytes
                         << " bytes of shared memory a block (the limit of "
                         << target.name << "), got " << *shared
                         << ": choose smaller tiles";
    int64_t threads = 1;
    for (const Expr &size : launch.threads) {
      std::optional<int64_t> known = as_const_int(size);
      if (!known)
        return emitError() << "expected a number of threads that is known when "
                              "the kernel is compiled, got one that depends on "
                              "the tensors";
      threads *= *known;
    }
    if (threads > target.device.threads)
      return emitError() << "expected at most " << target.device.threads
                         << " threads a block (the limit of " << target.name
                         << "), got " << threads
                         << ": choose fewer threads in the schedule";
    if (target.api == DeviceApi::Vulkan &&
        failed(checkVulkanLaunch(launch, emitError)))
      return failure();
  }
  return success();
}

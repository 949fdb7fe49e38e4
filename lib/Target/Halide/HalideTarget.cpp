//===- HalideTarget.cpp - one kernel to machine code through Halide -------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Picks the emitter for a kernel's body, lowers the pipeline once and writes
// every wanted file from it. The boundary of Halide's exceptions: a refused
// algorithm or schedule becomes a diagnostic at the kernel with Halide's text.
//
//===----------------------------------------------------------------------===//
#include "attn/Target/Halide/HalideTarget.h"
#include "GpuLaunch.h"
#include "HalideKernel.h"

#include "attn/Analysis/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

std::string attn::getKernelSymbol(KernelOp kernel, const TargetInfo &target) {
  return (kernel.getSymName() + "__" + target.symbolSuffix).str();
}

/// What all kernels have in common: one run-time a program, all checks made by
/// the host (a null buffer would otherwise be taken for a bounds query), and
/// offsets of 64 bits, because sizes are known at run time only.
static Halide::Target getHalideTarget(const TargetInfo &target) {
  Halide::Target result(target.halideTarget.str());
  for (Halide::Target::Feature feature :
       {Halide::Target::NoRuntime, Halide::Target::NoAsserts,
        Halide::Target::NoBoundsQuery, Halide::Target::UserContext})
    result.set_feature(feature);
  if (target.hasWideOffsets())
    result.set_feature(Halide::Target::LargeBuffers);
  return result;
}

/// Runs `body`, which may throw what Halide throws, and reports it.
template <typename Body>
static LogicalResult guarded(llvm::function_ref<InFlightDiagnostic()> emitError,
                             Body body) {
  try {
    return body();
  } catch (const Halide::InternalError &error) {
    return emitError() << "internal error of Halide: "
                       << StringRef(error.what()).rtrim();
  } catch (const Halide::Error &error) {
    return emitError() << "refused by Halide: "
                       << StringRef(error.what()).rtrim();
  } catch (const std::exception &error) {
    return emitError() << "unexpected exception: " << error.what();
  }
}

static FailureOr<HalideKernel> emitKernel(KernelOp kernel,
                                          const TargetInfo &target) {
  Block &body = kernel.getBody().front();
  auto has = [&](auto type) { return !body.getOps<decltype(type)>().empty(); };
  if (has(scf::ForallOp()))
    return emitFlash(kernel, target);
  if (has(AttentionOp()))
    return kernel.emitOpError(
        "expected attention as tiled loops (because the "
        "Halide target starts at the tiled level), got "
        "attn.attention: run attn-tile and attn-schedule");
  if (has(FusedLinearOp()))
    return emitLinear(*body.getOps<FusedLinearOp>().begin(), kernel, target);
  if (has(PackOp()) || llvm::any_of(body, [](Operation &op) {
        return isa<linalg::LinalgOp>(op);
      }))
    return emitGeneric(kernel, target);
  return emitRowwise(kernel, target);
}

namespace {
/// Finds what would be allocated on the heap when the kernel runs. Of a device
/// only that stands in the host's code: registers and shared memory belong to
/// the code that was taken out (see GpuLaunch.h).
class HeapAllocations final : public Halide::Internal::IRVisitor {
public:
  std::vector<std::string> names;

private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Allocate *op) override {
    bool onStack = op->memory_type == Halide::MemoryType::Stack ||
                   op->memory_type == Halide::MemoryType::Register ||
                   op->memory_type == Halide::MemoryType::Auto;
    int64_t elements = op->constant_allocation_size(); // 0: known at run time
    bool fits = elements > 0 && (op->memory_type != Halide::MemoryType::Auto ||
                                 Halide::Internal::can_allocation_fit_on_stack(
                                     elements * op->type.bytes()));
    if (!onStack || !fits)
      names.push_back(op->name);
    IRVisitor::visit(op);
  }
};
} // namespace

/// Verifies that all tensors have elements that the target computes with.
static LogicalResult checkElements(KernelOp kernel, const TargetInfo &target) {
  if (target.hasWideOffsets())
    return success();
  bool isVulkan = target.api == DeviceApi::Vulkan;
  auto isKnown = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    unsigned bits = tensor ? tensor.getElementTypeBitWidth() : 32;
    return isVulkan ? bits == 32 : bits <= 32;
  };
  FunctionType type = kernel.getFunctionType();
  for (ArrayRef<Type> types : {type.getInputs(), type.getResults()})
    for (Type tensor : types)
      if (!isKnown(tensor))
        return kernel.emitOpError(
                   isVulkan
                       ? "expected elements of 32 bits (because not each "
                         "device of Vulkan has others), got "
                       : "expected elements of at most 32 bits (because Halide "
                         "writes no others for Metal), got ")
               << tensor << ": use another device interface";
  return success();
}

/// Writes the bytes that the interface of the device is given.
static LogicalResult
writeDeviceCode(const Halide::Module &module, StringRef path,
                llvm::function_ref<InFlightDiagnostic()> emitError) {
  Halide::Buffer<> code = module.get_device_code_buffer();
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error && code.defined())
    file.write(static_cast<const char *>(code.data()), code.size_in_bytes());
  if (!error) {
    file.close();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return emitError() << "cannot write '" << path << "': " << error.message();
  return success();
}

LogicalResult attn::compileKernel(KernelOp kernel, const TargetInfo &target,
                                  StringRef symbol, const KernelFiles &files) {
  auto emitError = [&] { return kernel.emitOpError(); };
  if (failed(checkElements(kernel, target)))
    return failure();
  return guarded(emitError, [&]() -> LogicalResult {
    FailureOr<HalideKernel> emitted = emitKernel(kernel, target);
    if (failed(emitted))
      return failure();
    if (target.isGpu())
      attachGpuPasses(emitted->pipeline, target);
    Halide::Module module = emitted->pipeline.compile_to_module(
        emitted->args, symbol.str(), getHalideTarget(target),
        Halide::LinkageType::External);
    if (failed(checkLaunches(module, target, emitError)))
      return failure();
    if (emitted->stackOnly) {
      HeapAllocations heap;
      for (const Halide::Internal::LoweredFunc &function : module.functions())
        function.body.accept(&heap);
      llvm::erase_if(heap.names, [&](const std::string &name) {
        return llvm::is_contained(emitted->copies, name);
      });
      if (!heap.names.empty())
        return kernel.emitOpError("expected all scratch of fixed size on the "
                                  "stack, got an allocation of '")
               << heap.names.front() << "' when the kernel runs";
    }
    std::map<Halide::OutputFileType, std::string> outputs;
    // The loops of a device stand in the text before they are taken out.
    Halide::OutputFileType stmt = target.isGpu()
                                      ? Halide::OutputFileType::conceptual_stmt
                                      : Halide::OutputFileType::stmt;
    for (const auto &[type, path] :
         {std::pair(Halide::OutputFileType::bitcode, files.bitcode),
          std::pair(stmt, files.stmt),
          std::pair(Halide::OutputFileType::assembly, files.assembly),
          std::pair(Halide::OutputFileType::llvm_assembly, files.llvmAssembly)})
      if (!path.empty())
        outputs[type] = path;
    module.compile(outputs);
    if (!files.deviceCode.empty())
      return writeDeviceCode(module, files.deviceCode, emitError);
    return success();
  });
}

LogicalResult
attn::emitHalideRuntime(ArrayRef<const TargetInfo *> targets, StringRef path,
                        llvm::function_ref<InFlightDiagnostic()> emitError) {
  return guarded(emitError, [&] {
    // Its functions run on every CPU that any of the targets runs on.
    const TargetInfo *least = *llvm::min_element(
        targets, [](const TargetInfo *a, const TargetInfo *b) {
          return llvm::popcount(a->cpuFeatures) <
                 llvm::popcount(b->cpuFeatures);
        });
    Halide::Target runtime =
        getHalideTarget(*least).without_feature(Halide::Target::NoRuntime);
    for (const TargetInfo *target : targets)
      for (Halide::Target::Feature interface :
           {Halide::Target::OpenCL, Halide::Target::CUDA,
            Halide::Target::Vulkan})
        if (getHalideTarget(*target).has_feature(interface))
          runtime.set_feature(interface);
    Halide::Module empty("halide_runtime", runtime);
    empty.compile({{Halide::OutputFileType::bitcode, path.str()}});
    return success();
  });
}

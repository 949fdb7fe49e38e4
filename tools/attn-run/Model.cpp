//===- Model.cpp - the model that a run is about --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Model.h.
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "Progress.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Driver.h"
#include "attn/Target/Host/HostTarget.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/WithColor.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace llvm;

namespace attn::run {

Model::Model() = default;
Model::~Model() = default;

/// A model without a graph, with a context that prints diagnostics.
std::unique_ptr<Model> Model::create(StringRef path) {
  std::unique_ptr<Model> model(new Model);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerHostTarget(registry);
  model->context.appendDialectRegistry(registry);
  model->context.printOpOnDiagnostic(false);
  model->handler = std::make_unique<mlir::SourceMgrDiagnosticHandler>(
      model->sources, &model->context, errs());
  model->path = path.str();
  model->sourceFolder = modelFolder(path);
  return model;
}

std::unique_ptr<Model> Model::read(StringRef path,
                                   const ImportOptions &import) {
  std::unique_ptr<Model> model = create(path);
  model->graph = readModel(
      path, import, &model->context, model->sources, [](const Twine &problem) {
        WithColor::error(errs(), "attn-run") << problem << '\n';
      });
  if (!model->graph ||
      failed(lowerModel(*model->graph, Emit::Graph, DriverOptions())))
    return nullptr;
  return model;
}

std::unique_ptr<Model>
Model::importOnnx(const onnx::Model &onnx, StringRef path,
                  const OnnxOptions &options, Problems &problems,
                  std::vector<std::string> &unknownInputs) {
  std::unique_ptr<Model> model = create(path);
  model->graph = attn::importOnnx(
      onnx, path, &model->context,
      [&](StringRef problem) { problems.add(problem); }, options,
      &unknownInputs);
  if (!model->graph ||
      failed(lowerModel(*model->graph, Emit::Graph, DriverOptions())))
    return nullptr;
  return model;
}

Error reported() { return createStringError(inconvertibleErrorCode(), ""); }

/// Whether the system lets this process use the tiles of AMX, as the run-time
/// asks it (lib/Runtime/Cpu.c).
static bool mayUseTiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

/// Bits of attn-c/cpu.h would need the run-time's own detection; here LLVM's
/// does, by the features that tell the levels apart.
StringRef hostTarget() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<StringRef> names) {
    return all_of(names, [&](StringRef name) { return features.lookup(name); });
  };
  if (Triple(sys::getProcessTriple()).isAArch64())
    return "arm64";
  if (has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return has({"avx512bf16", "amx-tile", "amx-bf16"}) && mayUseTiles()
               ? "x86-64-v4-amx"
               : "x86-64-v4";
  if (has({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}))
    return "x86-64-v3";
  return "x86-64-v2";
}

bool runsHere(const TargetInfo &target) {
  uint32_t has = lookupTarget(hostTarget())->cpuFeatures;
  return (target.cpuFeatures & ~has) == 0;
}

/// Whether the text that was read is of the tiled level, and so says for which
/// target.
static bool hasTarget(mlir::ModuleOp module) {
  auto named = [](mlir::ModuleOp op) { return op->hasAttr("attn.target"); };
  return named(module) || llvm::any_of(module.getOps<mlir::ModuleOp>(), named);
}

bool Model::compile(StringRef prefix, StringRef target, bool loops,
                    Rewrite rewrite, StringRef kernelHook) {
  Progress progress("compiling " + path);
  DriverOptions options;
  options.loops = loops;
  if (!target.empty())
    options.targets = {target.str()};
  else if (!hasTarget(*graph))
    options.targets = {hostTarget().str()};
  mlir::OwningOpRef<mlir::ModuleOp> copy(graph->clone());
  ModelCost cost;
  if (rewrite) {
    rewrite(*copy, Emit::Graph);
    if (failed(lowerModel(*copy, Emit::Fused, options)))
      return false;
    rewrite(*copy, Emit::Fused);
  }
  if (failed(lowerModel(*copy, Emit::Tiled, options, &cost)))
    return false;
  if (rewrite)
    rewrite(*copy, Emit::Tiled);
  ObjectOptions object;
  object.cost = cost;
  object.prefixPath = prefix.str();
  object.sourceDir = sourceFolder;
  object.kernelHook = kernelHook.str();
  return succeeded(emitObject(*copy, object));
}

void Model::atFusedLevel(function_ref<void(mlir::ModuleOp)> look) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(graph->clone());
  if (succeeded(lowerModel(*copy, Emit::Fused, DriverOptions())))
    look(*copy);
}

std::optional<CostReport> Model::cost(const StringMap<int64_t> &dims,
                                      const TargetInfo &target,
                                      const Machine &machine) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(graph->clone());
  if (failed(lowerModel(*copy, Emit::Cost, DriverOptions())))
    return std::nullopt;
  mlir::FailureOr<CostReport> report =
      computeCostReport(*copy, target, machine, dims);
  return succeeded(report) ? std::optional(std::move(*report)) : std::nullopt;
}

std::optional<double> Model::flops(const StringMap<int64_t> &dims) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(graph->clone());
  ModelCost cost;
  if (failed(lowerModel(*copy, Emit::Fused, DriverOptions(), &cost)))
    return std::nullopt;
  Cost total = cost.total();
  return total.flops ? total.flops->evaluate(dims) : std::nullopt;
}

} // namespace attn::run

//===- Driver.cpp - from a model to a file of any stage --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that can be wrong about the command line is looked at before the
// work starts: targets, ranges, and whether the output can be written.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Driver.h"
#include "CostReport.h"
#include "EmitSpirv.h"
#include "EmitStmt.h"
#include "Explain.h"
#include "MaskMap.h"
#include "Progress.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/PrintNamed.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Support/OutputFiles.h"
#include "attn/Support/TemporaryFolder.h"
#include "attn/Target/Host/HostTarget.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Transforms.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attn;

std::optional<Emit> attn::parseEmit(StringRef name) {
  return llvm::StringSwitch<std::optional<Emit>>(name)
      .Case("graph", Emit::Graph)
      .Case("fused", Emit::Fused)
      .Case("mask-map", Emit::MaskMap)
      .Case("cost", Emit::Cost)
      .Case("tiled", Emit::Tiled)
      .Case("host", Emit::Host)
      .Case("stmt", Emit::Stmt)
      .Case("ptx", Emit::Ptx)
      .Case("opencl", Emit::OpenCL)
      .Case("metal", Emit::Metal)
      .Case("spirv", Emit::Spirv)
      .Case("llvm", Emit::LLVM)
      .Case("asm", Emit::Assembly)
      .Case("obj", Emit::Object)
      .Default(std::nullopt);
}

/// The interface whose code a stage shows, if it is one of them.
static std::optional<DeviceApi> apiOf(Emit emit) {
  if (emit == Emit::Ptx)
    return DeviceApi::Cuda;
  if (emit == Emit::OpenCL)
    return DeviceApi::OpenCL;
  if (emit == Emit::Metal)
    return DeviceApi::Metal;
  if (emit == Emit::Spirv)
    return DeviceApi::Vulkan;
  return std::nullopt;
}

StringRef attn::emitNames() {
  return "graph, fused, mask-map, cost, tiled, host, stmt, ptx, opencl, "
         "metal, spirv, llvm, asm or obj";
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Runs one stage.
static LogicalResult runStage(ModuleOp module, bool verifyEach,
                              llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module->getContext());
  manager.enableVerifier(verifyEach);
  build(manager);
  // Whatever a stage hands on is valid, even where passes are not verified.
  return success(succeeded(manager.run(module)) &&
                 (verifyEach || succeeded(mlir::verify(module))));
}

/// The name and the value of `--dim name=value`; none if it is a range.
static std::optional<std::pair<std::string, int64_t>>
valueOfDim(StringRef text) {
  std::optional<DimRange> range = parseDimRange(text);
  if (!range || range->min != range->max)
    return std::nullopt;
  return std::pair(range->name.str(), int64_t(range->min));
}

/// Where all targets are devices, keys are split until one is busy. (What a CPU
/// runs as well is split as the CPU wants it.)
static void splitForDevices(const DriverOptions &options,
                            GraphToFusedOptions &stage) {
  int64_t blocks = 0;
  for (const std::string &name : options.targets) {
    const TargetInfo *target = lookupTarget(name);
    if (!target || !target->isGpu())
      return;
    blocks = std::max(blocks, target->device.blocks);
  }
  if (blocks == 0)
    return;
  constexpr int64_t chunk = 256; // four key tiles or more
  stage.splitChunk = chunk;
  stage.splitTasks = blocks;
}

LogicalResult attn::lowerModel(ModuleOp module, Emit emit,
                               const DriverOptions &options, ModelCost *cost) {
  if (emit == Emit::Graph)
    return runStage(module, options.verifyEach, [&](OpPassManager &manager) {
      AttnNameDimsPassOptions names;
      names.dims.append(options.dims.begin(), options.dims.end());
      manager.addPass(createAttnNameDimsPass(names));
    });
  if (failed(runStage(module, options.verifyEach, [&](OpPassManager &manager) {
        GraphToFusedOptions stage;
        for (const std::string &dim : options.dims)
          if (emit != Emit::Cost || !valueOfDim(dim))
            stage.dims.push_back(dim);
        stage.failIfNotFused = options.failIfNotFused;
        splitForDevices(options, stage);
        buildGraphToFused(manager, stage);
      })))
    return failure();
  if (cost)
    *cost = estimateCost(module);
  if (emit == Emit::Fused)
    return success();
  if (emit == Emit::MaskMap || emit == Emit::Cost)
    return runStage(module, options.verifyEach, [&](OpPassManager &manager) {
      manager.addPass(createAttnAnalyzeMasksPass());
    });
  return runStage(module, options.verifyEach, [&](OpPassManager &manager) {
    FusedToTiledOptions stage;
    for (const std::string &target : options.targets)
      stage.targets.push_back(target);
    stage.loops = options.loops;
    buildFusedToTiled(manager, stage);
  });
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

static void printError(const Twine &text) {
  llvm::WithColor::error(llvm::errs(), "attn-opt") << text << "\n";
}

namespace {

/// What runDriver does, a method a step. A step that fails has said why.
class Driver {
public:
  explicit Driver(const DriverOptions &options)
      : options(options), progress(/*isWanted=*/!options.explain) {
    DialectRegistry registry;
    registerDialects(registry);
    registerHostTarget(registry);
    context.appendDialectRegistry(registry);
    // One model at a time: threads would only make the order of remarks vary.
    context.disableMultithreading();
    context.printOpOnDiagnostic(false);
  }

  LogicalResult run() {
    if (failed(checkCommandLine()) || failed(openOutput()) ||
        failed(makeScratch()))
      return failure();
    SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
    // Comes first, and leaves the message to the other one.
    ScopedDiagnosticHandler makeRoom(&context, [&](Diagnostic &) {
      progress.clear();
      return failure();
    });
    if (options.explain)
      explainTo(llvm::errs(), context);
    progress.step("reading " + options.input);
    module = readModel(options.input, options.import, &context, sources,
                       [&](const Twine &problem) {
                         progress.clear();
                         printError(problem);
                       });
    if (!module)
      return failure();
    if (!options.tuning.empty() &&
        failed(readTuning(options.tuning, *module, [&](const Twine &problem) {
          progress.clear();
          printError(problem);
        })))
      return failure();
    progress.step("lowering");
    if (failed(lowerModel(*module, options.emit, options, &cost)))
      return failure();
    if (options.explain)
      explainCost(*module, cost);
    return emit();
  }

private:
  /// Reports everything that is wrong with the options.
  LogicalResult checkCommandLine() {
    bool ok = true;
    for (const std::string &name : options.targets)
      if (!lookupTarget(name)) {
        printError("expected --target to name some of " + targetNames() +
                   ", got '" + name + "'");
        ok = false;
      }
    for (const std::string &text : options.dims)
      if (!parseDimRange(text)) {
        printError("expected --dim with a range like batch=1..8 or batch=4 and "
                   "sizes from 0 to 2147483647, got '" +
                   text + "'");
        ok = false;
      }
    if (!options.machine.empty() && !parseMachine(options.machine)) {
      printError(
          "expected --machine=gflops=N,gbytes=N with numbers above 0, as "
          "attn-run --measure-machine prints it, got '" +
          options.machine + "'");
      ok = false;
    }
    if (!options.machine.empty() && options.emit != Emit::Cost) {
      printError("expected --emit=cost with --machine (because nothing else "
                 "depends on it), got another stage");
      ok = false;
    }
    return success(ok);
  }

  /// Looks whether the output can be written before anything is compiled.
  LogicalResult openOutput() {
    if (options.emit == Emit::Object || options.emit == Emit::Spirv) {
      if (options.output.empty() || options.output == "-") {
        printError("expected -o with the prefix of the files to write, like -o "
                   "out/name, got none");
        return failure();
      }
      StringRef folder = llvm::sys::path::parent_path(options.output);
      std::error_code problem = llvm::sys::fs::access(
          folder.empty() ? "." : folder, llvm::sys::fs::AccessMode::Write);
      if (problem)
        printError("cannot write '" + options.output +
                   (options.emit == Emit::Object ? ".o': " : ".*.spv': ") +
                   problem.message());
      return success(!problem);
    }
    if (options.output == "-") {
      output = &llvm::outs();
      return success();
    }
    llvm::Expected<llvm::raw_fd_ostream *> file = files.open(options.output);
    if (!file) {
      printError(llvm::toString(file.takeError()));
      return failure();
    }
    output = *file;
    return success();
  }

  /// Puts the text in place. Only now is known whether there was room for it.
  LogicalResult closeOutput() {
    if (llvm::Error error = files.commit()) {
      printError(llvm::toString(std::move(error)));
      return failure();
    }
    llvm::outs().flush();
    std::error_code problem = llvm::outs().error();
    if (!problem)
      return success();
    llvm::outs().clear_error();
    printError("cannot write the standard output: " + problem.message());
    return failure();
  }

  /// Kernels pass through files.
  LogicalResult makeScratch() {
    if (options.emit < Emit::Stmt)
      return success();
    std::error_code error = scratch.create("attn-opt");
    if (error)
      printError("expected to write to the system's folder of temporary files, "
                 "got: " +
                 error.message());
    return success(!error);
  }

  LogicalResult emit() {
    switch (options.emit) {
    case Emit::Graph:
    case Emit::Fused:
    case Emit::Tiled:
      printNamed(*module, *output);
      break;
    case Emit::MaskMap:
      if (failed(emitMaskMap()))
        return failure();
      break;
    case Emit::Cost:
      if (failed(emitCost()))
        return failure();
      break;
    case Emit::Host:
      if (failed(emitHostText(*module, objectOptions(), /*lowered=*/false,
                              *output)))
        return failure();
      break;
    case Emit::Stmt:
      progress.step("compiling kernels");
      if (failed(emitStmt(*module, scratch.path(), *output)))
        return failure();
      break;
    case Emit::Spirv:
      progress.step("compiling kernels");
      if (failed(emitSpirv(*module, scratch.path(), options.output, files)))
        return failure();
      break;
    case Emit::Ptx:
    case Emit::OpenCL:
    case Emit::Metal:
      progress.step("compiling kernels");
      if (failed(emitDeviceCode(*module, *apiOf(options.emit), scratch.path(),
                                *output)))
        return failure();
      break;
    case Emit::LLVM:
      progress.step("compiling kernels");
      if (failed(emitLLVMText(*module, objectOptions(), *output)))
        return failure();
      break;
    case Emit::Assembly:
      progress.step("compiling kernels");
      if (failed(emitAssemblyText(*module, objectOptions(), *output)))
        return failure();
      break;
    case Emit::Object:
      progress.step("compiling kernels and writing weights");
      return emitObject(*module, objectOptions());
    }
    return closeOutput();
  }

  /// The first target that was named, for text that is about one.
  const TargetInfo &firstTarget() {
    auto stated = (*module)->getAttrOfType<StringAttr>("attn.target");
    const TargetInfo *target =
        lookupTarget(!options.targets.empty() ? StringRef(options.targets[0])
                     : stated                 ? stated.getValue()
                                              : "x86-64-v3");
    // Otherwise the model names one that attn-select-targets refuses.
    return target ? *target : *lookupTarget("x86-64-v3");
  }

  LogicalResult emitCost() {
    const TargetInfo &target = firstTarget();
    llvm::StringMap<int64_t> values;
    for (const std::string &dim : options.dims)
      if (auto value = valueOfDim(dim))
        values[value->first] = value->second;
    std::optional<Machine> machine = parseMachine(options.machine);
    FailureOr<CostReport> report = computeCostReport(
        *module, target, machine.value_or(assumeMachine(target)), values);
    if (failed(report))
      return failure();
    printCostReport(*report, *output);
    return success();
  }

  /// A picture if the file's name asks for one. Tiles are those of the first
  /// target.
  LogicalResult emitMaskMap() {
    FailureOr<std::vector<MaskMap>> maps =
        computeMaskMaps(*module, firstTarget());
    if (failed(maps))
      return failure();
    if (StringRef(options.output).ends_with(".svg"))
      drawMaskMaps(*maps, *output);
    else
      printMaskMaps(*maps, *output);
    return success();
  }

  ObjectOptions objectOptions() {
    ObjectOptions object;
    object.prefixPath = options.output;
    // Text has no file of its own to be named after.
    if (options.emit != Emit::Object)
      object.prefixPath = object.name = "model";
    object.embedWeights = options.embedWeights;
    object.sourceDir = modelFolder(options.input);
    object.cost = cost;
    return object;
  }

  const DriverOptions &options;
  MLIRContext context;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  ModelCost cost;
  OutputFiles files;
  /// One of the files, or the standard output.
  llvm::raw_ostream *output = nullptr;
  Progress progress;
  ScratchFolder scratch;
};

} // namespace

int attn::runDriver(const DriverOptions &given) {
  DriverOptions options = given;
  if (std::optional<DeviceApi> api = apiOf(options.emit);
      api && options.targets.empty())
    for (const TargetInfo &target : llvm::reverse(gpuTargets()))
      if (target.api == *api) // The first one is for any device.
        options.targets = {target.name.str()};
  bool known = options.gpu.empty() ||
               llvm::any_of(allDevices(), [&](const DeviceLimits &device) {
                 return device.name == options.gpu;
               });
  if (!known) {
    std::string names;
    for (const DeviceLimits &device : allDevices())
      names += (names.empty() ? "" : ", ") + device.name.str();
    printError("expected --gpu with one of " + names + ", got '" + options.gpu +
               "'");
    return 1;
  }
  for (std::string &target : options.targets)
    target = targetOnDevice(target, options.gpu);
  return failed(Driver(options).run());
}

//===- attn-opt.cpp - the compiler's command line --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With --emit this is the compiler: a model in, the output of a stage out; with
// --print-target it tells about targets. Otherwise it is an opt tool: IR and
// passes in, IR out. Only the dialects and upstream passes that this project
// uses are registered.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TargetInfo.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Driver.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Support/CleanUp.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
namespace cl = llvm::cl;

/// True if `option`, with or without a value, is among the arguments.
static bool asksFor(StringRef option, int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if (arg.starts_with("-") && arg.ltrim('-').split('=').first == option)
      return true;
  }
  return false;
}

static llvm::raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "attn-opt");
}

/// attn-opt --print-target
static int printTargets(int argc, char **argv) {
  static cl::OptionCategory category("attn-opt --print-target options");
  static cl::list<std::string> named(
      "print-target", cl::ValueOptional, cl::CommaSeparated, cl::cat(category),
      cl::value_desc("names"),
      cl::desc("Print what is known of these targets (all if none is named): "
               "the numbers that schedules are derived from, and the tile and "
               "block sizes that follow, with their formulas"));
  static cl::list<std::string> targets(
      "target", cl::CommaSeparated, cl::cat(category), cl::value_desc("names"),
      cl::desc("More names of targets"));
  cl::ParseCommandLineOptions(argc, argv, "describes targets\n");

  SmallVector<const attn::TargetInfo *> chosen;
  bool ok = true;
  auto choose = [&](const cl::list<std::string> &names) {
    for (StringRef name : names) {
      if (name.empty()) // --print-target without a value.
        continue;
      chosen.push_back(attn::lookupTarget(name));
      if (chosen.back())
        continue;
      ok = false;
      error() << "expected --" << names.ArgStr << " to name some of "
              << attn::targetNames() << ", got '" << name << "'\n";
    }
  };
  choose(named);
  choose(targets);
  if (!ok)
    return 1;
  if (chosen.empty())
    for (const attn::TargetInfo &target : attn::cpuTargets())
      chosen.push_back(&target);
  for (const attn::TargetInfo *target : chosen) {
    if (target != chosen.front())
      llvm::outs() << "\n";
    attn::printTarget(*target, llvm::outs());
  }
  return 0;
}

/// attn-opt M --emit=...
static int compile(int argc, char **argv) {
  static cl::OptionCategory category("attn-opt M --emit=... options");
  static cl::opt<std::string> input(
      cl::Positional, cl::Required, cl::cat(category),
      cl::desc("<model: a .mlir file of any level, an .onnx file, or a folder "
               "with a config.json>"));
  static cl::opt<std::string> emit(
      "emit", cl::cat(category), cl::value_desc("stage"),
      cl::desc(
          "What to write: graph, fused or tiled (IR), mask-map (which "
          "tiles attention visits; a picture if -o ends with .svg), cost "
          "(operations, bytes, scratch and predicted time of each kernel call, "
          "as formulas of the dims and for --dim values), host "
          "(the host function after memory planning), stmt (loop nests of the "
          "kernels), ptx, opencl or metal (what a device is given of them), "
          "spirv (the same, a file of PREFIX.KERNEL.NUMBER.spv for each "
          "launch), llvm, asm, or obj (object, header, weights and "
          "manifest)"));
  static cl::opt<std::string> output(
      "o", cl::init("-"), cl::cat(category), cl::value_desc("file"),
      cl::desc(
          "File to write; with --emit=obj or spirv the prefix of all files"));
  static cl::list<std::string> targets(
      "target", cl::CommaSeparated, cl::cat(category), cl::value_desc("names"),
      cl::desc("CPUs and devices to compile for; the program picks the best "
               "that its "
               "machine can run, and the weights file suits the first named "
               "(default: x86-64-v3)"));
  static cl::opt<std::string> gpu(
      "gpu", cl::cat(category), cl::value_desc("device"),
      cl::desc("The device that the targets opencl and cuda are "
               "compiled for: generic (default), sm_80 or sm_90; it bounds the "
               "shared memory and threads of a block"));
  static cl::list<std::string> dims(
      "dim", cl::cat(category), cl::value_desc("name=min..max"),
      cl::desc("Range of a dynamic dimension, e.g. batch=1..8, or batch=4; can "
               "be repeated. With --emit=cost batch=4 says for which size to "
               "count, and formulas keep the name"));
  static cl::opt<std::string> tuning(
      "tuning", cl::cat(category), cl::value_desc("file"),
      cl::desc("Tile sizes that attn-run --tune measured, in place of those "
               "that formulas choose"));
  static cl::opt<std::string> machine(
      "machine", cl::cat(category), cl::value_desc("gflops=N,gbytes=N"),
      cl::desc("With --emit=cost, how fast a core is: f32 operations and bytes "
               "read from memory, 1e9 a second each, as attn-run "
               "--measure-machine prints it (default: what --print-target "
               "shows)"));
  static cl::opt<std::string> lowering(
      "lowering", cl::init("halide"), cl::cat(category), cl::value_desc("way"),
      cl::desc("How kernels become code: halide, or loops (through MLIR's "
               "linalg dialect: slow, simple, for checks; kernels with f64 "
               "tensors always go this way)"));
  static cl::opt<std::string> weights(
      "weights", cl::init("file"), cl::cat(category), cl::value_desc("where"),
      cl::desc("Where the weights go: file (beside the object) or embed (into "
               "it)"));
  static cl::opt<bool> explain(
      "explain", cl::cat(category),
      cl::desc("Say on the standard error what was fused, tiled and scheduled "
               "and what was not, and why"));
  static cl::opt<bool> failIfNotFused(
      "fail-if-not-fused", cl::cat(category),
      cl::desc("Make each attention that is not fused an error"));
  static cl::opt<bool> verifyEach(
      "verify-each", cl::cat(category),
      cl::desc("Verify the module after each pass, not only after each stage"));
  attn::registerImportFlags();
  cl::ParseCommandLineOptions(
      argc, argv, "attention compiler: a model in, an object file out\n");

  attn::DriverOptions options;
  std::optional<attn::Emit> stage = attn::parseEmit(emit);
  if (!stage)
    error() << "expected --emit with " << attn::emitNames() << ", got '" << emit
            << "'\n";
  if (lowering != "halide" && lowering != "loops")
    error() << "expected --lowering with halide or loops, got '" << lowering
            << "'\n";
  if (weights != "file" && weights != "embed")
    error() << "expected --weights with file or embed, got '" << weights
            << "'\n";
  if (!stage || (lowering != "halide" && lowering != "loops") ||
      (weights != "file" && weights != "embed"))
    return 1;
  options.input = input;
  options.emit = *stage;
  options.output = output;
  options.targets = targets;
  options.gpu = gpu;
  options.dims = dims;
  options.tuning = tuning;
  options.machine = machine;
  options.loops = lowering == "loops";
  options.embedWeights = weights == "embed";
  options.explain = explain;
  options.failIfNotFused = failIfNotFused;
  options.verifyEach = verifyEach;
  options.import = attn::importOptionsFromFlags();
  return attn::runDriver(options);
}

int main(int argc, char **argv) {
  // A child process that the Halide target has started.
  if (std::optional<int> status = attn::runAsKernelCompiler(argc, argv))
    return *status;
  attn::cleanUpOnInterruption();
  llvm::InitLLVM init(argc, argv);
  if (argc == 2 && StringRef(argv[1]) == "--onnx-operators") {
    llvm::outs() << attn::describeOnnxOperators();
    return 0;
  }
  if (asksFor("print-target", argc, argv))
    return printTargets(argc, argv);
  if (asksFor("emit", argc, argv))
    return compile(argc, argv);

  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  memref::registerResolveRankedShapeTypeResultDimsPass();
  attn::registerPipelines();
  DialectRegistry registry;
  attn::registerDialects(registry);
  return asMainReturnCode(MlirOptMain(
      argc, argv,
      "attn-opt: runs passes on attention models; with --emit=graph, fused, "
      "mask-map, cost, tiled, host, stmt, ptx, opencl, metal, spirv, llvm, asm "
      "or obj "
      "compiles one "
      "(attn-opt "
      "--emit=obj "
      "--help); --print-target describes targets\n",
      registry));
}

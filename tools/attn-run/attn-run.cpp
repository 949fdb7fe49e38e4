//===- attn-run.cpp - runs compiled models and checks them ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   attn-run MODEL --case=case.npz --tolerance=2e-5
//   attn-run MODEL --random --dim batch=2 --dim sequence=13 --reference
//   attn-run MODEL --random --dim batch=1 --dim sequence=128 --time
//   attn-run MODEL --random --dim batch=1 --in-place
//   attn-run --measure-machine
//   attn-run --onnx-test DIR...
//   attn-run --fuzz=KERNELS --seed=1
//
// MODEL is a .mlir or .onnx file or a Hugging Face folder, which is compiled
// for this CPU as attn-opt does it, or an object file that attn-opt wrote.
// Either way an object is loaded and driven through its C API. The exit status
// is 0 if all ran and agreed.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Compare.h"
#include "CompiledModel.h"
#include "GuardedMemory.h"
#include "MeasureMachine.h"
#include "Model.h"
#include "OnnxTest.h"
#include "Options.h"
#include "ReferenceRun.h"
#include "Runner.h"
#include "Tune.h"
#include "attn/Support/CleanUp.h"
#include "attn/Support/Problems.h"
#include "attn/Support/TemporaryFolder.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace attn;
using namespace attn::run;

namespace {
/// One invocation; a method a step.
class Tool {
public:
  explicit Tool(const Options &options) : options(options) {}

  /// All problems, or success. `agree` tells whether outputs agreed.
  Error run();
  bool agree = true;

private:
  Error readModel();
  Error makeCases();
  Expected<std::unique_ptr<CompiledModel>> open(bool guard);
  Error compile();
  Error runCase(CompiledModel *compiled, const Case &testCase);
  Error timeCase(CompiledModel &compiled, const Case &testCase);
  Error profileCase(CompiledModel &compiled, const Case &testCase);
  /// Times and profiles, if that is asked for.
  Error measureCases();

  const Options &options;
  std::unique_ptr<Model> model;
  ScratchFolder folder;
  /// The object that is run.
  std::string objectPath;
  Interface interface;
  std::vector<Case> cases;
};
} // namespace

/// The name of files in a folder that goes away.
static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// Finds out what the model takes: from the object, or from the module.
Error Tool::readModel() {
  if (StringRef(options.model).ends_with(".o")) {
    objectPath = options.model;
    Expected<std::unique_ptr<CompiledModel>> compiled =
        CompiledModel::load(objectPath);
    if (!compiled)
      return compiled.takeError();
    interface = (*compiled)->interface();
    return Error::success();
  }
  model = Model::read(options.model, options.import);
  if (!model)
    return reported();
  if (!options.tuning.empty()) {
    Problems problems;
    auto report = [&](const Twine &problem) { problems.add(problem.str()); };
    if (failed(readTuning(options.tuning, model->module(), report)))
      return problems.empty() ? reported() : problems.take();
  }
  Expected<Interface> found = interfaceOfModule(model->module());
  if (!found)
    return found.takeError();
  interface = std::move(*found);
  return Error::success();
}

Error Tool::makeCases() {
  Problems problems;
  for (StringRef path : options.cases) {
    Expected<Case> testCase = readCase(path, interface);
    if (testCase)
      cases.push_back(std::move(*testCase));
    else
      problems.add(testCase.takeError());
  }
  if (options.random) {
    Expected<SmallVector<int64_t>> dims =
        dimsFromCommandLine(interface, options.dims);
    if (dims)
      cases.push_back(
          randomCase(interface, *dims,
                     inputRanges(model ? model->module() : mlir::ModuleOp(),
                                 interface, *dims),
                     options.seed));
    else
      problems.add(dims.takeError());
  }
  return problems.take();
}

Expected<std::unique_ptr<CompiledModel>> Tool::open(bool guard) {
  Expected<std::unique_ptr<CompiledModel>> compiled =
      CompiledModel::load(objectPath);
  if (!compiled)
    return compiled.takeError();
  CompiledModel::Options settings;
  settings.threads = options.threads;
  if (!model)
    settings.target = options.target;
  settings.guard = guard;
  if (Error error = (*compiled)->open(settings))
    return std::move(error);
  return std::move(*compiled);
}

/// Compares one output, and prints a line about it.
static bool report(const Twine &name, const NpyArray &output,
                   const NpyArray &expected,
                   const std::optional<NpyArray> &compare,
                   std::optional<Tolerance> tolerance) {
  Comparison comparison =
      compareArrays(output, expected, compare,
                    tolerance.value_or(defaultTolerance(output.type)));
  outs() << "  " << describe(name.str(), comparison) << '\n';
  return comparison.wrong == 0;
}

static Error writeCase(const Case &testCase, std::vector<NpyArray> outputs,
                       StringRef path) {
  std::vector<NpyArray> arrays = testCase.inputs;
  for (NpyArray &input : arrays)
    if (!StringRef(input.name).starts_with("in."))
      input.name = "in." + input.name;
  for (NpyArray &output : outputs) {
    output.name = "out." + output.name;
    arrays.push_back(std::move(output));
  }
  return writeNpz(path, arrays);
}

/// Runs guarded, or evaluates, and compares.
Error Tool::runCase(CompiledModel *compiled, const Case &testCase) {
  outs() << testCase.name << ':';
  for (auto [dim, value] : zip(interface.dims, testCase.dims))
    outs() << ' ' << dim.name << '=' << value;
  if (compiled && options.inPlace)
    for (const TensorInfo &output : compiled->interface().outputs)
      if (output.inPlace)
        outs() << ", " << output.name << " in place";
  outs() << '\n';
  std::vector<NpyArray> outputs, reference;
  if (options.reference) {
    Expected<std::vector<NpyArray>> evaluated =
        runReference(*model, interface, testCase);
    if (!evaluated)
      return evaluated.takeError();
    reference = std::move(*evaluated);
  }
  if (compiled) {
    Placement placement;
    placement.inPlace = options.inPlace;
    Expected<std::vector<NpyArray>> ran =
        runGuarded(*compiled, testCase, placement);
    if (!ran)
      return ran.takeError();
    outputs = std::move(*ran);
    for (auto [output, expected] : zip(outputs, reference))
      agree &= report(output.name + " against the reference", output, expected,
                      testCase.compare, options.tolerance);
  } else {
    for (auto [info, array] : zip(interface.outputs, reference))
      outputs.push_back(convertTo(info.type, array));
  }
  for (const auto &[i, expected] : testCase.expected)
    agree &= report(outputs[i].name, outputs[i], expected, testCase.compare,
                    options.tolerance);
  if (options.write.empty())
    return Error::success();
  return writeCase(testCase, std::move(outputs),
                   options.write[&testCase - cases.data()]);
}

Error Tool::timeCase(CompiledModel &compiled, const Case &testCase) {
  Expected<Timing> timing = timeModel(compiled, testCase, options.inPlace);
  if (!timing)
    return timing.takeError();
  Expected<int64_t> workspace = compiled.workspaceBytes(testCase.dims);
  if (!workspace)
    return workspace.takeError();
  StringMap<int64_t> dims;
  for (auto [dim, value] : zip(interface.dims, testCase.dims))
    dims[dim.name] = value;
  outs() << testCase.name << ": median "
         << format("%.4g", timing->medianSeconds * 1e3) << " ms, minimum "
         << format("%.4g", timing->minSeconds * 1e3) << " ms of "
         << timing->runs << " runs, ";
  std::optional<double> flops = model ? model->flops(dims) : std::nullopt;
  if (flops && *flops > 0)
    outs() << format("%.4g", *flops / timing->medianSeconds * 1e-9)
           << " GFLOP/s (" << format("%.4g", *flops * 1e-9)
           << " GFLOP a run), ";
  outs() << compiled.target() << ", " << options.threads
         << (options.threads == 1 ? " thread" : " threads") << '\n'
         << "  memory: workspace " << *workspace
         << " bytes, peak of all allocations " << compiled.memory().peak
         << " bytes\n";
  return Error::success();
}

/// Prints the measured and the predicted time of each kernel.
Error Tool::profileCase(CompiledModel &compiled, const Case &testCase) {
  const TargetInfo &target = *lookupTarget(compiled.target());
  Machine machine = measureMachine(target);
  Expected<std::vector<KernelTime>> times =
      profileModel(compiled, testCase, options.inPlace);
  if (!times)
    return times.takeError();
  StringMap<int64_t> dims;
  for (auto [dim, value] : zip(interface.dims, testCase.dims))
    dims[dim.name] = value;
  std::optional<CostReport> cost = model->cost(dims, target, machine);
  if (!cost)
    return reported();

  double total = 0, allPredicted = 0;
  for (const KernelTime &time : *times)
    total += time.seconds;
  auto row = [&](StringRef name, unsigned calls, double seconds,
                 std::optional<double> predicted) {
    outs() << format("  %-20s %6u %10.4f ms %5.1f %%", name.str().c_str(),
                     calls, seconds * 1e3, 100 * seconds / total);
    if (predicted)
      outs() << format(" %10.4f ms  %+5.1f %%", *predicted * 1e3,
                       100 * (*predicted / seconds - 1));
    outs() << '\n';
  };
  outs()
      << testCase.name << ": profile, " << compiled.target() << ", "
      << options.threads << (options.threads == 1 ? " thread" : " threads")
      << ", predicted for one thread of " << machine.str() << '\n'
      << "  kernel                calls      measured   share     predicted  "
         "difference\n";
  bool isComplete = true;
  for (const KernelTime &time : *times) {
    std::optional<double> predicted;
    for (const CostLine &line : cost->lines)
      if (line.kernel == time.kernel && line.seconds)
        predicted = predicted.value_or(0) + double(line.calls) * *line.seconds;
    isComplete &= predicted.has_value();
    allPredicted += predicted.value_or(0);
    row(time.kernel, time.calls, time.seconds, predicted);
  }
  unsigned calls = 0;
  for (const KernelTime &time : *times)
    calls += time.calls;
  row("total", calls, total,
      isComplete ? std::optional(allPredicted) : std::nullopt);
  return Error::success();
}

/// Makes the object of a model that is not one.
Error Tool::compile() {
  if (std::error_code code = folder.create("attn-run"))
    return createStringError(code,
                             "expected a temporary folder: " + code.message());
  std::string prefix = options.keep.empty()
                           ? inFolder(folder.path(), interface.name)
                           : options.keep;
  StringRef hook =
      options.profile ? StringRef(CompiledModel::kernelHook) : StringRef();
  if (!model->compile(prefix, options.target, options.loops,
                      /*rewrite=*/nullptr, hook))
    return reported();
  objectPath = prefix + ".o";
  return Error::success();
}

Error Tool::run() {
  if (Error error = readModel())
    return error;
  if (Error error = makeCases())
    return error;
  if (options.referenceOnly) {
    for (const Case &testCase : cases)
      if (Error error = runCase(nullptr, testCase))
        return error;
    return Error::success();
  }
  if (model)
    if (Error error = compile())
      return error;
  {
    Expected<std::unique_ptr<CompiledModel>> guarded = open(/*guard=*/true);
    if (!guarded)
      return guarded.takeError();
    if (options.inPlace &&
        none_of((*guarded)->interface().outputs,
                [](const TensorInfo &output) { return output.inPlace; }))
      return createStringError(
          inconvertibleErrorCode(),
          "expected a model with an output that may be given the memory of an "
          "input (\"in_place\" in its manifest) for --in-place, got none");
    for (const Case &testCase : cases)
      if (Error error = runCase(guarded->get(), testCase))
        return error;
  }
  if (Error error = measureCases())
    return error;
  if (!options.tune.empty())
    return tuneModel(*model, cases.front(), options, folder.path());
  return Error::success();
}

Error Tool::measureCases() {
  if (!options.time && !options.profile)
    return Error::success();
  // Without guard pages, which have their own cost; a new model for each case,
  // so that the peak of memory is its own.
  for (const Case &testCase : cases) {
    Expected<std::unique_ptr<CompiledModel>> plain = open(/*guard=*/false);
    if (!plain)
      return plain.takeError();
    if (options.time)
      if (Error error = timeCase(**plain, testCase))
        return error;
    if (options.profile)
      if (Error error = profileCase(**plain, testCase))
        return error;
  }
  return Error::success();
}

/// Prints each problem; the exit status of failure.
static int fail(Error error) {
  forEachProblem(std::move(error), [](StringRef text) {
    if (!text.empty())
      WithColor::error(errs(), "attn-run") << text << '\n';
  });
  return 1;
}

int main(int argc, char **argv) {
  // This program is its own kernel compiler.
  if (std::optional<int> status = runAsKernelCompiler(argc, argv))
    return *status;
  cleanUpOnInterruption();
  InitLLVM init(argc, argv);
  Expected<Options> options = parseCommandLine(argc, argv);
  if (!options)
    return fail(options.takeError());
  if (options->measureMachine) {
    StringRef name =
        options->target.empty() ? hostTarget() : StringRef(options->target);
    outs() << measureMachine(*lookupTarget(name)).str() << '\n';
    return 0;
  }
  installFaultHandler();
  // Any symbol of this program will do.
  std::string executable = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&parseCommandLine));
  if (options->fuzz) {
    if (options->isFuzzKernel)
      return fuzz::runKernel(*options->fuzz, options->fuzzWrite);
    return options->fuzz->selfTest ? runFuzzSelfTest(*options->fuzz, executable)
                                   : runFuzzer(*options->fuzz, executable);
  }
  if (!options->onnxFolder.empty()) {
    Error error =
        runOnnxFolder(options->onnxFolder, options->target, options->loops);
    return error ? fail(std::move(error)) : 0;
  }
  if (!options->onnxTests.empty()) {
    bool failed = false;
    if (Error error = runOnnxTests(options->onnxTests, options->target,
                                   options->loops, executable, failed))
      return fail(std::move(error));
    return failed;
  }
  Tool tool(*options);
  if (Error error = tool.run())
    return fail(std::move(error));
  return tool.agree ? 0 : 1;
}

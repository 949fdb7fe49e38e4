//===- attn-run.cpp - runs compiled models and checks them ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   attn-run MODEL --case=case.npz --tolerance=2e-5
//   attn-run MODEL --random --dim batch=2 --dim sequence=13
//   attn-run MODEL --random --dim batch=1 --dim sequence=128 --time
//
// MODEL is an object file that attn-opt wrote. It is loaded as it is, and
// driven through its C API. The exit status is 0 if all ran and agreed.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Compare.h"
#include "CompiledModel.h"
#include "GuardedMemory.h"
#include "Options.h"
#include "Runner.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace attn;
using namespace attn::run;

/// Prints each problem; the exit status of failure.
static int fail(Error error) {
  forEachProblem(std::move(error), [](StringRef text) {
    WithColor::error(errs(), "attn-run") << text << '\n';
  });
  return 1;
}

/// Compares what ran with what a case expects, and prints a line an output.
static bool report(const Case &testCase, const std::vector<NpyArray> &outputs,
                   double tolerance) {
  bool agree = true;
  for (const auto &[i, expected] : testCase.expected) {
    Comparison comparison =
        compareArrays(outputs[i], expected, testCase.compare, tolerance);
    outs() << "  " << describe(outputs[i].name, comparison) << '\n';
    agree &= comparison.wrong == 0;
  }
  return agree;
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

/// Runs guarded and compares.
static Error runCase(CompiledModel &model, const Case &testCase,
                     const Options &options, bool &agree) {
  outs() << testCase.name << ':';
  for (auto [dim, value] : zip(model.interface().dims, testCase.dims))
    outs() << ' ' << dim.name << '=' << value;
  outs() << '\n';
  Expected<std::vector<NpyArray>> outputs = runGuarded(model, testCase);
  if (!outputs)
    return outputs.takeError();
  agree &= report(testCase, *outputs, options.tolerance);
  return options.write.empty() ? Error::success()
                               : writeCase(testCase, *outputs, options.write);
}

static Error timeCase(CompiledModel &model, const Case &testCase,
                      const Options &options) {
  Expected<Timing> timing = timeModel(model, testCase);
  if (!timing)
    return timing.takeError();
  Expected<int64_t> workspace = model.workspaceBytes(testCase.dims);
  if (!workspace)
    return workspace.takeError();
  outs() << "  time: median " << format("%.4g", timing->medianSeconds * 1e3)
         << " ms, minimum " << format("%.4g", timing->minSeconds * 1e3)
         << " ms of " << timing->runs << " runs, " << model.target() << ", "
         << options.threads << (options.threads == 1 ? " thread" : " threads")
         << '\n'
         << "  memory: workspace " << *workspace << " bytes, peak of all "
         << "allocations " << model.memory().peak << " bytes\n";
  return Error::success();
}

static Expected<std::vector<Case>> makeCases(const Interface &interface,
                                             const Options &options) {
  std::vector<Case> cases;
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
      cases.push_back(randomCase(
          interface, *dims, inputRanges({}, interface, *dims), options.seed));
    else
      problems.add(dims.takeError());
  }
  if (!problems.empty())
    return problems.take();
  return cases;
}

static Expected<std::unique_ptr<CompiledModel>>
openModel(const Options &options, bool guard) {
  Expected<std::unique_ptr<CompiledModel>> model =
      CompiledModel::load(options.model);
  if (!model)
    return model.takeError();
  CompiledModel::Options settings;
  settings.threads = options.threads;
  settings.target = options.target;
  settings.guard = guard;
  if (Error error = (*model)->open(settings))
    return std::move(error);
  return std::move(*model);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Expected<Options> options = parseCommandLine(argc, argv);
  if (!options)
    return fail(options.takeError());
  installFaultHandler();
  Expected<std::unique_ptr<CompiledModel>> model =
      openModel(*options, /*guard=*/true);
  if (!model)
    return fail(model.takeError());
  Expected<std::vector<Case>> cases =
      makeCases((*model)->interface(), *options);
  if (!cases)
    return fail(cases.takeError());
  bool agree = true;
  for (const Case &testCase : *cases)
    if (Error error = runCase(**model, testCase, *options, agree))
      return fail(std::move(error));
  if (options->time) {
    // Without guard pages, which have their own cost.
    Expected<std::unique_ptr<CompiledModel>> plain =
        openModel(*options, /*guard=*/false);
    if (!plain)
      return fail(plain.takeError());
    for (const Case &testCase : *cases)
      if (Error error = timeCase(**plain, testCase, *options))
        return fail(std::move(error));
  }
  return agree ? 0 : 1;
}

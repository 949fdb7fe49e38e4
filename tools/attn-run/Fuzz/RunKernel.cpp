//===- RunKernel.cpp - one random attention -------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a child process of the fuzzer does. It says what it is about to do
// before it does it: if it does not come back, that was it.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Fuzz.h"

#include "CompiledModel.h"
#include "Fuzz/Mutations.h"
#include "Fuzz/Oracle.h"
#include "Fuzz/Reductions.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Support/Problems.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::run::fuzz {

static Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {
/// One kernel and its sets.
class KernelRun {
public:
  KernelRun(const FuzzOptions &options, StringRef prefix)
      : options(options), prefix(prefix), kernel(randomKernel(options.seed)) {}

  /// An error is one of the fuzzer; failures of the kernel are printed.
  Error run();
  bool hasFailed = false;

private:
  Error prepare();
  Error runSet(uint64_t number);
  Expected<Case> inputsOf(const ValueSet &set, Placement &placement);
  Error write(const Case &inputs, ArrayRef<Expectation> expected);
  std::string file(StringRef name) const;
  /// Prints what failed, in one line.
  void fail(StringRef kind, const Twine &what);

  const FuzzOptions &options;
  StringRef prefix;
  Kernel kernel;
  ScratchFolder scratch;
  std::unique_ptr<Oracle> oracle;
  std::unique_ptr<CompiledModel> compiled;
};
} // namespace

std::string KernelRun::file(StringRef name) const {
  SmallString<128> path(scratch.path());
  sys::path::append(path, name);
  return path.str().str();
}

void KernelRun::fail(StringRef kind, const Twine &what) {
  hasFailed = true;
  outs() << "fail " << kind << ' ' << what << '\n';
}

static Error writeText(StringRef path, StringRef text) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  stream << text;
  stream.close();
  if (!code)
    code = stream.error();
  stream.clear_error();
  return code ? failure("cannot write '" + path + "': " + code.message())
              : Error::success();
}

/// Writes the kernel's text and compiles it.
Error KernelRun::prepare() {
  if (Error error = reduce(kernel, options.reductions))
    return error;
  outs() << "kernel " << kernel.describe() << '\n';
  outs().flush();
  if (std::error_code code = scratch.create("attn-run"))
    return failure("expected a temporary folder: " + code.message());
  std::string path =
      prefix.empty() ? file("kernel.mlir") : (prefix + ".mlir").str();
  if (Error error = writeText(path, kernelText(kernel, /*forOracle=*/false)))
    return error;
  if (Error error = writeText(file("oracle.mlir"),
                              kernelText(kernel, /*forOracle=*/true)))
    return error;
  std::unique_ptr<Model> model = Model::read(path, {});
  Mutator mutator(options.mutation);
  auto rewrite = [&](mlir::ModuleOp module, Emit level) {
    mutator.run(module, level);
  };
  if (!model ||
      !model->compile(file("kernel"), options.target, options.loops,
                      options.mutation.empty() ? Model::Rewrite() : rewrite)) {
    fail("compile", "it does not compile");
    return Error::success();
  }
  if (!options.mutation.empty() && !mutator.hasChanged())
    return failure("expected a kernel that the mutation " + options.mutation +
                   " changes");
  Expected<std::unique_ptr<Oracle>> created =
      Oracle::create(kernel, file("oracle.mlir"));
  if (!created)
    return created.takeError();
  oracle = std::move(*created);
  Expected<std::unique_ptr<CompiledModel>> loaded =
      CompiledModel::load(file("kernel.o"));
  if (!loaded)
    return loaded.takeError();
  compiled = std::move(*loaded);
  CompiledModel::Options settings;
  settings.guard = true;
  return compiled->open(settings);
}

Expected<Case> KernelRun::inputsOf(const ValueSet &set, Placement &placement) {
  Case inputs = makeInputs(kernel, set, placement);
  if (set.numbers == Numbers::HiddenNan) {
    Expected<NpyArray> scores = oracle->scores(inputs);
    if (!scores)
      return scores.takeError();
    poisonHidden(kernel, set, *scores, inputs, placement);
  }
  // The dims of the compiled kernel may come in another order.
  inputs.dims.clear();
  for (const DimInfo &dim : compiled->interface().dims)
    inputs.dims.push_back(dim.name == "b"   ? set.batch
                          : dim.name == "n" ? set.queries
                                            : set.keys);
  return inputs;
}

Error KernelRun::write(const Case &inputs, ArrayRef<Expectation> expected) {
  std::vector<NpyArray> arrays = inputs.inputs;
  for (NpyArray &array : arrays)
    array.name = "in." + array.name;
  for (const Expectation &output : expected) {
    arrays.push_back(output.exact);
    arrays.back().name = "out." + arrays.back().name;
  }
  return writeNpz((prefix + ".npz").str(), arrays);
}

Error KernelRun::runSet(uint64_t number) {
  ValueSet set = chooseSet(kernel, number);
  reduce(set, options.reductions);
  outs() << "set " << number << ' ' << set.describe() << '\n';
  outs().flush();
  Placement placement;
  Expected<Case> inputs = inputsOf(set, placement);
  if (!inputs)
    return inputs.takeError();
  Expected<std::vector<Expectation>> expected = oracle->evaluate(*inputs);
  if (!expected)
    return expected.takeError();
  if (!prefix.empty())
    if (Error error = write(*inputs, *expected))
      return error;
  Expected<std::vector<NpyArray>> outputs =
      runGuarded(*compiled, *inputs, placement);
  if (!outputs) {
    fail("run", toString(outputs.takeError()));
    return Error::success();
  }
  for (auto [output, expectation] : zip_equal(*outputs, *expected)) {
    std::optional<Difference> difference = findDifference(expectation, output);
    if (!difference)
      continue;
    fail("wrong", difference->text);
    outs() << "tolerance " << format("%.3g", difference->limit) << ",0\n";
    return Error::success();
  }
  return Error::success();
}

Error KernelRun::run() {
  if (Error error = prepare())
    return error;
  uint64_t first = options.set < 0 ? 0 : options.set;
  uint64_t last = options.set < 0 ? options.sets : first + 1;
  for (uint64_t set = first; set < last && !hasFailed; ++set)
    if (Error error = runSet(set))
      return error;
  return Error::success();
}

Error checkFuzzOptions(const FuzzOptions &options) {
  Problems problems;
  if (!options.target.empty() && !lookupTarget(options.target))
    problems.add("expected --target to name one of " + targetNames() +
                 ", got '" + options.target + "'");
  if (!options.mutation.empty() && !lookupMutation(options.mutation))
    problems.add("expected --fuzz-mutation to name a fault of "
                 "docs/Fuzzing.md, got '" +
                 options.mutation + "'");
  if (sys::fs::access(options.folder, sys::fs::AccessMode::Write))
    problems.add("expected --fuzz-dir to name a folder that can be written "
                 "to, got '" +
                 options.folder + "'");
  Kernel kernel = randomKernel(options.seed);
  if (Error error = reduce(kernel, options.reductions))
    problems.add(std::move(error));
  return problems.take();
}

int runKernel(const FuzzOptions &options, StringRef prefix) {
  KernelRun run(options, prefix);
  if (Error error = run.run()) {
    outs() << "fail fuzzer " << toString(std::move(error)) << '\n';
    return 1;
  }
  return run.hasFailed;
}

} // namespace attn::run::fuzz

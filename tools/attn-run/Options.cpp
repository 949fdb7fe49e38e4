//===- Options.cpp - the command line -------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM's libraries register options of their own, one of them --threads. They
// are dropped first, so the options below are made when the program runs and
// not before.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "attn/Support/Problems.h"
#include "llvm/Support/CommandLine.h"

#include <cmath>

using namespace llvm;

namespace attn::run {

namespace {
struct Flags {
  cl::OptionCategory category{"attn-run options"};
  cl::list<std::string> models{
      cl::Positional, cl::cat(category),
      cl::desc("<model.mlir | model.onnx | folder | model.o>")};
  cl::opt<bool> onnxTest{
      "onnx-test",
      cl::desc("Run ONNX's tests of operators in these folders, each a test or "
               "a folder of tests"),
      cl::cat(category)};
  cl::opt<std::string> onnxFolder{
      "onnx-test-folder", cl::Hidden,
      cl::desc("One of --onnx-test, in this process"), cl::cat(category)};
  cl::list<std::string> cases{
      "case", cl::value_desc("file.npz"),
      cl::desc("Run on the arrays in.NAME of a file and compare with its "
               "arrays out.NAME; may be repeated"),
      cl::cat(category)};
  cl::opt<bool> random{"random",
                       cl::desc("Run on random inputs of sizes --dim"),
                       cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::init(1), cl::desc("Seed of --random (1)"),
                         cl::cat(category)};
  cl::list<std::string> dims{"dim", cl::value_desc("name=size"),
                             cl::desc("Value of a dim for --random; may be "
                                      "repeated"),
                             cl::cat(category)};
  cl::opt<std::string> tolerance{
      "tolerance", cl::value_desc("T or A,R"),
      cl::desc("A and R of |got - expected| <= A + R * |expected|, or one "
               "number for both (2e-5; 2^-10 for f16, 2^-7 for bf16)"),
      cl::cat(category)};
  cl::opt<bool> reference{
      "reference",
      cl::desc("Also compare with the reference evaluator (f64, slow)"),
      cl::cat(category)};
  cl::opt<bool> referenceOnly{
      "reference-only",
      cl::desc("Run the reference evaluator instead of compiled code"),
      cl::cat(category)};
  cl::opt<bool> time{"time", cl::desc("Also measure time, GFLOP/s and memory"),
                     cl::cat(category)};
  cl::opt<int> threads{"threads", cl::init(1),
                       cl::desc("Threads that work on a run (1)"),
                       cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("Target to compile for, of those that this CPU can run (the "
               "best of them)"),
      cl::cat(category)};
  cl::opt<std::string> lowering{
      "lowering", cl::init("halide"), cl::value_desc("way"),
      cl::desc("How kernels become code: halide, or loops (slow, simple, for "
               "checks)"),
      cl::cat(category)};
  cl::list<std::string> write{"write", cl::value_desc("file.npz"),
                              cl::desc("Write the run's inputs and outputs as "
                                       "a case; one for each run"),
                              cl::cat(category)};
  cl::opt<std::string> keep{"keep", cl::value_desc("prefix"),
                            cl::desc("Keep the compiled object, header and "
                                     "weights under this name"),
                            cl::cat(category)};
};
} // namespace

static void checkDims(const cl::list<std::string> &texts, Options &options,
                      Problems &problems) {
  for (StringRef text : texts) {
    auto [name, value] = text.split('=');
    int64_t number;
    if (name.empty() || value.getAsInteger(10, number))
      problems.add("expected --dim name=size, got " + text);
    else if (!options.dims.try_emplace(name, number).second)
      problems.add("expected each --dim once, got " + name + " twice");
  }
}

static void checkTolerance(StringRef text, Options &options,
                           Problems &problems) {
  if (text.empty())
    return;
  auto [absolute, relative] = text.split(',');
  if (!text.contains(','))
    relative = absolute;
  double a = NAN, r = NAN;
  if (absolute.getAsDouble(a) || relative.getAsDouble(r) || !(a >= 0) ||
      !(r >= 0))
    problems.add("expected a --tolerance of one number of at least 0, or of an "
                 "absolute and a relative one (as 2e-6,2e-5), got " +
                 text);
  else
    options.tolerance = Tolerance{a, r};
}

Expected<Options> parseCommandLine(int argc, char **argv) {
  cl::ResetCommandLineParser();
  Flags flags;
  registerImportFlags();
  cl::ParseCommandLineOptions(argc, argv, "runs models and checks them\n");

  Options options;
  Problems problems;
  options.cases.assign(flags.cases.begin(), flags.cases.end());
  options.random = flags.random;
  options.seed = flags.seed;
  checkTolerance(flags.tolerance, options, problems);
  options.referenceOnly = flags.referenceOnly;
  options.reference = flags.reference || flags.referenceOnly;
  options.time = flags.time;
  options.threads = flags.threads;
  options.target = flags.target;
  options.loops = flags.lowering == "loops";
  options.write.assign(flags.write.begin(), flags.write.end());
  options.keep = flags.keep;
  options.import = importOptionsFromFlags();
  if (flags.lowering != "halide" && flags.lowering != "loops")
    problems.add("expected --lowering with halide or loops, got '" +
                 flags.lowering + "'");
  checkDims(flags.dims, options, problems);
  options.onnxFolder = flags.onnxFolder;
  if ((flags.onnxTest || !options.onnxFolder.empty()) && !problems.empty())
    return problems.take();
  if (!options.onnxFolder.empty())
    return options;
  if (flags.onnxTest) {
    options.onnxTests.assign(flags.models.begin(), flags.models.end());
    if (options.onnxTests.empty())
      return createStringError(inconvertibleErrorCode(),
                               "expected folders of tests with --onnx-test, "
                               "got none");
    return options;
  }
  if (flags.models.size() != 1)
    problems.add("expected one model, got " + Twine(flags.models.size()));
  else
    options.model = flags.models.front();

  if (options.cases.empty() && !options.random)
    problems.add("expected --case=file.npz or --random, got neither");
  if (!options.dims.empty() && !options.random)
    problems.add("expected --random with --dim (because a case has its own "
                 "sizes), got --dim alone");
  size_t runs = options.cases.size() + options.random;
  if (!options.write.empty() && options.write.size() != runs)
    problems.add("expected a --write for each run, or none, got " +
                 Twine(options.write.size()) + " for " + Twine(runs) + " runs");
  if (options.threads < 1 || options.threads > 1024)
    problems.add("expected --threads of 1 to 1024, got " +
                 Twine(options.threads));
  if (options.referenceOnly && options.time)
    problems.add("expected --time without --reference-only (because the "
                 "evaluator is not made for speed), got both");
  bool isObject = StringRef(options.model).ends_with(".o");
  if (options.reference && isObject)
    problems.add("expected a model for --reference (because an object has no "
                 "graph to evaluate), got " +
                 options.model);
  if (options.loops && isObject)
    problems.add("expected a model for --lowering=loops (because there is "
                 "nothing to compile), got " +
                 options.model);
  if (!options.keep.empty() && isObject)
    problems.add("expected a model for --keep (because there is nothing to "
                 "compile), got " +
                 options.model);
  if (!problems.empty())
    return problems.take();
  return options;
}

} // namespace attn::run

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

#include "Model.h"
#include "attn/Analysis/TargetInfo.h"
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
  cl::opt<bool> profile{
      "profile",
      cl::desc("Also measure the time of each kernel, and print it beside what "
               "attn-opt --emit=cost predicts for one thread of this machine"),
      cl::cat(category)};
  cl::opt<std::string> tune{
      "tune", cl::value_desc("file.mlir"),
      cl::desc("Also look for the fastest tile sizes of the model's attention "
               "and linear kernels with these inputs (a minute or more), and "
               "write those that beat the chosen ones, for --tuning"),
      cl::cat(category)};
  cl::opt<std::string> tuning{
      "tuning", cl::value_desc("file.mlir"),
      cl::desc("Tile sizes that --tune measured, in place of those that "
               "formulas choose"),
      cl::cat(category)};
  cl::opt<bool> measureMachine{
      "measure-machine",
      cl::desc("Print what one core does at most, as attn-opt --machine=... "
               "takes it: f32 multiplications and additions of the target's "
               "vectors, and bytes read from memory"),
      cl::cat(category)};
  cl::opt<bool> inPlace{
      "in-place",
      cl::desc("Give each output that may have the memory of an input, such as "
               "a cache that grows, that memory"),
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

struct FuzzFlags {
  cl::OptionCategory category{"attn-run --fuzz"};
  cl::opt<uint64_t> fuzz{
      "fuzz", cl::value_desc("kernels"),
      cl::desc("Compile that many random attentions of seeds --seed, --seed + "
               "1, ... and compare them with the reference"),
      cl::cat(category)};
  cl::opt<uint64_t> sets{"fuzz-sets", cl::init(FuzzOptions().sets),
                         cl::desc("Sizes and inputs for each kernel (15)"),
                         cl::cat(category)};
  cl::opt<double> seconds{"fuzz-time", cl::value_desc("seconds"),
                          cl::desc("Start no kernel after this time"),
                          cl::cat(category)};
  cl::opt<std::string> folder{
      "fuzz-dir", cl::init("."),
      cl::desc("Where failures are written (the current folder)"),
      cl::cat(category)};
  cl::opt<int64_t> set{"fuzz-set", cl::init(-1),
                       cl::desc("This one of the sets only"),
                       cl::cat(category)};
  cl::list<std::string> reduce{
      "fuzz-reduce", cl::CommaSeparated, cl::value_desc("words"),
      cl::desc("What to leave out of kernels and sets, as a failure says it"),
      cl::cat(category)};
  cl::opt<std::string> mutation{"fuzz-mutation", cl::Hidden,
                                cl::desc("A fault to build into each kernel"),
                                cl::cat(category)};
  cl::opt<bool> selfTest{"fuzz-self-test", cl::Hidden,
                         cl::desc("Find every such fault"), cl::cat(category)};
  cl::opt<bool> kernel{"fuzz-kernel", cl::Hidden,
                       cl::desc("One of --fuzz, in this process"),
                       cl::cat(category)};
  cl::opt<std::string> write{"fuzz-write", cl::Hidden, cl::value_desc("prefix"),
                             cl::desc("Where --fuzz-kernel writes its files"),
                             cl::cat(category)};
};
} // namespace

/// Whether the command line is one of the fuzzer.
static bool readFuzzFlags(const FuzzFlags &flags, const Flags &others,
                          Options &options, Problems &problems) {
  bool isFuzz =
      flags.fuzz.getNumOccurrences() || flags.kernel || flags.selfTest;
  bool hasOther = !flags.mutation.empty() || flags.set.getNumOccurrences() ||
                  flags.sets.getNumOccurrences() || !flags.reduce.empty() ||
                  flags.seconds.getNumOccurrences() ||
                  flags.folder.getNumOccurrences();
  if (!isFuzz && hasOther)
    problems.add("expected --fuzz=KERNELS with --fuzz-sets, --fuzz-time, "
                 "--fuzz-dir, --fuzz-set and --fuzz-reduce, got none");
  if (!isFuzz)
    return false;
  if (!others.models.empty())
    problems.add("expected no model with --fuzz (because it makes its own), "
                 "got " +
                 others.models.front());
  if (flags.seconds < 0)
    problems.add("expected a --fuzz-time of at least 0, got " +
                 std::to_string(flags.seconds));
  FuzzOptions fuzz;
  fuzz.kernels = flags.fuzz;
  fuzz.seed = others.seed;
  fuzz.sets = flags.sets;
  fuzz.seconds = flags.seconds;
  fuzz.folder = flags.folder;
  fuzz.target = others.target;
  fuzz.loops = others.lowering == "loops";
  fuzz.reductions.assign(flags.reduce.begin(), flags.reduce.end());
  fuzz.set = flags.set;
  fuzz.mutation = flags.mutation;
  fuzz.selfTest = flags.selfTest;
  if (Error error = fuzz::checkFuzzOptions(fuzz))
    problems.add(std::move(error));
  options.fuzz = std::move(fuzz);
  options.isFuzzKernel = flags.kernel;
  options.fuzzWrite = flags.write;
  return true;
}

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

/// With --measure-machine a target is asked for by name alone.
static void checkTarget(StringRef name, Problems &problems) {
  if (name.empty())
    return;
  const TargetInfo *target = lookupTarget(name);
  if (!target)
    problems.add("expected --target to name one of " + targetNames() +
                 ", got '" + name + "'");
  else if (!runsHere(*target))
    problems.add("expected a --target that this CPU can run (it runs " +
                 hostTarget() + " at most), got " + name);
}

/// What is measured kernel by kernel is what a core does.
static void checkMeasured(const Options &options, Problems &problems) {
  const TargetInfo *target = lookupTarget(options.target);
  StringRef what = options.measureMachine  ? "--measure-machine"
                   : options.profile       ? "--profile"
                   : !options.tune.empty() ? "--tune"
                                           : "";
  if (target && target->isGpu() && !what.empty())
    problems.add("expected a CPU as --target with " + what +
                 " (because kernels of a device end after the call that starts "
                 "them), got " +
                 options.target);
}

Expected<Options> parseCommandLine(int argc, char **argv) {
  cl::ResetCommandLineParser();
  Flags flags;
  FuzzFlags fuzzFlags;
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
  options.profile = flags.profile;
  options.tune = flags.tune;
  options.tuning = flags.tuning;
  options.inPlace = flags.inPlace;
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
  if (readFuzzFlags(fuzzFlags, flags, options, problems)) {
    if (!problems.empty())
      return problems.take();
    return options;
  }
  options.measureMachine = flags.measureMachine;
  if (options.measureMachine) {
    if (!flags.models.empty())
      problems.add("expected no model with --measure-machine (because it "
                   "measures the CPU), got " +
                   flags.models.front());
    checkTarget(options.target, problems);
    checkMeasured(options, problems);
    if (!problems.empty())
      return problems.take();
    return options;
  }
  checkMeasured(options, problems);
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
  if (options.referenceOnly && options.inPlace)
    problems.add("expected --in-place without --reference-only (because the "
                 "evaluator has memory of its own), got both");
  bool isObject = StringRef(options.model).ends_with(".o");
  if (options.reference && isObject)
    problems.add("expected a model for --reference (because an object has no "
                 "graph to evaluate), got " +
                 options.model);
  if (options.profile && isObject)
    problems.add("expected a model for --profile (because it is compiled with "
                 "calls that take the time), got " +
                 options.model);
  if (options.profile && options.loops)
    problems.add("expected --profile without --lowering=loops (because such "
                 "kernels are parts of one function), got both");
  if (options.profile && options.referenceOnly)
    problems.add("expected --profile without --reference-only (because the "
                 "evaluator is not made for speed), got both");
  for (const auto &[name, file] :
       {std::pair("--tune", options.tune), {"--tuning", options.tuning}}) {
    if (file.empty())
      continue;
    if (isObject)
      problems.add(Twine("expected a model for ") + name +
                   " (because an object's tile sizes are chosen), got " +
                   options.model);
    if (options.loops)
      problems.add(Twine("expected ") + name +
                   " without --lowering=loops (because plain loops have no "
                   "tile sizes to choose), got both");
    if (options.referenceOnly)
      problems.add(Twine("expected ") + name +
                   " without --reference-only (because nothing is compiled), "
                   "got both");
  }
  if (!options.tune.empty() && !options.tuning.empty())
    problems.add("expected --tune or --tuning (because a search starts from "
                 "what the formulas choose), got both");
  if (!options.tune.empty() && runs > 1)
    problems.add("expected one run for --tune (because a kernel's tile sizes "
                 "are the same in all), got " +
                 Twine(runs));
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

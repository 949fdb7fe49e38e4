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

using namespace llvm;

namespace attn::run {

namespace {
struct Flags {
  cl::OptionCategory category{"attn-run options"};
  cl::opt<std::string> model{cl::Positional, cl::Required,
                             cl::desc("<model.mlir | folder | model.o>"),
                             cl::cat(category)};
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
  cl::opt<double> tolerance{
      "tolerance", cl::init(2e-5),
      cl::desc("T of |got - expected| <= T + T * |expected| (2e-5)"),
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
  cl::opt<std::string> write{"write", cl::value_desc("file.npz"),
                             cl::desc("Write the run's inputs and outputs as "
                                      "a case"),
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

Expected<Options> parseCommandLine(int argc, char **argv) {
  cl::ResetCommandLineParser();
  Flags flags;
  registerHuggingFaceFlags();
  cl::ParseCommandLineOptions(argc, argv, "runs models and checks them\n");

  Options options;
  Problems problems;
  options.model = flags.model;
  options.cases.assign(flags.cases.begin(), flags.cases.end());
  options.random = flags.random;
  options.seed = flags.seed;
  options.tolerance = flags.tolerance;
  options.referenceOnly = flags.referenceOnly;
  options.reference = flags.reference || flags.referenceOnly;
  options.time = flags.time;
  options.threads = flags.threads;
  options.target = flags.target;
  options.loops = flags.lowering == "loops";
  options.write = flags.write;
  options.keep = flags.keep;
  options.import = huggingFaceOptionsFromFlags();
  checkDims(flags.dims, options, problems);

  if (flags.lowering != "halide" && flags.lowering != "loops")
    problems.add("expected --lowering with halide or loops, got '" +
                 flags.lowering + "'");
  if (options.cases.empty() && !options.random)
    problems.add("expected --case=file.npz or --random, got neither");
  if (!options.dims.empty() && !options.random)
    problems.add("expected --random with --dim (because a case has its own "
                 "sizes), got --dim alone");
  if (!options.write.empty() && options.cases.size() + options.random != 1)
    problems.add("expected one run with --write (because it writes one case), "
                 "got " +
                 Twine(options.cases.size() + options.random));
  if (!(options.tolerance >= 0))
    problems.add("expected a --tolerance of at least 0, got " +
                 std::to_string(options.tolerance));
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

//===- Tune.cpp - the fastest tiles, by measurement -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two steps, register tiles and then cache tiles, each from the best so far: a
// few dozen compilations instead of the hundreds of a product. In a round every
// kernel of the model tries its next candidate, so that rounds do not multiply
// with kernels. What won meets the model's choice again at the end, by turns,
// and must still win: a moment in which the machine was quiet proves nothing.
//
//===----------------------------------------------------------------------===//

#include "Tune.h"

#include "CompiledModel.h"
#include "Runner.h"
#include "attn/Analysis/AttentionSizes.h"
#include "attn/Analysis/Tuning.h"
#include "attn/Support/OutputFiles.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using mlir::ArrayAttr;
using mlir::Attribute;

namespace attn::run {

/// How long each candidate is measured.
static constexpr double candidateSeconds = 0.3;
/// How often the winner meets the model's choice, and what it must save.
static constexpr int duels = 3;
static constexpr double leastGain = 0.02;

namespace {
/// Kernels that share an entry of the tuning file.
struct Subject {
  std::string name;
  /// Entries: what the model chooses, and the fastest so far.
  Attribute model, best;
  AttentionShape shape;
  SmallVector<std::string> kernels;
  double modelSeconds = 0, bestSeconds = 0;
};

/// What is timed of a round: seconds of each subject.
using Times = SmallVector<double>;

class Tuner {
public:
  Tuner(Model &model, const Case &testCase, const Options &options,
        StringRef folder);

  Error run();

private:
  void findSubjects();
  std::vector<Attribute> candidates(const Subject &subject, bool inCaches);
  /// Compiles with these entries, one a subject, and measures.
  Expected<Times> measure(ArrayRef<Attribute> entries);
  Error search(bool inCaches);
  Error decide();
  void print() const;
  Error write() const;
  void showProgress(const Twine &text) const;

  Model &model;
  const Case &testCase;
  const Options &options;
  const TargetInfo &target;
  std::string prefix;
  std::vector<Subject> subjects;
  unsigned round = 0;
};
} // namespace

Tuner::Tuner(Model &model, const Case &testCase, const Options &options,
             StringRef folder)
    : model(model), testCase(testCase), options(options),
      target(*lookupTarget(
          options.target.empty() ? hostTarget() : StringRef(options.target))) {
  SmallString<128> path(folder);
  sys::path::append(path, "tune");
  prefix = path.str().str();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static Attribute entryOf(mlir::MLIRContext *context, StringRef target,
                         const AttentionShape &shape,
                         const AttentionTiles &tiles) {
  return TunedAttentionAttr::get(context, target, shape.headSize,
                                 shape.valueSize, shape.isMasked, tiles.queries,
                                 tiles.keys, tiles.keyUnroll);
}

static Attribute entryOf(TunedLinearAttr like, const LinearBlocks &blocks) {
  return TunedLinearAttr::get(like.getContext(), like.getTarget(),
                              like.getInputs(), like.getOutputs(), blocks.mr,
                              blocks.nr, blocks.kc, blocks.mb);
}

/// The numbers of an entry that were chosen.
static std::string choiceOf(Attribute entry) {
  std::string text;
  raw_string_ostream stream(text);
  if (auto tuned = dyn_cast<TunedAttentionAttr>(entry))
    stream << tuned.getQueries() << " queries, " << tuned.getKeys()
           << " keys, unroll " << tuned.getKeyUnroll();
  else if (auto tuned = dyn_cast<TunedLinearAttr>(entry))
    stream << tuned.getMr() << "x" << tuned.getNr() << ", kc " << tuned.getKc()
           << ", mb " << tuned.getMb();
  return text;
}

void Tuner::findSubjects() {
  auto add = [&](const Twine &name, Attribute entry,
                 const AttentionShape &shape, StringRef kernel) {
    auto known = find_if(subjects, [&](const Subject &subject) {
      return subject.name == name.str();
    });
    if (known == subjects.end()) {
      Subject subject;
      subject.name = name.str();
      subject.model = subject.best = entry;
      subject.shape = shape;
      known = subjects.insert(known, subject);
    }
    known->kernels.push_back(kernel.str());
  };
  model.atFusedLevel([&](mlir::ModuleOp module) {
    mlir::MLIRContext *context = module.getContext();
    module.walk([&](mlir::Operation *op) {
      auto kernel = op->getParentOfType<KernelOp>();
      if (!kernel || kernel.hasDoubles())
        return;
      if (auto attention = dyn_cast<AttentionOp>(op)) {
        AttentionShape shape = getAttentionShape(attention);
        AttentionTiles tiles = chooseAttentionTiles(target, shape);
        if (!tiles.isDecode && !tiles.isMatrix)
          add("attention of " + Twine(shape.headSize) + " and " +
                  Twine(shape.valueSize) + " channels" +
                  (shape.isMasked ? ", masked" : ""),
              entryOf(context, target.name, shape, tiles), shape,
              kernel.getSymName());
      } else if (auto linear = dyn_cast<FusedLinearOp>(op)) {
        int64_t inputs = linear.getInput().getType().getDimSize(1);
        int64_t outputs = linear.getResult().getType().getDimSize(1);
        LinearBlocks blocks = chooseLinearBlocks(target, inputs, outputs);
        if (!getMatrixBlocks(linear, target) &&
            linear.getWeight().getType().getRank() == 2)
          add("linear " + Twine(inputs) + " to " + Twine(outputs),
              TunedLinearAttr::get(context, target.name, inputs, outputs,
                                   blocks.mr, blocks.nr, blocks.kc, blocks.mb),
              {}, kernel.getSymName());
      }
    });
  });
}

std::vector<Attribute> Tuner::candidates(const Subject &subject,
                                         bool inCaches) {
  std::vector<Attribute> entries;
  if (auto tuned = dyn_cast<TunedAttentionAttr>(subject.best)) {
    AttentionTiles tiles = chooseAttentionTiles(target, subject.shape);
    tiles.queries = tuned.getQueries();
    tiles.keys = tuned.getKeys();
    tiles.keyUnroll = tuned.getKeyUnroll();
    for (const AttentionTiles &next :
         inCaches ? keyTilesToTry(target, subject.shape, tiles)
                  : registerTilesToTry(target, subject.shape, tiles))
      entries.push_back(
          entryOf(tuned.getContext(), target.name, subject.shape, next));
    return entries;
  }
  auto tuned = cast<TunedLinearAttr>(subject.best);
  LinearBlocks blocks = {tuned.getMr(), tuned.getNr(), tuned.getKc(),
                         tuned.getMb()};
  for (const LinearBlocks &next :
       inCaches ? cacheBlocksToTry(target, tuned.getInputs(), blocks)
                : registerTilesToTry(target, blocks))
    entries.push_back(entryOf(tuned, next));
  return entries;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

void Tuner::showProgress(const Twine &text) const {
  if (sys::Process::StandardErrIsDisplayed())
    errs() << "\r" << text << "\x1b[K";
}

Expected<Times> Tuner::measure(ArrayRef<Attribute> entries) {
  ++round;
  showProgress("tuning: round " + Twine(round));
  model.module()->setAttr("attn.tuning",
                          ArrayAttr::get(model.module().getContext(), entries));
  bool isCompiled =
      model.compile(prefix, target.name, /*loops=*/false,
                    /*rewrite=*/nullptr, CompiledModel::kernelHook);
  model.module()->removeAttr("attn.tuning");
  if (!isCompiled)
    return reported();
  Expected<std::unique_ptr<CompiledModel>> compiled =
      CompiledModel::load(prefix + ".o");
  if (!compiled)
    return compiled.takeError();
  CompiledModel::Options settings;
  settings.threads = options.threads;
  if (Error error = (*compiled)->open(settings))
    return std::move(error);
  Expected<std::vector<KernelTime>> kernels =
      profileModel(**compiled, testCase, options.inPlace, candidateSeconds);
  if (!kernels)
    return kernels.takeError();
  Times times(subjects.size(), 0.0);
  for (auto [subject, seconds] : zip(subjects, times))
    for (const KernelTime &time : *kernels)
      if (is_contained(subject.kernels, time.kernel))
        seconds += time.seconds;
  return times;
}

Error Tuner::search(bool inCaches) {
  std::vector<std::vector<Attribute>> lists;
  size_t rounds = 0;
  for (const Subject &subject : subjects) {
    lists.push_back(candidates(subject, inCaches));
    rounds = std::max(rounds, lists.back().size());
  }
  // The first of each list is the best so far: measured anew, beside what it
  // is compared with.
  for (size_t i = 0; i < rounds; ++i) {
    SmallVector<Attribute> entries;
    for (auto [subject, list] : zip(subjects, lists))
      entries.push_back(i < list.size() ? list[i] : subject.best);
    Expected<Times> times = measure(entries);
    if (!times)
      return times.takeError();
    for (auto [subject, list, seconds] : zip(subjects, lists, *times)) {
      if (i >= list.size())
        continue;
      if (i == 0 || seconds < subject.bestSeconds) {
        subject.best = list[i];
        subject.bestSeconds = seconds;
      }
    }
  }
  return Error::success();
}

Error Tuner::decide() {
  SmallVector<Attribute> chosen, found;
  for (const Subject &subject : subjects) {
    chosen.push_back(subject.model);
    found.push_back(subject.best);
  }
  for (int duel = 0; duel < duels; ++duel)
    for (bool isModel : {true, false}) {
      Expected<Times> times = measure(isModel ? chosen : found);
      if (!times)
        return times.takeError();
      for (auto [subject, time] : zip(subjects, *times)) {
        double &seconds = isModel ? subject.modelSeconds : subject.bestSeconds;
        seconds = duel == 0 ? time : std::min(seconds, time);
      }
    }
  for (Subject &subject : subjects)
    if (subject.best == subject.model ||
        subject.bestSeconds > (1 - leastGain) * subject.modelSeconds) {
      subject.best = subject.model;
      subject.bestSeconds = subject.modelSeconds;
    }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Tuner::print() const {
  outs() << testCase.name << ": tuned for " << target.name << ", "
         << options.threads << (options.threads == 1 ? " thread" : " threads")
         << '\n';
  for (const Subject &subject : subjects) {
    outs() << "  " << subject.name << ": the model's "
           << choiceOf(subject.model)
           << format(", %.4g ms", subject.modelSeconds * 1e3);
    if (subject.best == subject.model)
      outs() << ", stays\n";
    else
      outs() << "; tuned " << choiceOf(subject.best)
             << format(", %.4g ms, %+.1f %%\n", subject.bestSeconds * 1e3,
                       100 * (subject.bestSeconds / subject.modelSeconds - 1));
  }
}

/// Only what differs from the model's choice: other programs and later versions
/// of the model then choose what they know better.
Error Tuner::write() const {
  OutputFiles files;
  Expected<raw_fd_ostream *> file = files.open(options.tune);
  if (!file)
    return file.takeError();
  raw_ostream &stream = **file;
  stream << "// Tile sizes that attn-run --tune measured on "
         << sys::getHostCPUName() << " with " << options.threads
         << (options.threads == 1 ? " thread" : " threads")
         << ". attn-opt --tuning=... takes this file.\n"
            "module attributes {attn.tuning = [";
  bool isFirst = true;
  for (const Subject &subject : subjects) {
    if (subject.best == subject.model)
      continue;
    stream << (isFirst ? "" : ",") << "\n  // "
           << format("%.4g ms instead of %.4g ms", subject.bestSeconds * 1e3,
                     subject.modelSeconds * 1e3)
           << "\n  " << subject.best;
    isFirst = false;
  }
  stream << "\n]} {\n}\n";
  return files.commit();
}

Error Tuner::run() {
  findSubjects();
  if (subjects.empty())
    return createStringError(
        inconvertibleErrorCode(),
        "expected a model with kernels that have tile sizes to choose for "
        "--tune (attention of more than 8 queries, linear layers, not on a "
        "matrix unit), got none");
  for (bool inCaches : {false, true})
    if (Error error = search(inCaches))
      return error;
  if (Error error = decide())
    return error;
  showProgress("");
  print();
  return write();
}

Error tuneModel(Model &model, const Case &testCase, const Options &options,
                StringRef folder) {
  return Tuner(model, testCase, options, folder).run();
}

} // namespace attn::run

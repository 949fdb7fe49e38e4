//===- Fuzz.cpp - random attentions, against the definition ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keeps two child processes busy. Kernels are numbered by their seeds, and what
// is found does not depend on which process was faster.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Fuzz.h"

#include "Fuzz/Mutations.h"
#include "Fuzz/Shrink.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace attn::run {

using namespace fuzz;

static constexpr size_t workerCount = 2;

static volatile std::sig_atomic_t isInterrupted = 0;
static void onInterrupt(int) { isInterrupted = 1; }
static bool wasInterrupted() { return isInterrupted != 0; }

namespace {
/// Two workers and what they are about.
class Pool {
public:
  /// `next` starts another kernel on a worker, or says that there is none;
  /// `done` hears what became of one. Returns the exit status of an
  /// interruption, else 0.
  int run(StringRef executable, function_ref<bool(Worker &)> next,
          function_ref<void(Worker &)> done);

  /// For a line about the state, on a terminal.
  std::function<std::string()> progress;

private:
  void showProgress();
  void clearProgress();

  bool isTerminal = sys::Process::StandardErrIsDisplayed();
  Clock::time_point shown;
};
} // namespace

void Pool::showProgress() {
  if (!isTerminal || Clock::now() - shown < std::chrono::milliseconds(200))
    return;
  shown = Clock::now();
  errs() << '\r' << progress() << "\x1b[K";
}

void Pool::clearProgress() {
  if (isTerminal)
    errs() << "\r\x1b[K";
}

int Pool::run(StringRef executable, function_ref<bool(Worker &)> next,
              function_ref<void(Worker &)> done) {
  ScratchFolder scratch;
  if (std::error_code code = scratch.create("attn-run")) {
    WithColor::error(errs(), "attn-run")
        << "expected a temporary folder: " << code.message() << '\n';
    return 1;
  }
  std::signal(SIGINT, onInterrupt);
  std::vector<Worker> workers;
  for (size_t i = 0; i < workerCount; ++i) {
    SmallString<128> log(scratch.path());
    sys::path::append(log, std::to_string(i) + ".log");
    workers.emplace_back(executable, log.str().str());
  }
  SmallVector<Worker *> idle, busy;
  for (Worker &worker : workers)
    idle.push_back(&worker);
  for (;;) {
    while (!idle.empty() && !wasInterrupted() && next(*idle.back()))
      busy.push_back(idle.pop_back_val());
    if (busy.empty())
      break;
    if (wasInterrupted()) {
      for (Worker *worker : busy)
        worker->terminate();
      for (Worker *worker : busy)
        while (!worker->poll())
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      break;
    }
    Worker *ended = nullptr;
    for (Worker *worker : busy)
      if (!ended && worker->poll())
        ended = worker;
    if (ended) {
      llvm::erase(busy, ended);
      clearProgress();
      done(*ended);
      idle.push_back(ended);
    } else {
      showProgress();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  clearProgress();
  return wasInterrupted() ? 130 : 0;
}

//===----------------------------------------------------------------------===//
// Fuzzing
//===----------------------------------------------------------------------===//

int runFuzzer(const FuzzOptions &options, StringRef executable) {
  Clock::time_point begin = Clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  uint64_t started = 0, kernels = 0, sets = 0, failures = 0;
  Pool pool;
  pool.progress = [&] {
    return "fuzz: " + std::to_string(kernels) + " of " +
           std::to_string(options.kernels) + " kernels, " +
           std::to_string(sets) + " sets, " + std::to_string(failures) +
           " failures, " + std::to_string(static_cast<int64_t>(seconds())) +
           " s";
  };
  auto optionsOf = [&](uint64_t seed) {
    FuzzOptions kernel = options;
    kernel.seed = seed;
    return kernel;
  };
  int status = pool.run(
      executable,
      [&](Worker &worker) {
        if (started == options.kernels ||
            (options.seconds > 0 && seconds() > options.seconds))
          return false;
        worker.start(optionsOf(options.seed + started++));
        return true;
      },
      [&](Worker &worker) {
        Outcome outcome = worker.outcome();
        ++kernels;
        sets += outcome.sets;
        if (outcome.failure == Failure::None)
          return;
        ++failures;
        FuzzOptions smallest = optionsOf(worker.seed);
        if (outcome.failure != Failure::Fuzzer)
          shrink(smallest, outcome, worker, wasInterrupted);
        report(smallest, outcome, worker, wasInterrupted);
      });
  outs() << kernels << " kernels, " << sets << " sets, " << failures
         << " failures\n";
  return status ? status : failures != 0;
}

//===----------------------------------------------------------------------===//
// The test of the fuzzer
//===----------------------------------------------------------------------===//

/// The first seed from `seed` on whose kernel can show the fault.
static uint64_t seedFor(const Mutation &mutation, uint64_t seed) {
  while (!mutation.fits(randomKernel(seed)))
    ++seed;
  return seed;
}

int runFuzzSelfTest(const FuzzOptions &options, StringRef executable) {
  // A kernel may be one that happens not to show a fault.
  static constexpr unsigned tries = 3;
  struct Try {
    const Mutation *mutation;
    unsigned number;
    uint64_t seed;
  };
  std::vector<Try> waiting;
  DenseMap<const Worker *, Try> running;
  for (const Mutation &mutation : reverse(mutations()))
    waiting.push_back({&mutation, 1, seedFor(mutation, options.seed)});
  unsigned found = 0;
  Pool pool;
  pool.progress = [&] { return std::to_string(found) + " faults found"; };
  int status = pool.run(
      executable,
      [&](Worker &worker) {
        if (waiting.empty())
          return false;
        Try next = waiting.back();
        waiting.pop_back();
        running.insert_or_assign(&worker, next);
        FuzzOptions kernel = options;
        kernel.seed = next.seed;
        kernel.mutation = next.mutation->name.str();
        worker.start(kernel);
        return true;
      },
      [&](Worker &worker) {
        Try &current = running.find(&worker)->second;
        Outcome outcome = worker.outcome();
        if (outcome.failure == Failure::Wrong ||
            outcome.failure == Failure::Access) {
          ++found;
          outs() << current.mutation->name << ": found with seed "
                 << current.seed << " in set " << outcome.lastSet << ": "
                 << outcome.what << '\n';
        } else if (current.number < tries) {
          waiting.push_back({current.mutation, current.number + 1,
                             seedFor(*current.mutation, current.seed + 1)});
        } else {
          outs() << current.mutation->name << ": not found ("
                 << current.mutation->fault << ")"
                 << (outcome.what.empty() ? "" : ": ") << outcome.what << '\n';
          for (const std::string &note : outcome.notes)
            outs() << "  " << note << '\n';
        }
        outs().flush();
      });
  outs() << found << " of " << mutations().size() << " faults found\n";
  return status ? status : found != mutations().size();
}

} // namespace attn::run

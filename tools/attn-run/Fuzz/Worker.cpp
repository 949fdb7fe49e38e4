//===- Worker.cpp - what became of a kernel -------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Worker.h.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <thread>

using namespace llvm;

namespace attn::run::fuzz {

/// A kernel that takes longer is stopped.
static constexpr unsigned timeLimitSeconds = 240;

std::vector<std::string> commandOf(const FuzzOptions &options) {
  std::vector<std::string> words = {"--seed=" + std::to_string(options.seed)};
  if (options.set >= 0)
    words.push_back("--fuzz-set=" + std::to_string(options.set));
  else if (options.sets != FuzzOptions().sets)
    words.push_back("--fuzz-sets=" + std::to_string(options.sets));
  if (!options.reductions.empty())
    words.push_back("--fuzz-reduce=" + join(options.reductions, ","));
  if (!options.target.empty())
    words.push_back("--target=" + options.target);
  if (options.loops)
    words.push_back("--lowering=loops");
  if (!options.mutation.empty())
    words.push_back("--fuzz-mutation=" + options.mutation);
  return words;
}

void Worker::start(const FuzzOptions &options, StringRef prefix) {
  seed = options.seed;
  std::vector<std::string> args = {executable.str(), "--fuzz-kernel"};
  append_range(args, commandOf(options));
  if (!prefix.empty())
    args.push_back("--fuzz-write=" + prefix.str());
  process = ChildProcess();
  // Ctrl-C on a terminal goes to all processes. The fuzzer stops its children
  // itself, and does not take that for a failure of theirs.
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  process.start(args, log, timeLimitSeconds);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Outcome Worker::outcome() const {
  Outcome outcome;
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
          MemoryBuffer::getFile(log)) {
    SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines) {
      if (line.consume_front("kernel ")) {
        outcome.kernel = line.str();
      } else if (line.consume_front("set ")) {
        auto [number, text] = line.split(' ');
        number.getAsInteger(10, outcome.lastSet);
        outcome.set = text.str();
        ++outcome.sets;
      } else if (line.consume_front("tolerance ")) {
        outcome.tolerance = line.str();
      } else if (line.consume_front("fail ")) {
        auto [kind, text] = line.split(' ');
        outcome.failure = StringSwitch<Failure>(kind)
                              .Case("wrong", Failure::Wrong)
                              .Case("run", Failure::Access)
                              .Case("compile", Failure::Compile)
                              .Default(Failure::Fuzzer);
        outcome.what = text.str();
      } else if (outcome.notes.size() < 8) {
        outcome.notes.push_back(line.str());
      }
    }
  }
  if (process.hasPassed() || outcome.failure != Failure::None)
    return outcome;
  // It did not come to saying what was wrong.
  auto isFault = [](StringRef line) {
    return line.contains("expected accesses inside");
  };
  auto fault = find_if(outcome.notes, isFault);
  if (StringRef(process.problem()).starts_with("stopped")) {
    outcome.failure = Failure::Late;
    outcome.what = process.problem();
  } else if (fault != outcome.notes.end()) {
    outcome.failure = Failure::Access;
    outcome.what = StringRef(*fault).split("error: ").second.str();
    outcome.notes.erase(fault);
  } else {
    outcome.failure = Failure::Crash;
    outcome.what =
        "its process ended: " +
        (process.problem().empty() ? "no result" : process.problem());
  }
  return outcome;
}

Outcome Worker::run(const FuzzOptions &options, StringRef prefix,
                    function_ref<bool()> isStopped) {
  start(options, prefix);
  bool isAsked = false;
  while (!poll()) {
    if (!isAsked && isStopped()) {
      terminate();
      isAsked = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return outcome();
}

} // namespace attn::run::fuzz

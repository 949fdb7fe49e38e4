//===- OnnxTest.cpp - ONNX's own tests of operators -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The program runs itself, once a test, as many at a time as there are cores.
// What a test prints goes to a file and is read when the test has ended.
//
//===----------------------------------------------------------------------===//

#include "OnnxTest.h"

#include "ChildProcess.h"
#include "attn/Support/Problems.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <map>
#include <thread>

using namespace llvm;

namespace attn::run {

/// A test that takes longer is stopped.
static constexpr unsigned timeLimitSeconds = 300;

namespace {
/// One test and the process that runs it.
struct Test {
  std::string folder, log;
  ChildProcess process;
  bool passed = false, hasFixed = false;
  std::string family = "none";
  std::vector<std::string> problems;
};

/// Passed and failed tests of an operator.
struct Count {
  unsigned passed = 0, failed = 0;
};

class Suite {
public:
  Suite(StringRef target, bool loops, StringRef executable)
      : target(target), executable(executable), loops(loops) {}

  Error find(ArrayRef<std::string> folders);
  Error run();
  /// Whether a test failed.
  bool report();

private:
  void start(Test &test);
  /// True when it has ended.
  bool poll(Test &test);
  void readLog(Test &test);

  StringRef target, executable;
  bool loops;
  /// Of the tests too: what one leaves goes with this.
  ScratchFolder scratch;
  std::vector<Test> tests;
};
} // namespace

static std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static bool isTest(StringRef folder) {
  return sys::fs::exists(inFolder(folder, "model.onnx"));
}

Error Suite::find(ArrayRef<std::string> folders) {
  Problems problems;
  for (const std::string &folder : folders) {
    size_t before = tests.size();
    std::vector<std::string> found;
    if (isTest(folder))
      found.push_back(folder);
    std::error_code code;
    for (sys::fs::directory_iterator entry(folder, code), end;
         !isTest(folder) && !code && entry != end; entry.increment(code))
      if (isTest(entry->path()))
        found.push_back(entry->path());
    sort(found);
    for (std::string &path : found) {
      tests.emplace_back();
      tests.back().folder = std::move(path);
    }
    if (tests.size() == before)
      problems.add("expected a folder with a model.onnx, or a folder of such "
                   "folders, got '" +
                   folder + "'");
  }
  return problems.take();
}

void Suite::start(Test &test) {
  std::vector<std::string> args = {executable.str(), "--onnx-test-folder",
                                   test.folder};
  if (!target.empty())
    args.push_back("--target=" + target.str());
  if (loops)
    args.push_back("--lowering=loops");
  test.process.start(args, test.log, timeLimitSeconds);
}

/// What the test said: `family` and `fixed` lines, and problems.
void Suite::readLog(Test &test) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(test.log);
  if (!buffer)
    return;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line.consume_front("family "))
      test.family = line.str();
    else if (line.consume_front("fixed "))
      test.hasFixed = true;
    else
      test.problems.push_back(line.str());
  }
}

bool Suite::poll(Test &test) {
  if (!test.process.poll())
    return false;
  test.passed = test.process.hasPassed();
  readLog(test);
  if (!test.process.problem().empty())
    test.problems.push_back(test.process.problem());
  return true;
}

Error Suite::run() {
  if (std::error_code code = scratch.create("attn-run"))
    return createStringError(code,
                             "expected a temporary folder: " + code.message());
  size_t next = 0, running = 0;
  size_t limit = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Test *> active;
  while (next < tests.size() || running) {
    while (running < limit && next < tests.size()) {
      Test &test = tests[next];
      test.log = inFolder(scratch.path(), Twine(next) + ".log");
      ++next;
      start(test);
      active.push_back(&test);
      ++running;
    }
    bool ended = false;
    erase_if(active, [&](Test *test) {
      if (!poll(*test))
        return false;
      --running;
      return ended = true;
    });
    if (!ended && running)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return Error::success();
}

bool Suite::report() {
  std::map<std::string, Count> counts;
  Count total;
  unsigned fixed = 0;
  for (const Test &test : tests) {
    Count &count = counts[test.family];
    ++(test.passed ? count.passed : count.failed);
    ++(test.passed ? total.passed : total.failed);
    fixed += test.hasFixed;
    if (test.passed)
      continue;
    outs() << "FAIL: " << sys::path::filename(test.folder) << '\n';
    for (StringRef problem : ArrayRef(test.problems).take_front(8))
      outs() << "  " << problem << '\n';
  }
  outs() << left_justify("operator", 24) << "  passed  failed\n";
  for (const auto &[family, count] : counts)
    outs() << left_justify(family, 24)
           << format("  %6u  %6u\n", count.passed, count.failed);
  outs() << fixed
         << " tests with inputs whose values were known when they were "
            "compiled (they decide shapes or axes)\n"
         << total.passed << " passed, " << total.failed << " failed\n";
  return total.failed != 0;
}

Error runOnnxTests(ArrayRef<std::string> folders, StringRef target, bool loops,
                   StringRef executable, bool &failed) {
  Suite suite(target, loops, executable);
  if (Error error = suite.find(folders))
    return error;
  if (Error error = suite.run())
    return error;
  failed = suite.report();
  return Error::success();
}

} // namespace attn::run

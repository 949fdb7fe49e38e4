//===- KernelProcesses.cpp - kernels compiled by child processes ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts the processes of KernelChild.cpp and emits their diagnostics again at
// their locations, in the order of the kernels. Processes and not threads,
// because Halide numbers its symbols within a process (so that the bytes would
// depend on what was compiled before), and so that a crash or an endless loop
// in code generation costs one kernel and is reported.
//
//===----------------------------------------------------------------------===//

#include "KernelReport.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Support/CleanUp.h"
#include "attn/Support/TemporaryFolder.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <csignal>
#include <thread>

using namespace mlir;
using namespace attn;
namespace json = llvm::json;
using Clock = std::chrono::steady_clock;

namespace {
/// One kernel and the process that compiles it.
struct Job {
  KernelOp kernel;
  std::string symbol, input, report, log;
  llvm::sys::ProcessInfo process;
  Clock::time_point deadline;
  bool running = false, timedOut = false;
  int status = 0;
  std::string problem; ///< What sys::Wait or the start says.
};

/// Runs the jobs of one module.
struct KernelCompiler {
  const TargetInfo &target;
  StringRef dir;
  const KernelOptions &options;
  std::string executable;
  TemporaryFolder scratch = {}; ///< For inputs and reports.
  std::vector<Job> jobs = {};

  LogicalResult run(ModuleOp module);

private:
  LogicalResult prepare(KernelOp kernel);
  void start(Job &job);
  /// True when the process has ended.
  bool poll(Job &job);
  LogicalResult finish(Job &job);
  std::string output(const Job &job, StringRef extension) const {
    llvm::SmallString<128> path(dir);
    llvm::sys::path::append(path, job.symbol + "." + extension.str());
    return std::string(path);
  }
};
} // namespace

/// Writes the input of one kernel.
LogicalResult KernelCompiler::prepare(KernelOp kernel) {
  Job job;
  job.kernel = kernel;
  job.symbol = getKernelSymbol(kernel, target);
  auto file = [&](StringRef extension) {
    llvm::SmallString<128> path(scratch.path());
    llvm::sys::path::append(path, Twine(jobs.size()) + extension);
    return std::string(path);
  };
  job.input = file(".mlir");
  job.report = file(".json");
  job.log = file(".log");
  OwningOpRef<ModuleOp> alone = ModuleOp::create(kernel.getLoc());
  alone->push_back(kernel->clone());
  std::error_code error;
  llvm::raw_fd_ostream stream(job.input, error);
  if (!error) {
    alone->print(stream, OpPrintingFlags().enableDebugInfo());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return kernel.emitOpError("cannot write '")
           << job.input << "': " << error.message();
  jobs.push_back(std::move(job));
  return success();
}

void KernelCompiler::start(Job &job) {
  std::vector<std::string> args = {executable,
                                   compileKernelFlag.str(),
                                   job.input,
                                   target.name.str(),
                                   job.symbol,
                                   job.report,
                                   "bitcode=" + output(job, "bc")};
  if (options.stmt)
    args.push_back("stmt=" + output(job, "stmt"));
  if (options.assembly)
    args.push_back("assembly=" + output(job, "s"));
  if (options.llvmAssembly)
    args.push_back("llvm=" + output(job, "ll"));
  if (options.deviceCode)
    args.push_back("device=" + output(job, "device"));
  SmallVector<StringRef> refs(args.begin(), args.end());
  bool failedToStart = false;
  CleanUpList list;
  // Ctrl-C on a terminal goes to all processes. The children inherit that they
  // do not see it: this process stops them, and does not take it for a crash.
  sigset_t terminal, before;
  sigemptyset(&terminal);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&terminal, signal);
  ::pthread_sigmask(SIG_BLOCK, &terminal, &before);
  job.process = llvm::sys::ExecuteNoWait(
      executable, refs, std::nullopt,
      {StringRef(""), StringRef(job.log), StringRef(job.log)},
      /*MemoryLimit=*/0, &job.problem, &failedToStart);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  job.running = !failedToStart;
  if (failedToStart)
    job.status = -1;
  else
    list.addProcess(job.process.Pid);
  job.deadline = Clock::now() + std::chrono::seconds(options.timeLimitSeconds);
}

bool KernelCompiler::poll(Job &job) {
  if (!job.running)
    return true;
  if (!job.timedOut && Clock::now() > job.deadline) {
    job.timedOut = true;
    ::kill(job.process.Pid, SIGKILL);
  }
  CleanUpList list;
  llvm::sys::ProcessInfo ended = llvm::sys::Wait(job.process, 0, &job.problem);
  if (ended.Pid == 0)
    return false;
  list.dropProcess(job.process.Pid);
  job.running = false;
  job.status = ended.ReturnCode;
  return true;
}

/// Emits the diagnostics of an ended job.
LogicalResult KernelCompiler::finish(Job &job) {
  auto fail = [&]() {
    return mlir::emitError(job.kernel.getLoc(), "cannot compile kernel '")
           << job.symbol << "': ";
  };
  if (job.timedOut)
    return fail()
           << "expected code generation to take at most "
           << options.timeLimitSeconds
           << " s, got no result: choose smaller tiles or less unrolling";
  if (job.status == -1)
    return fail() << "cannot run '" << executable << "': " << job.problem;
  bool hasError = false;
  if (auto text = llvm::MemoryBuffer::getFile(job.report)) {
    llvm::Expected<json::Value> report = json::parse((*text)->getBuffer());
    if (!report)
      llvm::consumeError(report.takeError());
    else if (const json::Array *array = report->getAsArray())
      hasError = replay(*array, job.kernel);
  }
  if (job.status == 0 && !hasError)
    return success();
  if (hasError)
    return failure();
  InFlightDiagnostic diagnostic = fail();
  if (job.status == -2)
    diagnostic << "its compiler process crashed (" << job.problem << ")";
  else
    diagnostic << "its compiler process ended with status " << job.status;
  if (auto log = llvm::MemoryBuffer::getFile(job.log);
      log && !(*log)->getBuffer().trim().empty())
    diagnostic.attachNote()
        << "it printed: " << (*log)->getBuffer().trim().take_front(2000);
  return diagnostic;
}

LogicalResult KernelCompiler::run(ModuleOp module) {
  if (std::error_code error = scratch.create("attn-kernels"))
    return module.emitError("cannot create a temporary folder: ")
           << error.message();
  for (auto kernel : module.getOps<KernelOp>())
    if (!kernel.isLoopKernel() && failed(prepare(kernel)))
      return failure();

  unsigned limit = options.jobs
                       ? options.jobs
                       : std::max(1u, std::thread::hardware_concurrency());
  std::vector<Job *> running;
  size_t next = 0;
  while (next < jobs.size() || !running.empty()) {
    while (next < jobs.size() && running.size() < limit) {
      start(jobs[next]);
      running.push_back(&jobs[next++]);
    }
    llvm::erase_if(running, [&](Job *job) { return poll(*job); });
    if (running.size() == limit || next == jobs.size())
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  bool ok = true;
  for (Job &job : jobs)
    ok &= succeeded(finish(job));
  return success(ok);
}

LogicalResult attn::compileKernels(ModuleOp module, const TargetInfo &target,
                                   StringRef dir,
                                   const KernelOptions &options) {
  if (!llvm::sys::fs::is_directory(dir))
    return module.emitError("expected a folder for the kernels, got '")
           << dir << "'";
  std::string executable = options.executable;
  if (executable.empty())
    executable = llvm::sys::fs::getMainExecutable(
        nullptr, reinterpret_cast<void *>(&attn::runAsKernelCompiler));
  return KernelCompiler{target, dir, options, executable}.run(module);
}

//===- KernelProcesses.cpp - kernels compiled by child processes ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The program runs itself, once a kernel:
//
//   attn-opt --attn-compile-kernel INPUT TARGET SYMBOL REPORT KIND=PATH...
//
// INPUT is a module with the one kernel and its locations. REPORT receives the
// diagnostics as JSON, which the parent emits again at their locations, in the
// order of the kernels. Processes and not threads, because Halide numbers its
// symbols within a process (so that the bytes would depend on what was compiled
// before), and so that a crash or an endless loop in code generation costs one
// kernel and is reported.
//
//===----------------------------------------------------------------------===//
#include "attn/Target/Halide/HalideTarget.h"

#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Support/CleanUp.h"
#include "attn/Support/TemporaryFolder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>
#include <csignal>
#include <thread>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace mlir;
using namespace attn;
namespace json = llvm::json;
using Clock = std::chrono::steady_clock;

static constexpr llvm::StringLiteral compileFlag = "--attn-compile-kernel";

//===----------------------------------------------------------------------===//
// Diagnostics as JSON
//===----------------------------------------------------------------------===//

/// {severity, message, notes} and, where it is known, {file, line, column}.
static json::Object toJson(Diagnostic &diagnostic) {
  json::Object object{{"severity", int64_t(diagnostic.getSeverity())},
                      {"message", json::fixUTF8(diagnostic.str())}};
  if (auto where = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    object["file"] = json::fixUTF8(where.getFilename().getValue());
    object["line"] = int64_t(where.getLine());
    object["column"] = int64_t(where.getColumn());
  }
  json::Array notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back(toJson(note));
  object["notes"] = std::move(notes);
  return object;
}

static Location getLocation(const json::Object &object, Location fallback) {
  auto file = object.getString("file");
  auto line = object.getInteger("line"), column = object.getInteger("column");
  if (!file || !line || !column)
    return fallback;
  return FileLineColLoc::get(fallback.getContext(), *file, *line, *column);
}

/// Emits what a child reported. Returns whether there was an error among it.
static bool replay(const json::Array &report, KernelOp kernel) {
  bool hasError = false;
  for (const json::Value &value : report) {
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    auto severity = static_cast<DiagnosticSeverity>(
        object->getInteger("severity").value_or(0));
    if (severity != DiagnosticSeverity::Error &&
        severity != DiagnosticSeverity::Warning &&
        severity != DiagnosticSeverity::Remark)
      severity = DiagnosticSeverity::Error;
    hasError |= severity == DiagnosticSeverity::Error;
    Location location = getLocation(*object, kernel.getLoc());
    InFlightDiagnostic diagnostic =
        kernel.getContext()->getDiagEngine().emit(location, severity);
    diagnostic << object->getString("message").value_or("").str();
    if (const json::Array *notes = object->getArray("notes"))
      for (const json::Value &note : *notes)
        if (const json::Object *noteObject = note.getAsObject())
          diagnostic.attachNote(getLocation(*noteObject, location))
              << noteObject->getString("message").value_or("").str();
  }
  return hasError;
}

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

static LogicalResult compileFile(StringRef input, StringRef targetName,
                                 StringRef symbol, const KernelFiles &files,
                                 MLIRContext *context) {
  const TargetInfo *target = lookupTarget(targetName);
  auto unknown = UnknownLoc::get(context);
  if (!target)
    return emitError(unknown) << "unknown target '" << targetName << "'";
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, context);
  if (!module)
    return failure();
  auto kernels = module->getOps<KernelOp>();
  if (!llvm::hasSingleElement(kernels))
    return emitError(unknown) << "expected a module with one kernel, got "
                              << llvm::range_size(kernels);
  return compileKernel(*kernels.begin(), *target, symbol, files);
}

/// Ends this process with the one that started it: there is nobody else to
/// write for.
static void endWithParent() {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

std::optional<int> attn::runAsKernelCompiler(int argc, char **argv) {
  if (argc < 2 || argv[1] != compileFlag)
    return std::nullopt;
  endWithParent();
  if (argc < 6) {
    llvm::errs() << "expected " << compileFlag
                 << " INPUT TARGET SYMBOL REPORT KIND=PATH...\n";
    return 2;
  }
  KernelFiles files;
  for (int i = 6; i < argc; ++i) {
    auto [kind, path] = StringRef(argv[i]).split('=');
    std::string *file = llvm::StringSwitch<std::string *>(kind)
                            .Case("bitcode", &files.bitcode)
                            .Case("stmt", &files.stmt)
                            .Case("assembly", &files.assembly)
                            .Case("llvm", &files.llvmAssembly)
                            .Default(nullptr);
    if (!file) {
      llvm::errs() << "unknown kind of file '" << kind << "'\n";
      return 2;
    }
    *file = path.str();
  }

  DialectRegistry registry;
  registry.insert<AttnDialect, affine::AffineDialect, arith::ArithDialect,
                  func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  json::Array report;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    report.push_back(toJson(diagnostic));
    return success();
  });
  LogicalResult result =
      compileFile(argv[2], argv[3], argv[4], files, &context);

  std::error_code error;
  llvm::raw_fd_ostream stream(argv[5], error);
  if (!error) {
    stream << json::Value(std::move(report));
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error) {
    llvm::errs() << "cannot write '" << argv[5] << "': " << error.message()
                 << "\n";
    return 2;
  }
  return succeeded(result) ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

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
                                   compileFlag.str(),
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

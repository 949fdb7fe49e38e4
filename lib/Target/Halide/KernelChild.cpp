//===- KernelChild.cpp - the process that compiles a kernel -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The program runs itself, once a kernel:
//
//   attn-opt --attn-compile-kernel INPUT TARGET SYMBOL REPORT KIND=PATH...
//
// INPUT is a module with the one kernel and its locations. REPORT receives the
// diagnostics as JSON.
//
//===----------------------------------------------------------------------===//

#include "KernelReport.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

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
  if (argc < 2 || argv[1] != compileKernelFlag)
    return std::nullopt;
  endWithParent();
  if (argc < 6) {
    llvm::errs() << "expected " << compileKernelFlag
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
                            .Case("device", &files.deviceCode)
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

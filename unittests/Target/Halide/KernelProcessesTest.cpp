//===- KernelProcessesTest.cpp - compilers that fail are reported ---------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shell scripts stand in for the program that compiles a kernel, because a real
// one cannot be made to crash or to hang.
//
//===----------------------------------------------------------------------===//
#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

/// A folder with a script, and a module with two kernels.
class KernelProcessesTest : public ::testing::Test {
protected:
  KernelProcessesTest()
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    EXPECT_FALSE(
        llvm::sys::fs::createUniqueDirectory("attn-processes", folder));
    const char *kernel = R"(
      attn.kernel @k{0}(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
      attributes {{schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {{
        %y = attn.relu %x : tensor<?x4xf32>
        attn.yield %y : tensor<?x4xf32>
      })";
    std::string text = replace(kernel, "0") + replace(kernel, "1");
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  ~KernelProcessesTest() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  static std::string replace(std::string text, const std::string &number) {
    for (auto [from, to] :
         {std::pair<std::string, std::string>{"{0}", number}, {"{{", "{"}})
      for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
           at += to.size())
        text.replace(at, from.size(), to);
    return text;
  }

  /// Compiles with a script of this body; the errors, a line each.
  std::string compile(const std::string &body, unsigned timeLimit = 60) {
    std::string script = (folder + "/compiler.sh").str();
    {
      std::error_code error;
      llvm::raw_fd_ostream stream(script, error);
      stream << "#!/bin/sh\n" << body << "\n";
    }
    llvm::sys::fs::setPermissions(script, llvm::sys::fs::all_all);
    return run(script, timeLimit);
  }

  std::string run(const std::string &executable, unsigned timeLimit = 60) {
    std::string errors;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            errors += "note: " + note.str() + "\n";
        });
    KernelOptions options;
    options.executable = executable;
    options.timeLimitSeconds = timeLimit;
    bool ok = succeeded(
        compileKernels(*module, *lookupTarget("x86-64-v3"), folder, options));
    EXPECT_EQ(ok, errors.empty());
    return errors;
  }

  llvm::SmallString<128> folder;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TEST_F(KernelProcessesTest, CrashIsReportedForEachKernel) {
  ASSERT_TRUE(module);
  EXPECT_EQ(compile("echo assertion failed; kill -SEGV $$"),
            "cannot compile kernel 'k0__v3': its compiler process crashed "
            "(Segmentation fault)\nnote: it printed: assertion failed\n"
            "cannot compile kernel 'k1__v3': its compiler process crashed "
            "(Segmentation fault)\nnote: it printed: assertion failed\n");
}

TEST_F(KernelProcessesTest, TimeLimit) {
  ASSERT_TRUE(module);
  EXPECT_EQ(
      compile("case $4 in k0*) exec sleep 600;; esac; echo '[]' > $5", 1),
      "cannot compile kernel 'k0__v3': expected code generation to take at "
      "most 1 s, got no result: choose smaller tiles or less unrolling\n");
}

TEST_F(KernelProcessesTest, StatusWithoutDiagnostic) {
  ASSERT_TRUE(module);
  EXPECT_EQ(compile("case $4 in k1*) exit 3;; esac; echo '[]' > $5"),
            "cannot compile kernel 'k1__v3': its compiler process ended with "
            "status 3\n");
}

TEST_F(KernelProcessesTest, DiagnosticsComeBack) {
  ASSERT_TRUE(module);
  EXPECT_EQ(compile("echo '[{\"severity\":2,\"message\":\"expected 1, got 2\","
                    "\"file\":\"a.mlir\",\"line\":3,\"column\":4,\"notes\":["
                    "{\"message\":\"here\"}]}]' > $5; exit 1"),
            "expected 1, got 2\nnote: here\nexpected 1, got 2\nnote: here\n");
}

TEST_F(KernelProcessesTest, NoSuchProgram) {
  ASSERT_TRUE(module);
  std::string errors = run("/no/such/program");
  EXPECT_EQ(errors.find("cannot compile kernel 'k0__v3': cannot run "
                        "'/no/such/program': "),
            0u)
      << errors;
}

TEST_F(KernelProcessesTest, NoSuchFolder) {
  ASSERT_TRUE(module);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(
      compileKernels(*module, *lookupTarget("x86-64-v3"), "/no/such/folder")));
  EXPECT_EQ(message,
            "expected a folder for the kernels, got '/no/such/folder'");
}

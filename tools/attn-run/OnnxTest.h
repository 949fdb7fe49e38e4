//===- OnnxTest.h - ONNX's own tests of operators --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A test is a folder with `model.onnx` and folders `test_data_set_*` of inputs
// and outputs. Each is compiled, run and compared in a process of its own, so
// that a crash is one failure among others.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_ONNXTEST_H
#define ATTN_TOOLS_ATTN_RUN_ONNXTEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace attn::run {

/// Runs one test in this process. Prints what it finds on the standard output:
/// lines `family NAME`, `fixed INPUT`; problems are the error.
llvm::Error runOnnxFolder(llvm::StringRef folder, llvm::StringRef target,
                          bool loops);

/// Runs all tests in `folders`, each a test or a folder of tests, in parallel,
/// and prints a table by operator, the failures, and `N passed, M failed`.
/// `failed` tells whether a test failed. The error is about the folders.
llvm::Error runOnnxTests(llvm::ArrayRef<std::string> folders,
                         llvm::StringRef target, bool loops,
                         llvm::StringRef executable, bool &failed);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_ONNXTEST_H

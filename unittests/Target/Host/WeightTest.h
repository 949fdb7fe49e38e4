//===- WeightTest.h - modules with weights for tests ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_TARGET_HOST_WEIGHTTEST_H
#define ATTN_UNITTESTS_TARGET_HOST_WEIGHTTEST_H

#include "attn/Target/Host/WeightResolver.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attn {

/// Parses modules, collects diagnostics.
struct WeightTest : testing::Test {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler;

  WeightTest()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
          return mlir::success();
        }) {
    context.loadDialect<AttnDialect>();
  }

  void parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << testing::PrintToString(messages);
  }

  WeightOp weight(llvm::StringRef name) {
    return module->lookupSymbol<WeightOp>(name);
  }
};

/// The elements of data as a vector of `T`.
template <typename T> std::vector<T> elements(const std::vector<char> &data) {
  std::vector<T> result(data.size() / sizeof(T));
  memcpy(result.data(), data.data(), data.size());
  return result;
}

} // namespace attn

#endif // ATTN_UNITTESTS_TARGET_HOST_WEIGHTTEST_H

//===- HostTargetTest.cpp - what the host target refuses --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Modules of the tiled level that passes would not make or would have refused.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Host/HostTarget.h"
#include "WeightTest.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace attn;
using testing::ElementsAre;

namespace {

struct Host : testing::Test {
  mlir::MLIRContext context;
  std::vector<std::string> messages;
  std::string text;

  static mlir::DialectRegistry getRegistry() {
    mlir::DialectRegistry registry;
    registry.insert<AttnDialect, mlir::func::FuncDialect>();
    registerHostTarget(registry);
    return registry;
  }
  Host() : context(getRegistry()) {}

  /// Lowers a module whose body is given; `text` is the host function.
  bool lower(const std::string &body, bool lowered = false,
             const std::string &attributes =
                 "attributes {attn.target = \"x86-64-v3\"}") {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
          return mlir::success();
        });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "module " + attributes + " {\n" + body + "\n}", &context);
    if (!module)
      return false;
    ObjectOptions options;
    options.name = "test";
    llvm::raw_string_ostream os(text);
    return succeeded(emitHostText(*module, options, lowered, os));
  }
};

/// A kernel of one argument that wants it dense.
const char kernel[] = R"(
  attn.dim @n range(0, 8)
  attn.kernel @relu_0(%x: tensor<?xf32>) -> tensor<?xf32> {
    %y = attn.relu %x : tensor<?xf32>
    attn.yield %y : tensor<?xf32>
  }
)";

TEST_F(Host, CopiesWhatAKernelWantsDense) {
  ASSERT_TRUE(lower(std::string(kernel) + R"(
  func.func @f(%x: tensor<?x2xf32> {attn.dims = ["n", ""]})
      -> (tensor<?xf32> {attn.dims = ["n"]}) {
    %n = attn.dim_size @n
    %column = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1]
      : tensor<?x2xf32> to tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = attn.call @relu_0 ins(%column : tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  })"))
      << testing::PrintToString(messages);
  EXPECT_THAT(text, testing::ContainsRegex(
                        "memref.copy %subview, %view : memref<\\?xf32, "
                        "strided<\\[2\\], offset: 1>> to memref<\\?xf32>"));
  EXPECT_THAT(text, testing::HasSubstr("outs(%result0 : memref<?xf32>)"));
}

TEST_F(Host, LowersCopiesOfStridedBuffersToLoops) {
  ASSERT_TRUE(lower(std::string(kernel) + R"(
  func.func @f(%x: tensor<?x2xf32> {attn.dims = ["n", ""]})
      -> (tensor<?xf32> {attn.dims = ["n"]}) {
    %n = attn.dim_size @n
    %column = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1]
      : tensor<?x2xf32> to tensor<?xf32>
    return %column : tensor<?xf32>
  })",
                    /*lowered=*/true))
      << testing::PrintToString(messages);
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("memrefCopy")));
  EXPECT_THAT(text, testing::HasSubstr("llvm.cond_br"));
}

TEST_F(Host, ChecksADenseCopyOfIdsWithStrides) {
  ASSERT_TRUE(lower(R"(
  attn.dim @n range(0, 8)
  func.func @f(%ids: tensor<?x2xi64> {attn.dims = ["n", ""]})
      -> (tensor<?x2xi64> {attn.dims = ["n", ""]}) {
    %n = attn.dim_size @n
    %column = tensor.extract_slice %ids[0, 1] [%n, 1] [1, 1]
      : tensor<?x2xi64> to tensor<?xi64>
    attn.check_ids %column below(5) name("ids") : tensor<?xi64>
    return %ids : tensor<?x2xi64>
  })"))
      << testing::PrintToString(messages);
  EXPECT_THAT(text, testing::HasSubstr("attn.check_ids %view below(5)"));
}

TEST_F(Host, TakesASizeWhoseNameNothingDeclares) {
  ASSERT_TRUE(lower(R"(
  func.func @f(%x: tensor<?xf32> {attn.dims = ["n"]})
      -> (tensor<?xf32> {attn.dims = ["n"]}) {
    return %x : tensor<?xf32>
  })"))
      << testing::PrintToString(messages);
  EXPECT_THAT(text, testing::HasSubstr("memref<?xf32>"));
}

TEST_F(Host, RefusesATargetThatIsNotThereOrUnknown) {
  EXPECT_FALSE(lower("", false, ""));
  EXPECT_FALSE(lower("", false, "attributes {attn.target = \"pdp-11\"}"));
  EXPECT_THAT(
      messages,
      ElementsAre(
          "expected attn.target to be one of x86-64-v2, "
          "x86-64-v3, x86-64-v4, x86-64-v4-amx, arm64, opencl, opencl-sm_80, "
          "opencl-sm_90, cuda, cuda-sm_80, cuda-sm_90, vulkan, metal, got "
          "none: run "
          "attn-select-targets",
          "expected attn.target to be one of x86-64-v2, "
          "x86-64-v3, x86-64-v4, x86-64-v4-amx, arm64, opencl, opencl-sm_80, "
          "opencl-sm_90, cuda, cuda-sm_80, cuda-sm_90, vulkan, metal, got "
          "'pdp-11'"));
}

TEST_F(Host, RefusesTwoEntries) {
  EXPECT_FALSE(lower(R"(
  func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
    return %x : tensor<1xf32>
  }
  func.func @g(%x: tensor<1xf32>) -> tensor<1xf32> {
    return %x : tensor<1xf32>
  })"));
  EXPECT_THAT(messages,
              ElementsAre("expected one public function (because it becomes "
                          "the model), got another one: make it private"));
}

TEST_F(Host, RefusesSizesWithoutNames) {
  EXPECT_FALSE(lower(R"(
  func.func @f(%x: tensor<1x?xf32>) -> tensor<1x?xf32> {
    return %x : tensor<1x?xf32>
  })"));
  EXPECT_THAT(
      messages,
      ElementsAre("expected a name in attn.dims for dynamic dimension 1 "
                  "of argument 0, got none: run attn-name-dims",
                  "expected a name in attn.dims for dynamic dimension 1 "
                  "of result 0, got none: run attn-name-dims"));
}

TEST_F(Host, RefusesASizeThatTheCallerDoesNotKnow) {
  EXPECT_FALSE(lower(R"(
  attn.dim @n range(0, 8)
  func.func @f(%x: tensor<1xf32>) -> (tensor<?xf32> {attn.dims = ["n"]}) {
    %n = attn.dim_size @n
    %e = tensor.empty(%n) : tensor<?xf32>
    return %e : tensor<?xf32>
  })"));
  EXPECT_THAT(messages,
              ElementsAre("expected the dims of result 0 to be dims of "
                          "arguments (because the caller allocates the "
                          "results), got 'n'"));
}

TEST_F(Host, RefusesADimOfNoArgument) {
  EXPECT_FALSE(lower(std::string(kernel) + R"(
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %n = attn.dim_size @n
    %s = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
    %r = tensor.insert_slice %s into %x[0] [%n] [1]
      : tensor<?xf32> into tensor<4xf32>
    return %r : tensor<4xf32>
  })"));
  EXPECT_THAT(messages,
              ElementsAre("'attn.dim_size' op expected a dim of an argument of "
                          "the model, got @n"));
}

TEST_F(Host, RefusesControlFlow) {
  context.loadDialect<mlir::cf::ControlFlowDialect>();
  EXPECT_FALSE(lower(R"(
  func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
    cf.br ^next
  ^next:
    return %x : tensor<1xf32>
  })"));
  EXPECT_THAT(messages,
              ElementsAre("expected one block in the host function, got 2"));
}

TEST_F(Host, RefusesAFunctionThatDoesNotReturn) {
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  EXPECT_FALSE(lower(R"(
  func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
    llvm.unreachable
  })"));
  EXPECT_THAT(messages,
              ElementsAre("expected func.return at the end of the host "
                          "function, got llvm.unreachable"));
}

TEST_F(Host, RefusesATemporaryWhoseSizeDependsOnData) {
  EXPECT_FALSE(lower(std::string(kernel) + R"(
  func.func @f(%i: tensor<1xi64>, %x: tensor<?xf32> {attn.dims = ["n"]})
      -> (tensor<?xf32> {attn.dims = ["n"]}) {
    %c0 = arith.constant 0 : index
    %n = attn.dim_size @n
    %v = tensor.extract %i[%c0] : tensor<1xi64>
    %s = arith.index_cast %v : i64 to index
    %e = tensor.empty(%s) : tensor<?xf32>
    %y = attn.call @relu_0 ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
      -> tensor<?xf32>
    %d = tensor.empty(%n) : tensor<?xf32>
    %z = attn.call @relu_0 ins(%y : tensor<?xf32>) outs(%d : tensor<?xf32>)
      -> tensor<?xf32>
    return %z : tensor<?xf32>
  })"));
  EXPECT_THAT(messages,
              ElementsAre("'memref.alloc' op expected a size that follows from "
                          "the dims of the arguments (because the caller "
                          "provides the workspace), got one that depends on "
                          "data"));
}

TEST_F(Host, RefusesTemporariesInLoops) {
  EXPECT_FALSE(lower(std::string(kernel) + R"(
  func.func @f(%x: tensor<?xf32> {attn.dims = ["n"]})
      -> (tensor<?xf32> {attn.dims = ["n"]}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = attn.dim_size @n
    %init = tensor.empty(%n) : tensor<?xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init)
        -> tensor<?xf32> {
      %e = tensor.empty(%n) : tensor<?xf32>
      %y = attn.call @relu_0 ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
        -> tensor<?xf32>
      %z = attn.call @relu_0 ins(%y : tensor<?xf32>) outs(%a : tensor<?xf32>)
        -> tensor<?xf32>
      scf.yield %z : tensor<?xf32>
    }
    return %r : tensor<?xf32>
  })"));
  EXPECT_THAT(messages, ElementsAre("'memref.alloc' op expected temporaries "
                                    "outside of loops"));
}

TEST_F(Host, NeedsAPathForAnObject) {
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages.push_back(diagnostic.str());
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
  EXPECT_TRUE(failed(emitObject(*module, ObjectOptions())));
  EXPECT_THAT(messages, ElementsAre("expected -o with the prefix of the "
                                    "outputs, got none"));
}

} // namespace

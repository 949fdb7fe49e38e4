//===- VariantsTest.cpp - evaluator and independent data --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each file of test/Execution/variants is one attention rule at graph or fused
// level. Its expected values, in test/data/variants, come from NumPy code that
// shares nothing with the evaluator.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;
using namespace attn;
using namespace attn::test;

static std::vector<std::string> listVariants() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           file(ATTN_TEST_DATA "/../Execution/variants", error),
       end;
       file != end && !error; file.increment(error))
    if (StringRef(file->path()).ends_with(".mlir"))
      names.push_back(llvm::sys::path::stem(file->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

class Variants : public testing::TestWithParam<std::string> {};

TEST_P(Variants, agreesTo1e12) {
  std::string name = GetParam();
  MLIRContext context;
  loadDialects(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      ATTN_TEST_DATA "/../Execution/variants/" + name + ".mlir", &context);
  ASSERT_TRUE(module);
  StringRef data = name;
  data.consume_front("fused-");
  llvm::StringMap<Tensor> arrays =
      readCase((ATTN_TEST_DATA "/variants/" + data + ".npz").str());
  llvm::StringMap<Tensor> outputs = runCase(*module, arrays);
  EXPECT_TRUE(outputs.contains("o") || outputs.contains("table"));
  for (const auto &output : outputs)
    expectNear(output.second, arrays.lookup(("out." + output.first()).str()),
               1e-12, output.first());
}

INSTANTIATE_TEST_SUITE_P(Corpus, Variants, testing::ValuesIn(listVariants()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// An empty list of variants must not pass.
TEST(VariantsList, isThere) { EXPECT_GE(listVariants().size(), 36u); }

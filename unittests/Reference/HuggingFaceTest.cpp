//===- HuggingFaceTest.cpp - whole models in the evaluator ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The models of test/data/hf: what the importer makes of them, evaluated in
// f64, must be what the library that they come from computes; and fusing must
// not change it.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "attn/Import/HuggingFace.h"
#include "attn/Import/Safetensors.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;
using namespace attn;
using namespace attn::test;

/// Every case of every model, `bert/cases/b1_s7.npz`.
static std::vector<std::string> listCases() {
  std::vector<std::string> cases;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator
           file(ATTN_TEST_DATA "/hf", error),
       end;
       file != end && !error; file.increment(error))
    if (StringRef(file->path()).ends_with(".npz"))
      cases.push_back(StringRef(file->path())
                          .drop_front(strlen(ATTN_TEST_DATA "/hf/"))
                          .str());
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// Reads f32 tensors of the safetensors files beside a model.
static llvm::Expected<Tensor> readSource(StringRef folder, WeightOp weight) {
  auto source = cast<SourceAttr>(weight.getRecipe());
  auto file = SafetensorsFile::open((folder + "/" + source.getFile()).str());
  if (!file)
    return file.takeError();
  const SafetensorsTensor *tensor = file->lookup(source.getTensor());
  if (!tensor)
    return llvm::createStringError("no tensor " + source.getTensor());
  std::vector<float> data(tensor->numElements());
  if (llvm::Error error = readFloats(*file, *tensor, 0, data))
    return std::move(error);
  Tensor result = Tensor::zeros(
      Tensor::Kind::F64, cast<RankedTensorType>(weight.getType()).getShape());
  std::copy(data.begin(), data.end(), result.numbers.begin());
  return result;
}

class HuggingFaceCases : public testing::TestWithParam<std::string> {};

TEST_P(HuggingFaceCases, graphAndFusedLevelGiveTheModelsOutputs) {
  std::string path = (ATTN_TEST_DATA "/hf/" + GetParam());
  StringRef folder =
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(path));
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  loadDialects(context);
  OwningOpRef<ModuleOp> module =
      importHuggingFace(folder, &context, [](StringRef problem) {
        ADD_FAILURE() << problem.str();
      });
  ASSERT_TRUE(module);
  EvaluatorOptions options;
  options.readSource = [&](WeightOp weight) {
    return readSource(folder, weight);
  };
  llvm::StringMap<Tensor> arrays = readCase(path);
  const Tensor *compare =
      arrays.contains("compare") ? &arrays["compare"] : nullptr;

  llvm::StringMap<Tensor> graph = runCase(*module, arrays, options);
  bool compared = false;
  for (const auto &output : graph) {
    std::string name = ("out." + output.first()).str();
    if (!arrays.contains(name))
      continue;
    compared = true;
    const Tensor &expected = arrays[name];
    // Expected values are f64 rounded to f32. Sequence outputs have positions
    // that do not count.
    bool bySequence = compare && expected.rank() > compare->rank();
    expectNear(output.second, expected, 1e-6, output.first(),
               bySequence ? compare : nullptr);
  }
  EXPECT_TRUE(compared);

  PassManager passes(&context);
  buildGraphToFused(passes, {});
  ASSERT_TRUE(succeeded(passes.run(*module)));
  llvm::StringMap<Tensor> fused = runCase(*module, arrays, options);
  EXPECT_EQ(fused.size(), graph.size());
  // A scale of 1 / sqrt(D) becomes an f32 constant, which is off by 3e-8.
  for (const auto &output : fused)
    expectNear(output.second, graph[output.first()], 2e-7, output.first());
}

INSTANTIATE_TEST_SUITE_P(Corpus, HuggingFaceCases,
                         testing::ValuesIn(listCases()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

// An empty list of cases must not pass.
TEST(HuggingFaceCasesList, isThere) { EXPECT_GE(listCases().size(), 12u); }

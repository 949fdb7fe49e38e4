//===- OnnxFolder.cpp - one of ONNX's tests of operators ------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs that decide shapes or axes are operands like all others in ONNX, but
// must be known when a model is compiled. The importer says which these are; it
// is then given their values, as a user would with --input-value.
//
//===----------------------------------------------------------------------===//

#include "OnnxTest.h"

#include "Compare.h"
#include "CompiledModel.h"
#include "Model.h"
#include "Runner.h"
#include "attn/Support/Problems.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using attn::onnx::ElementType;

namespace attn::run {

static Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// The comparison that the tests are made for, by type.
static Tolerance toleranceOf(NpyType type) {
  if (type == NpyType::F16 || type == NpyType::BF16)
    return {1e-3, 1e-3};
  return {1e-5, 1e-3};
}

/// How an element type is called in arrays, none for those without.
static std::optional<NpyType> typeOf(ElementType type) {
  switch (type) {
  case ElementType::Float:
    return NpyType::F32;
  case ElementType::Double:
    return NpyType::F64;
  case ElementType::Float16:
    return NpyType::F16;
  case ElementType::BFloat16:
    return NpyType::BF16;
  case ElementType::Bool:
    return NpyType::Bool;
  case ElementType::Int8:
  case ElementType::UInt8:
    return NpyType::I8;
  case ElementType::Int16:
  case ElementType::UInt16:
    return NpyType::I16;
  case ElementType::Int32:
  case ElementType::UInt32:
    return NpyType::I32;
  case ElementType::Int64:
  case ElementType::UInt64:
    return NpyType::I64;
  case ElementType::Float8E4M3FN:
    return NpyType::F8E4M3FN;
  case ElementType::Float8E4M3FNUZ:
    return NpyType::F8E4M3FNUZ;
  case ElementType::Float8E5M2:
    return NpyType::F8E5M2;
  case ElementType::Float8E5M2FNUZ:
    return NpyType::F8E5M2FNUZ;
  case ElementType::Float4E2M1:
    return NpyType::F4E2M1FN;
  default:
    return std::nullopt;
  }
}

/// A tensor of test data as an array: elements of 4 bits get a byte each.
static Expected<NpyArray> arrayOf(const onnx::Tensor &tensor) {
  std::optional<NpyType> type = typeOf(tensor.type);
  if (!type)
    return failure("expected test data of a type that a compiled model can "
                   "have, got " +
                   onnx::describe(tensor.type, tensor.shape));
  NpyArray array;
  array.name = tensor.name.str();
  array.type = *type;
  array.shape = tensor.shape;
  if (onnx::elementTypeBits(tensor.type) != 4) {
    array.data.assign(tensor.data.begin(), tensor.data.end());
    return array;
  }
  for (uint64_t i = 0; i < tensor.numElements(); ++i)
    array.data.push_back(tensor.data[i / 2] >> (i % 2 * 4) & 15);
  return array;
}

/// The inputs that are not initializers with a default, as old writers list
/// them.
static std::vector<onnx::ValueInfo> inputsOf(const onnx::Graph &graph) {
  std::vector<onnx::ValueInfo> inputs;
  for (const onnx::ValueInfo &input : graph.inputs)
    if (none_of(graph.initializers, [&](const onnx::Tensor &tensor) {
          return tensor.name == input.name;
        }))
      inputs.push_back(input);
  return inputs;
}

namespace {
/// One data set of a test.
class DataSet {
public:
  DataSet(const onnx::Model &model, std::string modelPath, std::string folder,
          StringRef target, bool loops)
      : model(model), modelPath(std::move(modelPath)),
        folder(std::move(folder)), target(target), loops(loops),
        inputInfos(inputsOf(model.graph)) {}

  Error run();

private:
  Error readValues();
  Error compile();
  Error compare(const std::vector<NpyArray> &outputs);

  const onnx::Model &model;
  std::string modelPath, folder;
  StringRef target;
  bool loops;
  std::vector<onnx::ValueInfo> inputInfos;
  /// By the order of the graph's inputs and outputs.
  std::vector<std::unique_ptr<onnx::TestValue>> inputs, outputs;
  OnnxOptions options;
  ScratchFolder scratch;
  std::string objectPath;
};
} // namespace

/// Reads `input_0.pb`, ... as what the model says that they are.
static Error readAll(StringRef folder, StringRef side,
                     ArrayRef<onnx::ValueInfo> infos,
                     std::vector<std::unique_ptr<onnx::TestValue>> &values) {
  for (auto [i, info] : enumerate(infos)) {
    auto value = onnx::readTestValue(
        inFolder(folder, side + "_" + Twine(i) + ".pb"), info.type);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return Error::success();
}

Error DataSet::readValues() {
  if (Error error = readAll(folder, "input", inputInfos, inputs))
    return error;
  if (Error error = readAll(folder, "output", model.graph.outputs, outputs))
    return error;
  for (auto [info, value] : zip_equal(inputInfos, inputs))
    if (info.type.kind != onnx::Type::Kind::Tensor)
      options.inputLengths[info.name.str()] = value->tensors.size();
  return Error::success();
}

Error DataSet::compile() {
  // Each try may find more inputs that must be known.
  for (;;) {
    Problems problems;
    std::vector<std::string> unknown;
    std::unique_ptr<Model> imported =
        Model::importOnnx(model, modelPath, options, problems, unknown);
    if (imported) {
      if (std::error_code code = scratch.create("attn-run"))
        return failure("expected a temporary folder: " + code.message());
      std::string prefix = inFolder(scratch.path(), "model");
      if (!imported->compile(prefix, target, loops))
        return failure("the model does not compile");
      objectPath = prefix + ".o";
      return Error::success();
    }
    bool hasNew = false;
    for (auto [info, value] : zip_equal(inputInfos, inputs))
      if (is_contained(unknown, info.name) && value->tensors.size() == 1) {
        outs() << "fixed " << info.name << '\n';
        hasNew |= options.inputTensors
                      .try_emplace(info.name.str(), &value->tensors.front())
                      .second;
      }
    if (!hasNew)
      return problems.empty() ? failure("the model cannot be imported")
                              : problems.take();
  }
}

Error DataSet::compare(const std::vector<NpyArray> &results) {
  Problems problems;
  std::vector<const onnx::Tensor *> expected;
  for (const auto &value : outputs)
    for (const onnx::Tensor &tensor : value->tensors)
      expected.push_back(&tensor);
  if (expected.size() != results.size())
    return failure("expected " + Twine(results.size()) +
                   " outputs in the test's data, got " +
                   Twine(expected.size()));
  for (auto [tensor, result] : zip_equal(expected, results)) {
    Expected<NpyArray> wanted = arrayOf(*tensor);
    if (!wanted)
      return wanted.takeError();
    if (wanted->shape != result.shape || wanted->type != result.type) {
      problems.add("expected output " + result.name + " to be " +
                   npyTypeName(wanted->type) + " " + shapeText(wanted->shape) +
                   ", got " + npyTypeName(result.type) + " " +
                   shapeText(result.shape));
      continue;
    }
    Comparison comparison =
        compareArrays(result, *wanted, std::nullopt, toleranceOf(result.type));
    if (comparison.wrong)
      problems.add(describe(result.name, comparison));
  }
  return problems.take();
}

Error DataSet::run() {
  if (Error error = readValues())
    return error;
  if (Error error = compile())
    return error;
  Expected<std::unique_ptr<CompiledModel>> compiled =
      CompiledModel::load(objectPath);
  if (!compiled)
    return compiled.takeError();
  CompiledModel::Options settings;
  settings.guard = true;
  if (Error error = (*compiled)->open(settings))
    return error;
  const Interface &interface = (*compiled)->interface();
  Case testCase;
  testCase.name = folder;
  for (auto [info, value] : zip_equal(inputInfos, inputs)) {
    if (options.inputTensors.count(info.name.str()))
      continue;
    for (const onnx::Tensor &tensor : value->tensors) {
      Expected<NpyArray> array = arrayOf(tensor);
      if (!array)
        return array.takeError();
      testCase.inputs.push_back(std::move(*array));
    }
  }
  if (Error error = bindDims(testCase, interface))
    return error;
  Expected<std::vector<NpyArray>> results = runGuarded(**compiled, testCase);
  if (!results)
    return results.takeError();
  return compare(*results);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The operator that a test is about: that of its node, or, where the test has
/// its body instead, the one that names of values start with.
static std::string familyOf(const onnx::Model &model) {
  const onnx::Graph &graph = model.graph;
  if (graph.nodes.size() == 1)
    return graph.nodes.front().opType.str();
  for (const onnx::Node &node : graph.nodes)
    for (StringRef output : node.outputs)
      if (size_t at = output.find("_test_"); at != StringRef::npos && at > 0)
        return output.take_front(at).str();
  return graph.nodes.empty() ? "none" : graph.nodes.front().opType.str();
}

Error runOnnxFolder(StringRef folder, StringRef target, bool loops) {
  std::string modelPath = inFolder(folder, "model.onnx");
  Expected<std::unique_ptr<onnx::Model>> model = onnx::readModel(modelPath);
  if (!model)
    return model.takeError();
  outs() << "family " << familyOf(**model) << '\n';
  outs().flush();
  std::vector<std::string> sets;
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    if (sys::path::filename(entry->path()).starts_with("test_data_set_"))
      sets.push_back(entry->path());
  sort(sets);
  if (sets.empty())
    return failure(Twine(folder) +
                   ": expected a folder test_data_set_0, got none");
  for (const std::string &set : sets)
    if (Error error = DataSet(**model, modelPath, set, target, loops).run())
      return error;
  return Error::success();
}

} // namespace attn::run

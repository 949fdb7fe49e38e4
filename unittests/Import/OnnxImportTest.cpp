//===- OnnxImportTest.cpp - the importer of ONNX models -------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Models with functions, branches, loops and lists, which no text file holds;
// and hostile ones. What operators become is tested in test/Import.
//
//===----------------------------------------------------------------------===//

#include "OnnxWriter.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Import/Onnx.h"
#include "attn/Support/Problems.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace attn;
using namespace attn::onnx::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Reads and imports; the text of the module, or all problems.
struct Imported {
  explicit Imported(const std::string &bytes, const OnnxOptions &options = {}) {
    auto model = onnx::parseModel(
        llvm::MemoryBuffer::getMemBufferCopy(bytes, "m.onnx"), "nowhere");
    if (!model) {
      llvm::consumeError(model.takeError());
      unreadable = true;
      return;
    }
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = importOnnx(
        **model, "m.onnx", &context,
        [&](llvm::StringRef problem) { problems.push_back(problem.str()); },
        options, &unknown);
    if (!module)
      return;
    valid = mlir::succeeded(mlir::verify(*module));
    llvm::raw_string_ostream stream(text);
    module->print(stream);
  }
  bool unreadable = false, valid = false;
  std::string text;
  std::vector<std::string> problems, unknown;
};

/// A graph with input x and output y, both FLOAT (2).
std::string withInterface(const std::string &nodes) {
  return model(nodes + bytes(11, value("x", 1, {2})) +
               bytes(12, value("y", 1, {2})));
}

std::string boolean(const std::string &name, bool value) {
  return tensor(name, 9, {}) + bytes(9, std::string(1, char(value)));
}

std::string integers(const std::string &name, int64_t value) {
  return tensor(name, 7, {}) + bytes(9, raw<int64_t>({value}));
}

/// AttributeProto of a graph, as a field of a node.
std::string graphAttribute(const std::string &name, const std::string &graph) {
  return bytes(5, bytes(1, name) + bytes(6, graph) + number(20, int64_t(5)));
}

TEST(OnnxImport, InlinesFunctionsWithTheirAttributes) {
  std::string reference =
      bytes(5, bytes(1, "alpha") + bytes(21, "slope") + number(20, int64_t(1)));
  std::string function = bytes(1, "Twice") + bytes(10, "local") +
                         bytes(4, "a") + bytes(5, "b") +
                         bytes(7, node("Swish", {"a"}, {"c"}, reference)) +
                         bytes(7, node("Swish", {"c"}, {"b"}, reference)) +
                         bytes(9, bytes(1, "") + number(2, int64_t(24)));
  std::string slope =
      bytes(5, bytes(1, "slope") + number(2, 3.0f) + number(20, int64_t(1)));
  Imported imported(withInterface(bytes(1, node("Twice", {"x"}, {"y"},
                                                bytes(7, "local") + slope))) +
                    bytes(25, function));
  EXPECT_TRUE(imported.valid) << testing::PrintToString(imported.problems);
  EXPECT_THAT(imported.text, HasSubstr("arith.constant dense<3.0"));
}

TEST(OnnxImport, RefusesFunctionsThatCallThemselves) {
  std::string function = bytes(1, "F") + bytes(10, "local") + bytes(4, "a") +
                         bytes(5, "b") +
                         bytes(7, node("F", {"a"}, {"b"}, bytes(7, "local")));
  Imported imported(
      withInterface(bytes(1, node("F", {"x"}, {"y"}, bytes(7, "local")))) +
      bytes(25, function));
  ASSERT_EQ(imported.problems.size(), 1u);
  EXPECT_THAT(imported.problems[0],
              HasSubstr("expected at most 32 levels of functions, got more "
                        "(because function 'F' calls itself?)"));
}

TEST(OnnxImport, RefusesFunctionsWithoutTheirOutput) {
  std::string function =
      bytes(1, "F") + bytes(10, "local") + bytes(4, "a") + bytes(5, "b");
  Imported imported(
      withInterface(bytes(1, node("F", {"x"}, {"y"}, bytes(7, "local")))) +
      bytes(25, function));
  EXPECT_THAT(imported.problems,
              ElementsAre("m.onnx: node 0 (F): expected the function to give "
                          "output 0, got none"));
}

TEST(OnnxImport, RefusesDomainsWithoutAVersion) {
  std::string function = bytes(1, "F") + bytes(10, "local") + bytes(4, "a") +
                         bytes(5, "b") + bytes(7, node("Relu", {"a"}, {"b"})) +
                         bytes(9, bytes(1, "other") + number(2, int64_t(1)));
  std::string graph = bytes(1, node("F", {"x"}, {"y"}, bytes(7, "local"))) +
                      bytes(11, value("x", 1, {2})) +
                      bytes(12, value("y", 1, {2}));
  Imported imported(number(1, int64_t(10)) + bytes(7, graph) +
                    bytes(8, bytes(1, "local") + number(2, int64_t(1))) +
                    bytes(25, function));
  ASSERT_EQ(imported.problems.size(), 1u);
  EXPECT_THAT(imported.problems[0],
              HasSubstr("expected the version of domain '' in opset_import, "
                        "got none"));
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

std::string branch(const std::string &type) {
  return bytes(1, node(type, {"x"}, {"r"})) + bytes(12, bytes(1, "r"));
}

std::string ifNode(const std::string &no) {
  return bytes(1, node("If", {"c"}, {"y"},
                       graphAttribute("then_branch", branch("Exp")) +
                           graphAttribute("else_branch", no)));
}

TEST(OnnxImport, TakesTheBranchOfAKnownCondition) {
  for (bool condition : {true, false}) {
    Imported imported(withInterface(bytes(5, boolean("c", condition)) +
                                    ifNode(branch("Sqrt"))));
    EXPECT_TRUE(imported.valid);
    EXPECT_THAT(imported.text, HasSubstr(condition ? "math.exp" : "math.sqrt"));
  }
}

TEST(OnnxImport, NamesTheInputThatDecidesABranch) {
  std::string bytesOfModel =
      withInterface(bytes(11, value("c", 9, {})) + ifNode(branch("Sqrt")));
  Imported unknown(bytesOfModel);
  EXPECT_THAT(unknown.unknown, ElementsAre("c"));
  EXPECT_THAT(
      unknown.problems,
      ElementsAre("m.onnx: node 0 (If): expected input 0 'c' to be "
                  "known when the model is compiled (because it decides "
                  "what is computed), got a value that depends on input "
                  "'c': give it with --input-value"));
  OnnxOptions options;
  options.inputValues["c"] = "0";
  Imported known(bytesOfModel, options);
  EXPECT_TRUE(known.valid);
  EXPECT_THAT(known.text, HasSubstr("math.sqrt"));
  EXPECT_THAT(known.text, testing::Not(HasSubstr("attn.name = \"c\"")));
}

TEST(OnnxImport, RefusesBranchesThatAreNone) {
  Imported missing(withInterface(bytes(5, boolean("c", true)) +
                                 bytes(1, node("If", {"c"}, {"y"}))));
  EXPECT_THAT(missing.problems,
              ElementsAre("m.onnx: node 0 (If): expected then_branch and "
                          "else_branch, got none"));
  Imported empty(
      withInterface(bytes(5, boolean("c", false)) + ifNode(bytes(2, "empty"))));
  EXPECT_THAT(empty.problems,
              ElementsAre("m.onnx: node 0 (If): expected 1 outputs of the "
                          "branch, got 0"));
  Imported nothing(withInterface(bytes(5, boolean("c", false)) +
                                 ifNode(bytes(12, bytes(1, "r")))));
  EXPECT_THAT(nothing.problems,
              ElementsAre("m.onnx: node 0 (If): expected the graph to give "
                          "output 'r', got none"));
}

/// A body that doubles its value; the condition that it gives is `condition`.
std::string body(const std::string &condition, const std::string &more = "") {
  return bytes(1, node("Add", {"v", "v"}, {"w"})) + bytes(11, bytes(1, "i")) +
         bytes(11, bytes(1, "c")) + bytes(11, bytes(1, "v")) +
         bytes(12, bytes(1, condition)) + bytes(12, bytes(1, "w")) + more;
}

std::string loop(const std::string &bodyGraph, int64_t steps,
                 const std::vector<std::string> &inputs = {"n", "t", "x"},
                 const std::vector<std::string> &outputs = {"y"}) {
  return withInterface(bytes(5, integers("n", steps)) +
                       bytes(5, boolean("t", true)) +
                       bytes(1, node("Loop", inputs, outputs,
                                     graphAttribute("body", bodyGraph))));
}

TEST(OnnxImport, UnrollsLoopsWhoseStepsAreKnown) {
  Imported imported(loop(body("c"), 3));
  EXPECT_TRUE(imported.valid) << testing::PrintToString(imported.problems);
  size_t count = 0;
  for (size_t at = 0;
       (at = imported.text.find("arith.addf", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 3u);
}

TEST(OnnxImport, RefusesLoopsThatDependOnData) {
  auto problem = [](const std::string &bytesOfModel) {
    Imported imported(bytesOfModel);
    return imported.problems.size() == 1 ? imported.problems[0] : "not one";
  };
  EXPECT_THAT(
      problem(loop(body("c"), 5000)),
      HasSubstr("expected at most 4096 steps of a loop (because each is "
                "compiled), got more"));
  std::string dataCondition =
      bytes(1, node("ReduceMax", {"v"}, {"m"}, attribute("keepdims", 0))) +
      bytes(1, node("IsNaN", {"m"}, {"d"}));
  EXPECT_THAT(problem(loop(dataCondition + body("d"), 3)),
              HasSubstr("expected the condition of the loop to be known when "
                        "the model is compiled, got one that depends on data"));
  EXPECT_THAT(problem(loop(body("c"), 3, {"n", "t"})),
              HasSubstr("expected a body with an input for the step, the "
                        "condition and each of 0 values, and their outputs, "
                        "got another"));
  EXPECT_THAT(problem(loop(body("c", bytes(12, bytes(1, "w"))), 0,
                           {"n", "t", "x"}, {"z", "y"})),
              HasSubstr("expected at least one step of a loop whose steps are "
                        "collected, got none"));
  EXPECT_THAT(problem(withInterface(bytes(1, node("Loop", {"x", "x"}, {"y"})))),
              HasSubstr("expected a body, got none"));
}

//===----------------------------------------------------------------------===//
// Lists and constants
//===----------------------------------------------------------------------===//

TEST(OnnxImport, MakesAnInputOfEachTensorOfAList) {
  std::string list = bytes(
      2,
      bytes(4,
            bytes(1, bytes(1, number(1, int64_t(1)) +
                                  bytes(2, bytes(1, number(1, int64_t(2))))))));
  std::string graph = bytes(1, node("Identity", {"l"}, {"m"})) +
                      bytes(11, bytes(1, "l") + list) +
                      bytes(12, bytes(1, "m") + list);
  OnnxOptions options;
  options.inputLengths["l"] = 2;
  Imported imported(model(graph), options);
  EXPECT_TRUE(imported.valid) << testing::PrintToString(imported.problems);
  for (const char *name : {"\"l_0\"", "\"l_1\"", "\"m_0\"", "\"m_1\""})
    EXPECT_THAT(imported.text, HasSubstr(name));

  Imported unknown{model(graph)};
  EXPECT_THAT(
      unknown.problems,
      ElementsAre("m.onnx: input 'l': expected a tensor (because a "
                  "compiled model has as many inputs as it has tensors), "
                  "got a list of unknown length or another type"));
  // Most operators take no lists.
  for (const char *type : {"Shape", "Abs", "Concat"}) {
    Imported refused(model(bytes(1, node(type, {"l"}, {"m"})) +
                           bytes(11, bytes(1, "l") + list) +
                           bytes(12, bytes(1, "m") + list)),
                     options);
    ASSERT_EQ(refused.problems.size(), 1u);
    EXPECT_THAT(refused.problems[0], HasSubstr("tensor"));
    EXPECT_THAT(refused.problems[0], HasSubstr("got a list"));
  }
}

std::string constant(const std::string &tensorBytes) {
  return bytes(1, node("Constant", {}, {"y"},
                       bytes(5, bytes(1, "value") + bytes(5, tensorBytes) +
                                    number(20, int64_t(4)))));
}

TEST(OnnxImport, KeepsConstantsOfOneNameApart) {
  // Exporters call all of them the same.
  std::string graph =
      bytes(5, floats("w", {65}, std::vector<float>(65, 1))) +
      bytes(1, node("Constant", {}, {"a"},
                    bytes(5, bytes(1, "value") +
                                 bytes(5, floats("c", {65},
                                                 std::vector<float>(65, 2))) +
                                 number(20, int64_t(4))))) +
      bytes(1, node("Constant", {}, {"b"},
                    bytes(5, bytes(1, "value") +
                                 bytes(5, floats("c", {65},
                                                 std::vector<float>(65, 3))) +
                                 number(20, int64_t(4))))) +
      bytes(12, value("a", 1, {65})) + bytes(12, value("b", 1, {65}));
  Imported imported(model(graph));
  EXPECT_TRUE(imported.valid);
  EXPECT_THAT(imported.text, HasSubstr("attn.weight @c bytes<\"m.onnx\""));
  EXPECT_THAT(imported.text, HasSubstr("attn.weight @c_0 bytes<\"m.onnx\""));
  // Nothing uses it.
  EXPECT_THAT(imported.text, testing::Not(HasSubstr("@w")));
}

TEST(OnnxImport, RefusesConstantsOfFourBits) {
  Imported imported(
      withInterface(constant(tensor("c", 23, {2}) + bytes(9, "\x21"))));
  EXPECT_THAT(imported.problems,
              ElementsAre("m.onnx: node 0 (Constant): expected a value of "
                          "numbers or BOOL, got FLOAT4E2M1 (2)"));
  std::string fill =
      bytes(5, bytes(1, "value") + bytes(5, floats("c", {2}, {1, 2})) +
                   number(20, int64_t(4)));
  Imported shape(withInterface(
      bytes(5, tensor("s", 7, {1}) + bytes(9, raw<int64_t>({2}))) +
      bytes(1, node("ConstantOfShape", {"s"}, {"y"}, fill))));
  EXPECT_THAT(shape.problems,
              ElementsAre("m.onnx: node 0 (ConstantOfShape): expected a value "
                          "of one number, got FLOAT (2)"));
}

TEST(OnnxImport, RefusesToDropOut) {
  Imported imported(withInterface(
      bytes(5, floats("r", {}, {0.5})) + bytes(5, boolean("t", true)) +
      bytes(1, node("Dropout", {"x", "r", "t"}, {"y"}))));
  EXPECT_THAT(imported.problems,
              ElementsAre("m.onnx: node 0 (Dropout): expected training_mode to "
                          "be false, got true"));
}

TEST(OnnxImport, ChecksValuesOfInputs) {
  std::string bytesOfModel = withInterface(bytes(1, node("Exp", {"x"}, {"y"})));
  auto problem = [&](const char *name, const char *text) {
    OnnxOptions options;
    options.inputValues[name] = text;
    Imported imported(bytesOfModel, options);
    return imported.problems.empty() ? "none" : imported.problems[0];
  };
  EXPECT_EQ(problem("x", "1,-2.5e0"), "none");
  EXPECT_EQ(problem("x", "1,two"),
            "m.onnx: input 'x': expected numbers of type FLOAT with commas "
            "between them, like 1,-1,64, got '1,two'");
  EXPECT_EQ(problem("x", "1"), "m.onnx: input 'x': expected as many numbers as "
                               "FLOAT (2) has, got 1");
  EXPECT_EQ(problem("z", "1"),
            "m.onnx: expected the name of an input for a value, got 'z'");
  OnnxOptions options;
  onnx::Tensor tensor;
  tensor.type = onnx::ElementType::Int64;
  tensor.shape = {0};
  options.inputTensors["x"] = &tensor;
  Imported imported(bytesOfModel, options);
  EXPECT_THAT(imported.problems,
              ElementsAre("m.onnx: input 'x': expected a value of the input's "
                          "type, got INT64 (0)"));
}

//===----------------------------------------------------------------------===//
// Hostile models
//===----------------------------------------------------------------------===//

/// Operators of each family on small tensors.
std::string sample() {
  std::string graph =
      bytes(11, value("x", 1, {2, 3})) + bytes(11, value("n", 1, {-1, 3})) +
      bytes(11, value("i", 7, {2})) +
      bytes(5, floats("w", {3, 4}, std::vector<float>(12, 1))) +
      bytes(5, tensor("s", 7, {2}) + bytes(9, raw<int64_t>({3, -1}))) +
      bytes(5, tensor("a", 7, {1}) + bytes(9, raw<int64_t>({1}))) +
      bytes(1, node("MatMul", {"x", "w"}, {"p"})) +
      bytes(1, node("Reshape", {"x", "s"}, {"q"})) +
      bytes(1, node("Softmax", {"p"}, {"r"}, attribute("axis", 1))) +
      bytes(1, node("ReduceSum", {"r", "a"}, {"t"}, attribute("keepdims", 0))) +
      bytes(1, node("Gather", {"x", "i"}, {"g"}, attribute("axis", 0))) +
      bytes(1, node("Shape", {"n"}, {"h"})) +
      bytes(1, node("Expand", {"a2", "h"}, {"e"})) +
      bytes(1, node("Slice", {"x", "a", "s1", "a"}, {"l"})) +
      bytes(1, node("Concat", {"n", "x"}, {"c"}, attribute("axis", 0))) +
      bytes(5, tensor("s1", 7, {1}) + bytes(9, raw<int64_t>({2}))) +
      bytes(5, floats("a2", {1, 1}, {2}));
  for (const char *output : {"p", "q", "r", "t", "g", "e", "l", "c"})
    graph += bytes(12, bytes(1, output));
  return model(graph);
}

TEST(OnnxImport, MakesAValidModuleOrAProblemOfChangedBytes) {
  std::string good = sample();
  EXPECT_TRUE(Imported(good).valid);
  unsigned imported = 0, refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text = good;
    for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
      size_t at = random() % text.size();
      if (random() % 2)
        text[at] = static_cast<char>(random());
      else
        text[at] ^= 1 << random() % 8;
    }
    Imported result(text);
    if (result.unreadable)
      continue;
    EXPECT_NE(result.valid, !result.problems.empty()) << seed;
    for (const std::string &problem : result.problems)
      EXPECT_THAT(problem, testing::Not(HasSubstr("a valid module"))) << seed;
    ++(result.valid ? imported : refused);
  }
  EXPECT_GT(imported, 100u);
  EXPECT_GT(refused, 100u);
}

} // namespace

//===- OnnxModelTest.cpp - the reader of ONNX files -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a file says, what is wrong with it, and that no bytes whatever are more
// than an error.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/OnnxModel.h"
#include "OnnxWriter.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace attn;
using namespace attn::onnx;
using namespace attn::onnx::test;
using namespace llvm;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Expected<std::unique_ptr<Model>> parse(StringRef text,
                                       StringRef folder = "nowhere") {
  return parseModel(MemoryBuffer::getMemBufferCopy(text, "m.onnx"), folder);
}

/// All problems, a line each; "" if there are none.
std::string problemsOf(StringRef text, StringRef folder = "nowhere") {
  Expected<std::unique_ptr<Model>> model = parse(text, folder);
  if (model)
    return "";
  std::string lines;
  forEachProblem(model.takeError(),
                 [&](StringRef problem) { lines += problem.str() + "\n"; });
  return lines;
}

std::string problemsOfInitializer(const std::string &tensor,
                                  StringRef folder = "nowhere") {
  return problemsOf(model(bytes(5, tensor)), folder);
}

/// One of everything that the reader looks at.
std::string sample() {
  std::string optional = bytes(
      2,
      bytes(9, bytes(1, bytes(4, bytes(1, bytes(1, number(1, int64_t(1))))))));
  std::string inner = bytes(1, node("Identity", {"a"}, {"b"}));
  std::string attributes =
      attribute("axis", -1) +
      bytes(5, bytes(1, "scale") + number(2, 0.5f) + number(20, int64_t(1))) +
      bytes(5, bytes(1, "mode") + bytes(4, "linear") + number(20, int64_t(3))) +
      bytes(5, bytes(1, "perm") + bytes(8, varint(1) + varint(0)) +
                   number(20, int64_t(7))) +
      bytes(5, bytes(1, "floats") + bytes(7, raw<float>({1, 2})) +
                   number(20, int64_t(6))) +
      bytes(5, bytes(1, "names") + bytes(9, "x") + bytes(9, "y") +
                   number(20, int64_t(8))) +
      bytes(5, bytes(1, "value") + bytes(5, floats("", {1}, {3})) +
                   number(20, int64_t(4))) +
      bytes(5, bytes(1, "body") + bytes(6, inner) + number(20, int64_t(5)));
  std::string function = bytes(1, "f") + bytes(10, "local") + bytes(4, "x") +
                         bytes(5, "y") + bytes(7, node("Relu", {"x"}, {"y"})) +
                         bytes(9, bytes(1, "") + number(2, int64_t(18))) +
                         bytes(11, bytes(1, "alpha") + number(2, 1.0f));
  std::string graph =
      bytes(1, node("Add", {"x", "w"}, {"y"}, bytes(3, "first") + attributes)) +
      bytes(2, "g") + bytes(5, floats("w", {2, 2}, {1, 2, 3, 4})) +
      bytes(5,
            tensor("i", 7, {2}) + bytes(7, varint(5) + varint(uint64_t(-6)))) +
      bytes(11, value("x", 1, {-1, 2})) + bytes(11, bytes(1, "o") + optional) +
      bytes(12, value("y", 1, {-1, 2})) + bytes(13, value("z", 10, {}));
  return model(graph) + bytes(25, function) + bytes(2, "test");
}

TEST(OnnxModel, ReadsWhatAFileSays) {
  Expected<std::unique_ptr<Model>> read = parse(sample());
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  const Model &model = **read;
  EXPECT_EQ(model.irVersion, 10);
  EXPECT_EQ(model.producer, "test");
  EXPECT_EQ(model.opsets.lookup(""), 23);
  const Graph &graph = model.graph;
  ASSERT_EQ(graph.nodes.size(), 1u);
  const Node &node = graph.nodes[0];
  EXPECT_EQ(node.name, "first");
  EXPECT_EQ(node.opType, "Add");
  EXPECT_THAT(node.inputs, ElementsAre("x", "w"));
  EXPECT_THAT(node.outputs, ElementsAre("y"));
  EXPECT_EQ(node.lookup("axis")->integer, -1);
  EXPECT_EQ(node.lookup("scale")->number, 0.5f);
  EXPECT_EQ(node.lookup("mode")->text, "linear");
  EXPECT_THAT(node.lookup("perm")->integers, ElementsAre(1, 0));
  EXPECT_THAT(node.lookup("floats")->numbers, ElementsAre(1, 2));
  EXPECT_THAT(node.lookup("names")->texts, ElementsAre("x", "y"));
  EXPECT_EQ(node.lookup("value")->tensor->numElements(), 1u);
  EXPECT_EQ(node.lookup("body")->graph->nodes[0].opType, "Identity");
  EXPECT_EQ(node.lookup("none"), nullptr);

  ASSERT_EQ(graph.initializers.size(), 2u);
  const Tensor &weight = graph.initializers[0];
  EXPECT_EQ(describe(weight.type, weight.shape), "FLOAT (2, 2)");
  // The bytes are those of the file.
  EXPECT_EQ(weight.file, "m.onnx");
  EXPECT_EQ(StringRef(sample()).substr(weight.offset, 16),
            toStringRef(weight.data));
  const Tensor &ids = graph.initializers[1];
  EXPECT_EQ(toStringRef(ids.data), raw<int64_t>({5, -6}));
  EXPECT_TRUE(ids.file.empty());

  EXPECT_EQ(graph.inputs[0].type.dims[0].name, "n");
  EXPECT_EQ(graph.inputs[0].type.dims[1].size, 2);
  EXPECT_EQ(graph.inputs[1].type.kind, Type::Kind::Optional);
  EXPECT_EQ(graph.inputs[1].type.inner->kind, Type::Kind::Sequence);
  EXPECT_EQ(graph.inputs[1].type.inner->inner->element, ElementType::Float);
  EXPECT_EQ(graph.values[0].type.element, ElementType::Float16);

  ASSERT_EQ(model.functions.size(), 1u);
  EXPECT_EQ(model.functions[0].domain, "local");
  EXPECT_EQ(model.functions[0].opsets.lookup(""), 18);
  EXPECT_EQ(model.functions[0].defaults[0].number, 1.0f);
}

TEST(OnnxModel, ReadsNumbersInEachOfTheirFields) {
  struct {
    int64_t type;
    std::string data, expected;
  } cases[] = {
      {1, bytes(4, raw<float>({1, 2})), raw<float>({1, 2})},
      {1, number(4, 1.0f) + number(4, 2.0f), raw<float>({1, 2})},
      {11, bytes(10, raw<double>({1, 2})), raw<double>({1, 2})},
      {11,
       varint(10 << 3 | 1) + raw<double>({1}) + varint(10 << 3 | 1) +
           raw<double>({2}),
       raw<double>({1, 2})},
      {6, bytes(5, varint(7) + varint(uint64_t(-8))), raw<int32_t>({7, -8})},
      {10, number(5, int64_t(0x3c00)) + number(5, int64_t(0x4000)),
       raw<uint16_t>({0x3c00, 0x4000})},
      {9, bytes(5, varint(0) + varint(1)), raw<uint8_t>({0, 1})},
      {13, bytes(11, varint(1) + varint(uint64_t(-1))),
       raw<uint64_t>({1, uint64_t(-1)})},
      {23, bytes(5, varint(0x21)), raw<uint8_t>({0x21})},
  };
  for (const auto &[type, data, expected] : cases) {
    std::string text = model(bytes(5, tensor("t", type, {2}) + data));
    Expected<std::unique_ptr<Model>> read = parse(text);
    ASSERT_TRUE(bool(read)) << type << toString(read.takeError());
    EXPECT_EQ(toStringRef((*read)->graph.initializers[0].data), expected)
        << type;
  }
}

TEST(OnnxModel, AcceptsTensorsWithoutElements) {
  EXPECT_EQ(problemsOfInitializer(tensor("t", 1, {0, INT64_MAX, 4})), "");
}

TEST(OnnxModel, ReportsEveryProblemWithItsPlace) {
  std::string graph =
      bytes(5, floats("short", {3}, {1})) +
      bytes(1, node("Add", {}, {},
                    bytes(3, "n") + bytes(5, bytes(1, "a") + bytes(3, "")))) +
      bytes(5, floats("good", {1}, {1})) + bytes(5, tensor("none", 1, {2}));
  EXPECT_EQ(
      problemsOf(model(graph)),
      "m.onnx: initializer 0 'short': expected 12 bytes of raw_data (because "
      "it is FLOAT (3)), got 4\n"
      "m.onnx: node 0: attribute 0 'a': expected field 3 at byte 38 to be a "
      "varint, got bytes with a length\n"
      "m.onnx: initializer 2 'none': expected 8 bytes of numbers (because it "
      "is "
      "FLOAT (2)), got 0\n");
}

TEST(OnnxModel, RefusesTensorsThatAreNotWhatTheySay) {
  auto expect = [](const std::string &tensor, const char *message) {
    EXPECT_THAT(problemsOfInitializer(tensor), HasSubstr(message));
  };
  std::string two = raw<float>({1, 2});
  expect(tensor("t", 8, {1}),
         "expected elements of numbers or BOOL, got STRING");
  expect(tensor("t", 99, {1}), "got type 99 (1)");
  expect(tensor("t", 1, {-1}), "expected sizes of 0 or more, got FLOAT (-1)");
  expect(tensor("t", 1, {INT64_MAX, 2}),
         "expected a size that fits into 63 bits, got FLOAT");
  expect(tensor("t", 1, {int64_t(1) << 62}), "that fits into 63 bits");
  expect(tensor("t", 1, std::vector<int64_t>(65, 1)),
         "expected at most 64 dimensions, got 65");
  expect(tensor("t", 1, {2}) + bytes(3, ""),
         "expected a tensor in one piece, got a segment");
  expect(tensor("t", 1, {2}) + bytes(4, two) + bytes(9, two),
         "expected data in one place (raw_data, one list of numbers, or "
         "another file), got several");
  expect(tensor("t", 1, {2}) + bytes(4, two) + bytes(5, varint(1)),
         "expected data in one place");
  expect(tensor("t", 6, {2}) + bytes(4, two),
         "expected the numbers of INT32 (2) in field 5 of the tensor, got "
         "field 4");
  expect(tensor("t", 6, {2}) + bytes(5, varint(1)),
         "expected 2 numbers (because it is INT32 (2)), got 1");
  expect(tensor("t", 6, {2}) + bytes(5, "\x80"),
         "expected a varint of at most 10 bytes at byte");
  expect(tensor("t", 1, {2}) + number(4, int64_t(1)),
         "to be bytes with a length, got a varint");
}

TEST(OnnxModel, RefusesBytesThatAreNoModel) {
  EXPECT_THAT(problemsOf(""),
              HasSubstr("expected an ONNX model with a graph and its opset, "
                        "got a message without graph"));
  EXPECT_THAT(problemsOf(bytes(7, "")),
              HasSubstr("got a message without opset_import"));
  EXPECT_THAT(problemsOf("\x0b"), HasSubstr("expected a protobuf field at byte "
                                            "0, got other bytes"));
  EXPECT_THAT(problemsOf(varint(7 << 3 | 2) + varint(1000) + "abc"),
              HasSubstr("expected at most 3 bytes at byte 3 (because the "
                        "message ends there), got a length of 1000"));
  EXPECT_THAT(
      problemsOf(varint(99 << 3 | 5) + "abc"),
      HasSubstr("expected 4 bytes at byte 2, got 3: is the file cut off?"));
  EXPECT_THAT(problemsOf(bytes(7, "") + bytes(7, "")),
              HasSubstr("expected one graph, got another at byte 2"));
  EXPECT_THAT(
      problemsOf(model(bytes(15, ""))),
      HasSubstr(
          "expected dense initializers, got a sparse one: convert the model"));
  EXPECT_THAT(problemsOf("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("expected an ONNX model, got a pointer to one in Git "
                        "LFS: fetch it with 'git lfs pull'"));
  // The kind that an attribute states must be that of its value.
  EXPECT_THAT(problemsOf(model(
                  bytes(1, node("Add", {}, {},
                                bytes(5, bytes(1, "a") + number(3, int64_t(1)) +
                                             number(20, int64_t(4))))))),
              HasSubstr("expected an attribute with a value of its type 4, got "
                        "another or none"));
}

TEST(OnnxModel, LimitsTheDepthOfGraphs) {
  std::string graph = bytes(1, node("Identity", {"a"}, {"b"}));
  auto nest = [&](unsigned times) {
    std::string nested = graph;
    for (unsigned i = 0; i < times; ++i)
      nested = bytes(1, node("If", {"c"}, {"d"},
                             bytes(5, bytes(1, "body") + bytes(6, nested))));
    return model(nested);
  };
  EXPECT_EQ(problemsOf(nest(10)), "");
  EXPECT_THAT(problemsOf(nest(5000)),
              HasSubstr("expected at most 16 levels of graphs or types"));
}

//===----------------------------------------------------------------------===//
// Data in other files
//===----------------------------------------------------------------------===//

class OnnxExternal : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("attn-onnx", root));
    folder = inRoot("model");
    ASSERT_FALSE(sys::fs::create_directory(folder));
    write(inRoot("outside.bin"), "12345678");
    write(folder + "/data.bin", raw<float>({1, 2, 3}));
  }
  void TearDown() override { EXPECT_FALSE(sys::fs::remove_directories(root)); }

  std::string inRoot(StringRef name) {
    SmallString<128> path(root);
    sys::path::append(path, name);
    return path.str().str();
  }
  static void write(const std::string &path, const std::string &text) {
    std::error_code code;
    raw_fd_ostream(path, code) << text;
  }
  static std::string entry(const std::string &key, const std::string &text) {
    return bytes(13, bytes(1, key) + bytes(2, text));
  }
  static std::string external(const std::string &location,
                              const std::string &offset,
                              const std::string &length) {
    return tensor("t", 1, {2}) + entry("location", location) +
           (offset.empty() ? "" : entry("offset", offset)) +
           (length.empty() ? "" : entry("length", length)) +
           number(14, int64_t(1));
  }
  std::string problems(const std::string &tensor) {
    return problemsOfInitializer(tensor, folder);
  }

  SmallString<128> root;
  std::string folder;
};

TEST_F(OnnxExternal, IsMappedWhereItLies) {
  for (const char *length : {"8", ""}) {
    std::string text = model(bytes(5, external("data.bin", "4", length)) +
                             bytes(5, external("data.bin", "0", "8")));
    Expected<std::unique_ptr<Model>> read = parse(text, folder);
    ASSERT_TRUE(bool(read)) << toString(read.takeError());
    const Tensor &tensor = (*read)->graph.initializers[0];
    EXPECT_EQ(toStringRef(tensor.data), raw<float>({2, 3}));
    EXPECT_EQ(tensor.file, "data.bin");
    EXPECT_EQ(tensor.offset, 4u);
  }
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  ASSERT_FALSE(sys::fs::create_link(inRoot("outside.bin"), folder + "/link"));
  std::string absolute = inRoot("outside.bin");
  for (std::string name :
       {std::string("../outside.bin"), std::string("x/../../outside.bin"),
        absolute, std::string(), std::string("data.bin\0x", 10)})
    EXPECT_THAT(problems(external(name, "0", "8")),
                HasSubstr("expected the name of a file in the model's folder "
                          "for external data, got '"));
  EXPECT_THAT(problems(external("link", "0", "8")),
              HasSubstr("copy the file into the folder"));
  EXPECT_THAT(problems(external(".", "0", "8")), HasSubstr("got '.'"));
  EXPECT_THAT(problems(external("none.bin", "0", "8")),
              HasSubstr("got 'none.bin': "));
}

TEST_F(OnnxExternal, StaysInTheFile) {
  EXPECT_THAT(problems(external("data.bin", "8", "8")),
              HasSubstr("expected external data within the 12 bytes of "
                        "'data.bin', got offset 8 and length 8"));
  EXPECT_THAT(problems(external("data.bin", "18446744073709551615", "8")),
              HasSubstr("expected external data within the 12 bytes"));
  EXPECT_THAT(problems(external("data.bin", "13", "")),
              HasSubstr("got offset 13"));
  EXPECT_THAT(
      problems(external("data.bin", "0", "4")),
      HasSubstr("expected 8 bytes of external data (because it is FLOAT "
                "(2)), got 4 in 'data.bin'"));
  EXPECT_THAT(problems(external("data.bin", "-1", "8")),
              HasSubstr("expected the offset of external data to be a number, "
                        "got '-1'"));
}

//===----------------------------------------------------------------------===//
// Test data
//===----------------------------------------------------------------------===//

TEST(OnnxTestValue, IsATensorOrASequence) {
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createTemporaryFile("attn-onnx", "pb", path));
  auto write = [&](const std::string &text) {
    std::error_code code;
    raw_fd_ostream(path, code) << text;
  };
  Type tensorType, sequence, optional;
  tensorType.kind = Type::Kind::Tensor;
  sequence.kind = Type::Kind::Sequence;
  sequence.inner = std::make_shared<Type>(tensorType);
  optional.kind = Type::Kind::Optional;
  optional.inner = std::make_shared<Type>(sequence);

  write(floats("x", {2}, {1, 2}));
  auto one = readTestValue(path, tensorType);
  ASSERT_TRUE(bool(one)) << toString(one.takeError());
  EXPECT_EQ((*one)->tensors.size(), 1u);
  EXPECT_EQ((*one)->tensors[0].name, "x");

  std::string two =
      bytes(3, floats("", {1}, {1})) + bytes(3, floats("", {1}, {2}));
  write(number(2, int64_t(1)) + two);
  auto many = readTestValue(path, sequence);
  ASSERT_TRUE(bool(many)) << toString(many.takeError());
  EXPECT_EQ((*many)->tensors.size(), 2u);

  write(bytes(5, two));
  auto maybe = readTestValue(path, optional);
  ASSERT_TRUE(bool(maybe)) << toString(maybe.takeError());
  EXPECT_EQ((*maybe)->tensors.size(), 2u);

  write("\x0b");
  EXPECT_THAT(toString(readTestValue(path, tensorType).takeError()),
              HasSubstr("expected a protobuf field at byte 0"));
  EXPECT_THAT(toString(readTestValue(path, Type()).takeError()),
              HasSubstr("expected the data of a tensor, a sequence of tensors "
                        "or an optional of these, got those of another type"));
  EXPECT_FALSE(sys::fs::remove(path));
  EXPECT_THAT(toString(readTestValue(path, tensorType).takeError()),
              HasSubstr("cannot read the file"));
  EXPECT_THAT(toString(readModel(path).takeError()),
              HasSubstr("cannot read the file"));
}

//===----------------------------------------------------------------------===//
// Hostile bytes
//===----------------------------------------------------------------------===//

/// Touches everything that a model points to.
size_t sum(const Model &model) {
  size_t total = 0;
  for (const Node &node : model.graph.nodes) {
    total += node.name.size() + node.opType.size();
    for (StringRef input : node.inputs)
      total += input.count('x');
    for (const Attribute &attribute : node.attributes)
      if (attribute.tensor && !attribute.tensor->data.empty())
        total += attribute.tensor->data.back();
  }
  for (const Tensor &tensor : model.graph.initializers)
    for (uint8_t byte : tensor.data)
      total += byte;
  return total;
}

TEST(OnnxModel, SurvivesBeingCutAnywhere) {
  std::string text = sample();
  unsigned read = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    // A copy of exactly this size, so that a sanitizer sees a read past it.
    Expected<std::unique_ptr<Model>> model =
        parse(StringRef(text).take_front(size));
    if (model) {
      ++read;
      sum(**model);
    } else {
      consumeError(model.takeError());
    }
  }
  // Only a cut between two fields of the outermost message leaves a model.
  EXPECT_LE(read, 3u);
}

TEST(OnnxModel, SurvivesChangedBytes) {
  std::string good = sample();
  unsigned accepted = 0, refused = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::string text = good;
    for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] ^= 1 << random() % 8;
        break;
      case 2:
        text.erase(at, 1 + random() % 4);
        break;
      case 3:
        text.insert(at, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", random() % 10);
        break;
      }
    }
    Expected<std::unique_ptr<Model>> model = parse(text);
    ++(model ? accepted : refused);
    if (model)
      sum(**model);
    else
      consumeError(model.takeError());
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

} // namespace

//===- SafetensorsTest.cpp - the reader, with files that lie --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files are made here from a header and a number of data bytes. Each way in
// which a file can lie has a test with the text of its message.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/Safetensors.h"
#include "attn/Support/Problems.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace llvm;
using testing::ElementsAre;

namespace {

std::string fileBytes(StringRef header, uint64_t dataBytes,
                      std::optional<uint64_t> headerBytes = std::nullopt) {
  uint64_t size = headerBytes.value_or(header.size());
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i)
    bytes.push_back(static_cast<char>(size >> (8 * i)));
  bytes += header;
  for (uint64_t i = 0; i < dataBytes; ++i)
    bytes.push_back(static_cast<char>(i));
  return bytes;
}

Expected<SafetensorsFile> parse(StringRef bytes) {
  return SafetensorsFile::parse(
      MemoryBuffer::getMemBufferCopy(bytes, "m.safetensors"));
}

/// The messages that parsing gives; empty if it succeeds.
std::vector<std::string> problems(Expected<SafetensorsFile> file) {
  std::vector<std::string> texts;
  if (!file)
    forEachProblem(file.takeError(),
                   [&](StringRef text) { texts.push_back(text.str()); });
  return texts;
}
std::vector<std::string> problems(StringRef header, uint64_t dataBytes) {
  return problems(parse(fileBytes(header, dataBytes)));
}
std::vector<std::string> problems(Expected<SafetensorsModel> model) {
  std::vector<std::string> texts;
  if (!model)
    forEachProblem(model.takeError(),
                   [&](StringRef text) { texts.push_back(text.str()); });
  return texts;
}

TEST(Safetensors, ReadsTensors) {
  Expected<SafetensorsFile> file = parse(fileBytes(
      R"({"__metadata__":{"format":"pt"},)"
      R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
      R"("a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},)"
      R"("scalar":{"dtype":"U8","shape":[],"data_offsets":[28,29]},)"
      R"("empty":{"dtype":"F64","shape":[0,9],"data_offsets":[4,4]}}  )",
      29));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  ASSERT_EQ(file->tensors().size(), 4u);
  const SafetensorsTensor *b = file->lookup("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(describe(*b), "F32 (2, 3)");
  EXPECT_EQ(b->numElements(), 6u);
  EXPECT_EQ(file->data(*b).front(), 4);
  EXPECT_EQ(file->data(*b).size(), 24u);
  EXPECT_EQ(describe(*file->lookup("scalar")), "U8 ()");
  EXPECT_EQ(file->lookup("scalar")->numElements(), 1u);
  EXPECT_TRUE(file->data(*file->lookup("empty")).empty());
  EXPECT_EQ(file->lookup("c"), nullptr);
}

TEST(Safetensors, ConvertsToFloat) {
  std::string bytes =
      fileBytes(R"({"h":{"dtype":"F16","shape":[5],"data_offsets":[0,10]},)"
                R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[10,12]},)"
                R"("d":{"dtype":"F64","shape":[1],"data_offsets":[12,20]},)"
                R"("i":{"dtype":"I64","shape":[1],"data_offsets":[20,28]}})",
                0);
  const char data[] = "\x00\x3c"                          // 1
                      "\x00\xc0"                          // -2
                      "\x01\x00"                          // 2^-24
                      "\x00\xfc"                          // -inf
                      "\x01\x7e"                          // NaN
                      "\x80\xbf"                          // -1
                      "\x00\x00\x00\x00\x00\x00\xe0\x3f"; // 0.5
  bytes.append(data, 20);
  bytes.append(8, '\0');
  Expected<SafetensorsFile> file = parse(bytes);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  float half[5], one[1];
  ASSERT_FALSE(readFloats(*file, *file->lookup("h"), 0, half));
  EXPECT_EQ(half[0], 1.0f);
  EXPECT_EQ(half[1], -2.0f);
  EXPECT_EQ(half[2], std::ldexp(1.0f, -24));
  EXPECT_EQ(half[3], -INFINITY);
  EXPECT_TRUE(std::isnan(half[4]));
  ASSERT_FALSE(readFloats(*file, *file->lookup("h"), 1, one));
  EXPECT_EQ(one[0], -2.0f);
  ASSERT_FALSE(readFloats(*file, *file->lookup("b"), 0, one));
  EXPECT_EQ(one[0], -1.0f);
  ASSERT_FALSE(readFloats(*file, *file->lookup("d"), 0, one));
  EXPECT_EQ(one[0], 0.5f);
  EXPECT_EQ(toString(readFloats(*file, *file->lookup("i"), 0, one)),
            "m.safetensors: tensor \"i\": expected F16, BF16, F32 or F64 data, "
            "got I64");
  EXPECT_EQ(toString(readFloats(*file, *file->lookup("h"), 5, one)),
            "m.safetensors: tensor \"h\": expected 5 + 1 elements, got 5");
}

TEST(Safetensors, HeaderExtent) {
  EXPECT_THAT(problems(parse("abc")),
              ElementsAre("m.safetensors: expected a safetensors file, which "
                          "begins with an 8 byte header size, got 3 bytes in "
                          "all"));
  EXPECT_THAT(
      problems(parse(fileBytes("{}", 0, UINT64_MAX))),
      ElementsAre("m.safetensors: expected a header of at most 2 bytes "
                  "(because the file has 10), got a header size of "
                  "18446744073709551615: the file is cut off or is not a "
                  "safetensors file"));
  EXPECT_THAT(problems(parse(fileBytes(std::string(100'000'001, ' '), 0))),
              ElementsAre("m.safetensors: expected a header of at most "
                          "100000000 bytes (because the format limits it), got "
                          "100000001"));
}

TEST(Safetensors, HeaderText) {
  EXPECT_THAT(problems("[1]", 0),
              ElementsAre("m.safetensors: header: expected a JSON object, got "
                          "an array"));
  EXPECT_THAT(problems("{\"a\":}", 0),
              ElementsAre("m.safetensors: header: expected JSON: [1:6, byte=6]:"
                          " Invalid JSON value"));
  EXPECT_THAT(problems(std::string(1'000'000, '['), 0),
              ElementsAre("m.safetensors: header: expected JSON nested at most "
                          "64 deep, got more at byte 64"));
  EXPECT_THAT(
      problems(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
               R"("\u0061":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
               1),
      ElementsAre("m.safetensors: header: expected each JSON key once, got "
                  "\"a\" twice"));
  EXPECT_THAT(problems(R"({"__metadata__":{"n":1}})", 0),
              ElementsAre("m.safetensors: expected __metadata__ to map strings "
                          "to strings, got {\"n\":1}"));
}

TEST(Safetensors, TensorEntriesAllAtOnce) {
  EXPECT_THAT(
      problems(R"({"a":7,)"
               R"("b":{"dtype":"F3","shape":[1.5],"data_offsets":[0]},)"
               R"("c":{"dtype":"F32","shape":[-1],"data_offsets":[4,0]},)"
               R"("d":{"dtype":"F32","shape":[2],"data_offsets":[0,4]},)"
               R"("e":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
               R"("f":{}})",
               8),
      ElementsAre(
          "m.safetensors: tensor \"a\": expected an object with dtype, shape "
          "and data_offsets, got 7",
          "m.safetensors: tensor \"b\": expected a dtype of BOOL, U8, I8, "
          "F8_E5M2, F8_E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64, "
          "U64, got \"F3\"",
          "m.safetensors: tensor \"b\": expected a shape of non-negative "
          "integers, got [1.5]",
          "m.safetensors: tensor \"b\": expected data_offsets [begin, end] "
          "with begin <= end, got [0]",
          "m.safetensors: tensor \"c\": expected a shape of non-negative "
          "integers, got [-1]",
          "m.safetensors: tensor \"c\": expected data_offsets [begin, end] "
          "with begin <= end, got [4,0]",
          "m.safetensors: tensor \"d\": expected 8 bytes (because it is F32 "
          "(2)), got 4 in data_offsets [0, 4]",
          "m.safetensors: tensor \"e\": expected data_offsets of at most 8 "
          "(because the file has 8 bytes of data), got [8, 12]",
          "m.safetensors: tensor \"f\": expected a dtype of BOOL, U8, I8, "
          "F8_E5M2, F8_E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64, "
          "U64, got nothing",
          "m.safetensors: tensor \"f\": expected a shape of non-negative "
          "integers, got nothing",
          "m.safetensors: tensor \"f\": expected data_offsets [begin, end] "
          "with begin <= end, got nothing"));
}

TEST(Safetensors, SizesThatOverflow) {
  EXPECT_THAT(
      problems(R"({"a":{"dtype":"F32","shape":[4611686018427387904,2],)"
               R"("data_offsets":[0,0]}})",
               0),
      ElementsAre("m.safetensors: tensor \"a\": expected more than 2^64 bytes "
                  "(because it is F32 (4611686018427387904, 2)), got 0 in "
                  "data_offsets [0, 0]"));
  // 2^62 * 4 bytes wraps to zero.
  EXPECT_THAT(
      problems(R"({"a":{"dtype":"F32","shape":[4611686018427387904],)"
               R"("data_offsets":[0,0]}})",
               0),
      ElementsAre("m.safetensors: tensor \"a\": expected more than 2^64 bytes "
                  "(because it is F32 (4611686018427387904)), got 0 in "
                  "data_offsets [0, 0]"));
  EXPECT_THAT(
      problems(
          R"({"a":{"dtype":"U8","shape":[1],)"
          R"("data_offsets":[18446744073709551615,18446744073709551616]}})",
          0),
      ElementsAre("m.safetensors: tensor \"a\": expected data_offsets [begin, "
                  "end] with begin <= end, got "
                  "[18446744073709551615,1.8446744073709552e+19]"));
  // Zero elements, whatever the other sizes are.
  EXPECT_THAT(problems(R"({"a":{"dtype":"F32","shape":[0,4611686018427387904],)"
                       R"("data_offsets":[0,0]}})",
                       0),
              ElementsAre());
}

TEST(Safetensors, CoverageOfTheData) {
  EXPECT_THAT(
      problems(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]},)"
               R"("c":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})",
               10),
      ElementsAre("m.safetensors: tensor \"b\": expected data that begin at "
                  "byte 4 or later (because tensor \"a\" ends there), got 2",
                  "m.safetensors: expected a tensor for bytes [6, 8) of the "
                  "data (because tensors leave no holes), got none before "
                  "tensor \"c\"",
                  "m.safetensors: expected the tensors to end with the file at "
                  "byte 10 of the data, got an end at byte 9"));
  EXPECT_THAT(problems("{}", 1),
              ElementsAre("m.safetensors: expected the tensors to end with the "
                          "file at byte 1 of the data, got an end at byte 0"));
}

TEST(Safetensors, ManyProblemsAreCounted) {
  std::string header = "{";
  for (unsigned i = 0; i < 1010; ++i)
    header += (i ? ",\"t" : "\"t") + std::to_string(i) + "\":0";
  std::vector<std::string> texts = problems(header + "}", 0);
  ASSERT_EQ(texts.size(), 1001u);
  EXPECT_EQ(texts.back(), "m.safetensors: and 10 more problems");
}

TEST(Safetensors, NamesAreEscaped) {
  EXPECT_THAT(problems("{\"a\\n\\u001b[31m\":0}", 0),
              ElementsAre("m.safetensors: tensor \"a\\0A\\1B[31m\": expected "
                          "an object with dtype, shape and data_offsets, got "
                          "0"));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  std::string bytes =
      fileBytes(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(problems(parse(StringRef(bytes).take_front(size))).empty())
        << size;
  EXPECT_TRUE(problems(parse(bytes)).empty());
}

TEST(Safetensors, InvalidFiles) {
  std::string data = ATTN_TEST_DATA "/invalid/";
  std::string path = data + "safetensors-header-too-long/model.safetensors";
  EXPECT_THAT(problems(SafetensorsFile::open(path)),
              ElementsAre(path +
                          ": expected a header of at most 119672 bytes "
                          "(because the file has 119680), got a header "
                          "size of 1099511627776: the file is cut off or "
                          "is not a safetensors file"));
  path = data + "safetensors-out-of-bounds/model.safetensors";
  EXPECT_THAT(problems(SafetensorsFile::open(path)),
              ElementsAre(path +
                          ": tensor \"model.layers.1.mlp.up_proj.weight\": "
                          "expected data_offsets of at most 117376 (because "
                          "the file has 117376 bytes of data), got "
                          "[1000094592, 1000104832]"));
  EXPECT_THAT(problems(SafetensorsFile::open(data + "none")),
              ElementsAre(data + "none: cannot read the file: No such file or "
                                 "directory"));
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

TEST(SafetensorsModel, OneFileAndShards) {
  Expected<SafetensorsModel> one =
      SafetensorsModel::open(ATTN_TEST_DATA "/hf/bert");
  ASSERT_TRUE(bool(one)) << toString(one.takeError());
  Expected<SafetensorsModel> many =
      SafetensorsModel::open(ATTN_TEST_DATA "/hf/bert-sharded");
  ASSERT_TRUE(bool(many)) << toString(many.takeError());
  ASSERT_EQ(one->entries().size(), many->entries().size());
  for (const SafetensorsModel::Entry &entry : many->entries()) {
    const SafetensorsModel::Entry *other = one->lookup(entry.tensor->name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(describe(*entry.tensor), describe(*other->tensor));
    EXPECT_EQ(other->fileName, "model.safetensors");
  }
  EXPECT_EQ(many->lookup("pooler.dense.bias")->fileName,
            "model-00004-of-00004.safetensors");
  EXPECT_EQ(many->lookup("pooler.dense"), nullptr);
}

/// A folder that is removed at the end.
class Folder {
public:
  Folder() {
    EXPECT_FALSE(sys::fs::createUniqueDirectory("attn-import", path));
  }
  ~Folder() { EXPECT_FALSE(sys::fs::remove_directories(path)); }
  void write(StringRef name, StringRef text) {
    SmallString<128> file(path);
    sys::path::append(file, name);
    std::error_code code;
    raw_fd_ostream(file, code) << text;
  }
  std::string str() const { return path.str().str(); }

private:
  SmallString<128> path;
};

TEST(SafetensorsModel, IndexAgainstFiles) {
  Folder folder;
  folder.write("a.safetensors",
               fileBytes(R"({"x":{"dtype":"U8","shape":[1],)"
                         R"("data_offsets":[0,1]},"y":{"dtype":"U8",)"
                         R"("shape":[1],"data_offsets":[1,2]}})",
                         2));
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"x":"a.safetensors","z":"a.safetensors",)"
               R"("w":"b.safetensors"}})");
  std::string index = folder.str() + "/model.safetensors.index.json";
  EXPECT_THAT(
      problems(SafetensorsModel::open(folder.str())),
      ElementsAre(index + ": expected tensor \"z\" in a.safetensors, got a "
                          "file without it",
                  index + ": expected every tensor of a.safetensors to be "
                          "listed for that file, got none for \"y\"",
                  folder.str() + "/b.safetensors: cannot read the file: No "
                                 "such file or directory"));
}

TEST(SafetensorsModel, IndexStaysInItsFolder) {
  Folder folder;
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"../a.safetensors","b":"/etc/passwd",)"
               R"("c":"..","d":3}})");
  std::string index = folder.str() + "/model.safetensors.index.json: ";
  std::string expected = "expected the name of a file of the same folder, got ";
  EXPECT_THAT(
      problems(SafetensorsModel::open(folder.str())),
      ElementsAre(index + "tensor \"a\": " + expected + "\"../a.safetensors\"",
                  index + "tensor \"b\": " + expected + "\"/etc/passwd\"",
                  index + "tensor \"c\": " + expected + "\"..\"",
                  index + "tensor \"d\": " + expected + "3"));
  folder.write("model.safetensors.index.json", "{\"weight_map\":3}");
  EXPECT_THAT(problems(SafetensorsModel::open(folder.str())),
              ElementsAre(index + "expected an object weight_map that maps "
                                  "tensors to files, got 3"));
}

TEST(SafetensorsModel, FolderWithoutWeights) {
  Folder folder;
  EXPECT_THAT(
      problems(SafetensorsModel::open(folder.str())),
      ElementsAre(folder.str() +
                  ": expected model.safetensors or "
                  "model.safetensors.index.json in the folder, got neither: "
                  "convert other weight formats with the safetensors package"));
}

} // namespace

//===- NpzTest.cpp - reading and writing .npz -----------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the writer writes the reader reads; what NumPy wrote is read too. Each
// damage to an archive is found.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Npz.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace attn;
using namespace llvm;
using testing::ElementsAre;

namespace {

NpyArray makeArray(StringRef name, NpyType type, ArrayRef<int64_t> shape) {
  NpyArray array;
  array.name = name.str();
  array.type = type;
  array.shape.assign(shape.begin(), shape.end());
  uint64_t bytes = npyTypeBytes(type);
  for (int64_t size : shape)
    bytes *= size;
  for (uint64_t i = 0; i < bytes; ++i)
    array.data.push_back(type == NpyType::Bool ? i % 2 : i * 7);
  return array;
}

std::string written(ArrayRef<NpyArray> arrays) {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createTemporaryFile("attn", "npz", path));
  EXPECT_FALSE(writeNpz(path, arrays));
  std::string bytes = (*MemoryBuffer::getFile(path))->getBuffer().str();
  EXPECT_FALSE(sys::fs::remove(path));
  return bytes;
}

std::vector<std::string> problems(StringRef bytes) {
  std::vector<std::string> texts;
  Expected<std::vector<NpyArray>> arrays = parseNpz(bytes, "f.npz");
  if (!arrays)
    forEachProblem(arrays.takeError(),
                   [&](StringRef text) { texts.push_back(text.str()); });
  return texts;
}

/// An archive whose only member `x` has the given .npy header and data.
std::string archiveOf(StringRef header, StringRef data, uint8_t version = 1) {
  NpyArray array = makeArray("x", NpyType::U8, {});
  std::string npy("\x93NUMPY", 6);
  npy += {static_cast<char>(version), '\0', static_cast<char>(header.size()),
          '\0'};
  npy += header;
  npy += data;
  // Takes an archive of a .npy that is as long and puts the bytes in.
  uint64_t pad = 128; // Header of a one-dimensional u8 array.
  EXPECT_GE(npy.size(), pad);
  array.shape = {static_cast<int64_t>(npy.size() - pad)};
  array.data.resize(npy.size() - pad);
  std::string bytes = written(array);
  size_t begin = bytes.find("\x93NUMPY");
  bytes.replace(begin, npy.size(), npy);
  uint32_t crc = crc32(arrayRefFromStringRef(npy));
  for (size_t at : {size_t(14), bytes.rfind("PK\x01\x02") + 16})
    for (unsigned i = 0; i < 4; ++i)
      bytes[at + i] = static_cast<char>(crc >> (8 * i));
  return bytes;
}

std::string padded(StringRef header) {
  return header.str() + std::string(200 - header.size(), ' ');
}

TEST(Npz, RoundTrip) {
  NpyArray arrays[] = {makeArray("in.a", NpyType::F32, {2, 3}),
                       makeArray("b", NpyType::F64, {}),
                       makeArray("c", NpyType::I64, {4}),
                       makeArray("d", NpyType::I32, {1, 2, 1, 2}),
                       makeArray("e", NpyType::Bool, {3}),
                       makeArray("f", NpyType::U8, {0, 5}),
                       makeArray("g", NpyType::F16, {3}),
                       makeArray("h", NpyType::BF16, {2, 2})};
  std::string bytes = written(arrays);
  Expected<std::vector<NpyArray>> read = parseNpz(bytes, "f.npz");
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  ASSERT_EQ(read->size(), std::size(arrays));
  for (size_t i = 0; i < read->size(); ++i) {
    EXPECT_EQ((*read)[i].name, arrays[i].name);
    EXPECT_EQ((*read)[i].type, arrays[i].type);
    EXPECT_EQ((*read)[i].shape, arrays[i].shape);
    EXPECT_EQ((*read)[i].data, arrays[i].data);
  }
  EXPECT_EQ(bytes, written(arrays));
}

TEST(Npz, ReadsWhatNumPyWrote) {
  Expected<std::vector<NpyArray>> arrays =
      readNpz(ATTN_TEST_DATA "/hf/bert/cases/b2_s13_leftpad4.npz");
  ASSERT_TRUE(bool(arrays)) << toString(arrays.takeError());
  std::vector<std::string> texts;
  for (const NpyArray &array : *arrays) {
    texts.push_back(array.name + " " + npyTypeName(array.type).str());
    for (int64_t size : array.shape)
      texts.back() += " " + std::to_string(size);
  }
  EXPECT_THAT(texts,
              ElementsAre("in.input_ids i64 2 13", "in.attention_mask i64 2 13",
                          "in.token_type_ids i64 2 13",
                          "out.last_hidden_state f32 2 13 48",
                          "out.pooler_output f32 2 48"));
}

TEST(Npz, NotAnArchive) {
  EXPECT_THAT(problems("hello"),
              ElementsAre("f.npz: expected a .npz file (a zip archive), got "
                          "other data or a file that is cut off"));
}

TEST(Npz, EveryTruncationAndFlippedByteIsSafe) {
  std::string bytes = written(makeArray("x", NpyType::F32, {2}));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(problems(StringRef(bytes).take_front(size)).empty()) << size;
  // Some bytes are not read (times); the others give errors. None may crash.
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] ^= flip;
      problems(damaged);
    }
}

TEST(Npz, DamagedData) {
  std::string bytes = written(makeArray("x", NpyType::F32, {2}));
  bytes[bytes.find("PK\x01\x02") - 1] ^= 1;
  EXPECT_THAT(problems(bytes),
              ElementsAre("f.npz: member \"x.npy\": expected data with the CRC "
                          "that the archive states, got other data: the file "
                          "is damaged"));
}

TEST(Npz, Compressed) {
  std::string bytes = written(makeArray("x", NpyType::F32, {2}));
  bytes[bytes.find("PK\x01\x02") + 10] = 8;
  EXPECT_THAT(problems(bytes),
              ElementsAre("f.npz: member \"x.npy\": expected stored data, got "
                          "compression method 8: save it with numpy.savez, not "
                          "numpy.savez_compressed"));
}

TEST(Npz, OffsetPastTheEnd) {
  std::string bytes = written(makeArray("x", NpyType::F32, {2}));
  bytes[bytes.find("PK\x01\x02") + 45] = 0x7f;
  EXPECT_THAT(problems(bytes),
              ElementsAre("f.npz: member \"x.npy\": expected its data inside "
                          "the 244 bytes of the file, got offset 2130706432 "
                          "and size 136: the file is damaged"));
}

TEST(Npz, CountsThatAreWrong) {
  std::string bytes = written(makeArray("x", NpyType::F32, {2}));
  size_t end = bytes.rfind("PK\x05\x06");
  bytes[end + 10] = 2;
  EXPECT_THAT(problems(bytes),
              ElementsAre("f.npz: expected 2 entries in the archive's "
                          "directory, got 1: the file is damaged"));
  bytes[end + 10] = bytes[end + 11] = '\xff';
  EXPECT_THAT(problems(bytes),
              ElementsAre("f.npz: expected an archive of less than 4 GiB and "
                          "65535 arrays, got a larger one"));
}

TEST(Npz, ArchivesThatCannotBeWritten) {
  NpyArray array = makeArray("x", NpyType::U8, {0});
  EXPECT_EQ(toString(writeNpz("none/f.npz", array)),
            "none/f.npz: cannot write the file: No such file or directory");
  std::vector<NpyArray> many(65535, array);
  EXPECT_EQ(toString(writeNpz("none/f.npz", many)),
            "none/f.npz: expected less than 4 GiB and 65535 arrays (because a "
            ".npz without extensions holds no more), got more");
}

TEST(Npz, TypesThatNumPyDoesNotHave) {
  NpyArray array;
  array.name = "a";
  array.type = NpyType::F8E5M2;
  EXPECT_EQ(toString(writeNpz("f.npz", array)),
            "f.npz: expected types that NumPy has, got f8e5m2 in array \"a\"");
}

TEST(Npz, ElementsOfEveryType) {
  for (unsigned i = 0; i <= static_cast<unsigned>(NpyType::F4E2M1FN); ++i) {
    NpyArray array;
    array.type = static_cast<NpyType>(i);
    array.data.resize(2 * npyTypeBytes(array.type));
    setNpyElement(array, 1, 1);
    EXPECT_EQ(npyElement(array, 0), 0) << i;
    EXPECT_EQ(npyElement(array, 1), 1) << i;
    EXPECT_EQ(npyTypeNamed(npyTypeName(array.type)), array.type);
    if (array.type == NpyType::Bool || array.type == NpyType::U8)
      continue;
    setNpyElement(array, 0, -2);
    EXPECT_EQ(npyElement(array, 0), -2) << i;
    EXPECT_EQ(npyElement(array, 1), 1) << i;
  }
  EXPECT_EQ(npyTypeNamed("f7"), std::nullopt);
}

/// Rounding to nearest, ties to even.
TEST(Npz, ElementsOf16Bits) {
  struct {
    NpyType type;
    double value, stored;
  } cases[] = {
      {NpyType::F16, 0x1.002p0, 1.0},     {NpyType::F16, 0x1.006p0, 0x1.008p0},
      {NpyType::F16, 0x1.8p-25, 0x1p-24}, // Not normal.
      {NpyType::F16, 65519.0, 65504.0},   {NpyType::F16, 65520.0, INFINITY},
      {NpyType::BF16, 0x1.01p0, 1.0},     {NpyType::BF16, 0x1.03p0, 0x1.04p0},
      {NpyType::BF16, -1e30, -0x1.94p99},
  };
  for (auto [type, value, stored] : cases) {
    NpyArray array = makeArray("x", type, {2});
    setNpyElement(array, 1, value);
    EXPECT_EQ(npyElement(array, 1), stored) << npyTypeName(type).str();
  }
  for (NpyType type : {NpyType::F16, NpyType::BF16, NpyType::F32}) {
    NpyArray array = makeArray("x", type, {1});
    setNpyElement(array, 0, NAN);
    EXPECT_TRUE(std::isnan(npyElement(array, 0)));
    double unit = npyRoundoff(type);
    setNpyElement(array, 0, 1.0 + unit);
    EXPECT_EQ(npyElement(array, 0), 1.0);
    setNpyElement(array, 0, 1.0 + 2 * unit);
    EXPECT_EQ(npyElement(array, 0), 1.0 + 2 * unit);
  }
}

/// A bf16 is two bytes of no type to NumPy.
TEST(Npz, ReadsBrainFloats) {
  for (const char *descr : {"|V2", "<V2"}) {
    std::string bytes =
        archiveOf(padded(std::string("{'descr': '") + descr +
                         "', 'fortran_order': False, 'shape': (1,)}"),
                  llvm::StringRef("\x80\x3f", 2));
    Expected<std::vector<NpyArray>> read = parseNpz(bytes, "f.npz");
    ASSERT_TRUE(bool(read)) << toString(read.takeError());
    EXPECT_EQ(npyElement(read->front(), 0), 1.0);
  }
}

TEST(Npz, SameNameTwice) {
  NpyArray array = makeArray("x", NpyType::F32, {2});
  EXPECT_THAT(problems(written({array, array})),
              ElementsAre("f.npz: expected each array once, got \"x\" twice"));
}

TEST(Npz, ArraysThatAreRefused) {
  EXPECT_THAT(
      problems(archiveOf(padded("{'descr': '<c8', 'fortran_order': False, "
                                "'shape': (1,)}"),
                         "ab")),
      ElementsAre("f.npz: array \"x\": expected an element type of <f4, <f8, "
                  "<i4, <i8, |b1, |u1, <f2, |i1, <i2, |V2, got \"<c8\": "
                  "convert it with "
                  "numpy's "
                  "astype"));
  EXPECT_THAT(
      problems(archiveOf(padded("{'descr': '<f4', 'fortran_order': True, "
                                "'shape': (1, 1), }"),
                         "abcd")),
      ElementsAre("f.npz: array \"x\": expected C order, got Fortran order: "
                  "save numpy.ascontiguousarray of it"));
  EXPECT_THAT(
      problems(archiveOf(padded("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (2, 1), }"),
                         "abcd")),
      ElementsAre("f.npz: array \"x\": expected 8 bytes of data (because it is "
                  "f32 (2, 1)), got 4"));
  EXPECT_THAT(
      problems(
          archiveOf(padded("{'descr': '<f4', 'fortran_order': False, 'shape': "
                           "(4611686018427387904, 4), }"),
                    "")),
      ElementsAre("f.npz: array \"x\": expected more than 2^64 bytes of data "
                  "(because it is f32 (4611686018427387904, 4)), got 0"));
  EXPECT_THAT(
      problems(archiveOf(padded("{'descr': [('a', '<f4')], 'shape': (1,)}"),
                         "abcd")),
      ElementsAre("f.npz: array \"x\": expected a header with descr, "
                  "fortran_order and shape, got \"{'descr': [('a', '<f4')], "
                  "'shape': (1,)}\""));
  EXPECT_THAT(problems(archiveOf(padded("{}"), "", 4)),
              ElementsAre("f.npz: array \"x\": expected .npy version 1, 2 or "
                          "3, got 4"));
}

} // namespace

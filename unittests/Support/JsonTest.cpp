//===- JsonTest.cpp - limits on JSON from untrusted files -----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Depth, equal keys, and what messages print.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace llvm;

namespace {

std::string failure(StringRef text) {
  Expected<json::Value> value = parseJson(text, "f");
  return value ? "" : toString(value.takeError());
}

TEST(Json, Depth) {
  std::string open(64, '['), close(64, ']');
  EXPECT_EQ(failure(open + close), "");
  EXPECT_EQ(failure("[" + open + close + "]"),
            "f: expected JSON nested at most 64 deep, got more at byte 64");
  // Brackets in strings do not count.
  EXPECT_EQ(failure("\"" + open + open + "\\\"" + open + "\""), "");
}

TEST(Json, EqualKeys) {
  EXPECT_EQ(failure(R"({"a":{"a":1},"b":["a","a"],"c":"a"})"), "");
  EXPECT_EQ(failure(R"({"x":{"a":1,"a" : 2}})"),
            "f: expected each JSON key once, got \"a\" twice");
}

TEST(Json, Grammar) {
  EXPECT_EQ(failure("{\"a"), "f: expected JSON: [1:3, byte=3]: Unterminated "
                             "string");
  EXPECT_EQ(failure("\"\xff\""),
            "f: expected JSON: [1:1, byte=1]: Invalid UTF-8 sequence");
}

TEST(Json, FilesThatAreTooLarge) {
  SmallString<128> path;
  int descriptor;
  ASSERT_FALSE(sys::fs::createTemporaryFile("attn", "json", descriptor, path));
  ASSERT_FALSE(sys::fs::resize_file(descriptor, 100'000'001));
  Expected<json::Value> value = readJsonFile(path);
  EXPECT_EQ(value ? "" : toString(value.takeError()),
            path.str().str() + ": expected at most 100000000 bytes of JSON, "
                               "got 100000001");
  EXPECT_FALSE(sys::fs::remove(path));
}

TEST(Json, Printing) {
  EXPECT_EQ(describeJson(json::Value(1.5)), "a number");
  EXPECT_EQ(describeJson(json::Value(2)), "an integer");
  EXPECT_EQ(describeJson(json::Value(nullptr)), "null");
  EXPECT_EQ(printJson(std::string(100, 'a')),
            "\"" + std::string(56, 'a') + "...");
  EXPECT_EQ(quoteName("a\n\"b\xc3\xa9"), "\"a\\0A\\22b\\C3\\A9\"");
}

} // namespace

//===- WeightResolverTest.cpp - recipes give data ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WeightTest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fstream>

using namespace attn;
using testing::ElementsAre;

namespace {

struct Resolver : WeightTest {
  llvm::SmallString<128> folder;

  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("attn-weights", folder));
  }
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  }

  /// Writes a safetensors file of header and data.
  void write(const std::string &header, const std::string &data) {
    std::ofstream file(folder.str().str() + "/m.safetensors", std::ios::binary);
    uint64_t size = header.size();
    file.write(reinterpret_cast<const char *>(&size), 8);
    file << header << data;
  }

  template <typename T> std::vector<T> get(llvm::StringRef name) {
    WeightResolver resolver(*module, folder);
    mlir::FailureOr<std::vector<char>> data =
        resolver.materialize(weight(name));
    EXPECT_TRUE(succeeded(data)) << testing::PrintToString(messages);
    return succeeded(data) ? elements<T>(*data) : std::vector<T>();
  }

  void expectRefused(llvm::StringRef name, const std::string &message) {
    WeightResolver resolver(*module, folder);
    EXPECT_TRUE(failed(resolver.check(weight(name))));
    ASSERT_FALSE(messages.empty());
    std::string got = messages.front();
    // The folder has another name each time.
    for (size_t at; (at = got.find(folder.str())) != std::string::npos;)
      got.replace(at, folder.size(), "FOLDER");
    EXPECT_EQ(got, message);
  }
};

TEST_F(Resolver, GivesValues) {
  parse(R"(
    attn.weight @f value<dense<[1.0, 2.5]> : tensor<2xf32>> : tensor<2xf32>
    attn.weight @splat value<dense<7> : tensor<3xi64>> : tensor<3xi64>
    attn.weight @bits value<dense<[true, false, true]> : tensor<3xi1>>
      : tensor<3xi1>)");
  EXPECT_THAT(get<float>("f"), ElementsAre(1, 2.5));
  EXPECT_THAT(get<int64_t>("splat"), ElementsAre(7, 7, 7));
  EXPECT_THAT(get<char>("bits"), ElementsAre(1, 0, 1));
}

TEST_F(Resolver, ReadsBytesOfAFile) {
  write("ab", std::string("\1\0\2\0\3\0\1\0", 8)); // From byte 10 on.
  parse(R"(
    attn.weight @shorts bytes<"m.safetensors", offset = 10> : tensor<3xi16>
    attn.weight @bits bytes<"m.safetensors", offset = 16> : tensor<2xi1>
    attn.weight @joined concat<[@shorts, @shorts], axis = 0> : tensor<6xi16>)");
  EXPECT_THAT(get<int16_t>("shorts"), ElementsAre(1, 2, 3));
  EXPECT_THAT(get<char>("bits"), ElementsAre(1, 0));
  EXPECT_THAT(get<int16_t>("joined"), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST_F(Resolver, RefusesBytesThatAreNotThere) {
  write("ab", "12345678");
  parse(R"(
    attn.weight @long bytes<"m.safetensors", offset = 10> : tensor<5xi16>
    attn.weight @far bytes<"m.safetensors", offset = 9223372036854775807> : tensor<1xi8>
    attn.weight @none bytes<"none.onnx", offset = 0> : tensor<1xi8>)");
  expectRefused("long", "expected 10 bytes at offset 10 of 'm.safetensors' "
                        "(because @long is 'tensor<5xi16>'), got a file of 18");
  messages.clear();
  expectRefused("far",
                "expected 1 bytes at offset 9223372036854775807 of "
                "'m.safetensors' (because @far is 'tensor<1xi8>'), got a file "
                "of 18");
  messages.clear();
  expectRefused("none",
                "cannot read 'FOLDER/none.onnx': No such file or directory");
}

TEST_F(Resolver, JoinsAlongEachAxis) {
  parse(R"(
    attn.weight @a value<dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>> : tensor<2x2xi32>
    attn.weight @b value<dense<[[5, 6]]> : tensor<1x2xi32>> : tensor<1x2xi32>
    attn.weight @c value<dense<[[7], [8]]> : tensor<2x1xi32>> : tensor<2x1xi32>
    attn.weight @rows concat<[@a, @b], axis = 0> : tensor<3x2xi32>
    attn.weight @columns concat<[@c, @a, @c], axis = 1> : tensor<2x4xi32>)");
  EXPECT_THAT(get<int32_t>("rows"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(get<int32_t>("columns"), ElementsAre(7, 1, 2, 7, 8, 3, 4, 8));
}

TEST_F(Resolver, PacksPanelsOfJoinedRows) {
  parse(R"(
    attn.weight @a value<dense<[[1.0, 2.0]]> : tensor<1x2xf32>> : tensor<1x2xf32>
    attn.weight @b value<dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>> : tensor<2x2xf32>
    attn.weight @ab concat<[@a, @b], axis = 0> : tensor<3x2xf32>
    attn.weight @panels pack<@ab, panel = 2> : tensor<2x2x2xf32>)");
  EXPECT_THAT(get<float>("panels"), ElementsAre(1, 3, 2, 4, 5, 0, 6, 0));
}

TEST_F(Resolver, ConvertsHalfPrecisionFiles) {
  // 1, -2 in f16; 1, 3 in bf16
  write(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
        R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}})",
        std::string("\x00\x3c\x00\xc0\x80\x3f\x40\x40", 8));
  parse(R"(
    attn.weight @h source<"m.safetensors", "h"> : tensor<2xf32>
    attn.weight @b source<"m.safetensors", "b"> : tensor<2xf32>)");
  EXPECT_THAT(get<float>("h"), ElementsAre(1, -2));
  EXPECT_THAT(get<float>("b"), ElementsAre(1, 3));
}

TEST_F(Resolver, StreamsInChunks) {
  parse(R"(attn.weight @big value<dense<1.5> : tensor<300000xf32>>
             : tensor<300000xf32>)");
  WeightResolver resolver(*module, folder);
  ASSERT_TRUE(succeeded(resolver.check(weight("big"))));
  size_t total = 0, largest = 0;
  auto sink = [&](llvm::ArrayRef<char> chunk) {
    total += chunk.size();
    largest = std::max(largest, chunk.size());
    return mlir::success();
  };
  ASSERT_TRUE(succeeded(resolver.stream(weight("big"), sink)));
  EXPECT_EQ(total, 1200000u);
  EXPECT_LE(largest, 512u * 1024);
}

TEST_F(Resolver, NamesAMissingFile) {
  parse(R"(attn.weight @w source<"no.safetensors", "w"> : tensor<2xf32>)");
  WeightResolver resolver(*module, folder);
  EXPECT_TRUE(failed(resolver.check(weight("w"))));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_THAT(messages[0], testing::HasSubstr("no.safetensors"));
  EXPECT_THAT(messages[0], testing::HasSubstr("No such file or directory"));
}

TEST_F(Resolver, NamesAMissingTensor) {
  write(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  parse(R"(attn.weight @w source<"m.safetensors", "v"> : tensor<1xf32>)");
  expectRefused("w", "expected a tensor 'v' in 'FOLDER/m.safetensors', got 1 "
                     "other tensors");
}

TEST_F(Resolver, RefusesAnotherShapeAndType) {
  write(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
        R"("i":{"dtype":"I32","shape":[1],"data_offsets":[4,8]}})",
        "abcdefgh");
  parse(R"(
    attn.weight @w source<"m.safetensors", "w"> : tensor<1x1xf32>
    attn.weight @i source<"m.safetensors", "i"> : tensor<1xf32>)");
  expectRefused("w", "expected tensor 'w' of 'FOLDER/m.safetensors' to be F32 "
                     "(1, 1) (because @w is), got F32 (1)");
  messages.clear();
  expectRefused("i", "expected tensor 'i' of 'FOLDER/m.safetensors' to be F32 "
                     "(1) (because @i is), got I32 (1)");
}

TEST_F(Resolver, RefusesASizeThatOverflows) {
  parse(R"(attn.weight @w source<"m.safetensors", "w">
             : tensor<4294967296x4294967296xf32>)");
  expectRefused("w", "expected a weight whose size fits into 64 bits, got "
                     "'tensor<4294967296x4294967296xf32>'");
}

TEST_F(Resolver, RefusesSparseValues) {
  parse(R"(attn.weight @w value<sparse<0, 1.0> : tensor<4xf32>>
             : tensor<4xf32>)");
  expectRefused("w", "expected dense elements or a dense resource, got another "
                     "kind of constant");
}

TEST_F(Resolver, ReadsResourcesAndChecksTheirSize) {
  parse(R"(
    attn.weight @good value<dense_resource<good> : tensor<2xf32>> : tensor<2xf32>
    attn.weight @bad value<dense_resource<bad> : tensor<2xf32>> : tensor<2xf32>
    {-# dialect_resources: { builtin: {
      good: "0x040000000000803F00000040", bad: "0x040000000000803F" } } #-})");
  EXPECT_THAT(get<float>("good"), ElementsAre(1, 2));
  expectRefused("bad", "expected a resource of 8 bytes, got 4");
}

} // namespace

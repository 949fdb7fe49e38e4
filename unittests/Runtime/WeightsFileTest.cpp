//===- WeightsFileTest.cpp - wrong, damaged and hostile weights -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace {

struct Weights : testing::Test {
  WeightsFile file;
  char error[512] = "";
  attn_model *model = nullptr;

  attn_status load(size_t size) {
    attn_options options = {};
    options.error = error;
    options.error_size = sizeof error;
    return attn_model_load(file.data(), size, &options, &model);
  }
  void TearDown() override { attn_model_unload(model); }

  void expectRefused(const char *text, size_t size = 204) {
    EXPECT_EQ(load(size), ATTN_ERROR_WEIGHTS);
    EXPECT_EQ(model, nullptr);
    EXPECT_STREQ(error, text);
  }
};

TEST_F(Weights, LoadsItsOwnFile) {
  EXPECT_EQ(load(file.size()), ATTN_OK) << error;
  EXPECT_STREQ(error, "");
  EXPECT_STREQ(attn_model_target(model), "plain");
}

TEST_F(Weights, RefusesAFileShorterThanAHeader) {
  expectRefused("expected a weights file of 204 bytes for test, got 127 bytes, "
                "less than its header",
                127);
}

TEST_F(Weights, RefusesATruncatedFile) {
  expectRefused("expected a weights file of 204 bytes for test, got 203 bytes: "
                "it is truncated",
                203);
}

TEST_F(Weights, RefusesALongerFile) {
  expectRefused("expected a weights file of 204 bytes for test, got 205 bytes: "
                "it is damaged",
                205);
}

TEST_F(Weights, RefusesAHeaderThatSaysAnotherSize) {
  file.header().file_size = UINT64_MAX;
  expectRefused("expected a weights file of 204 bytes for test, got 204 bytes: "
                "it is damaged");
}

TEST_F(Weights, RefusesOtherFiles) {
  file.header().magic[0] = 'X';
  expectRefused("expected a weights file of attn-opt, got something else: its "
                "first bytes are not 'ATTNWTS'");
}

TEST_F(Weights, RefusesAnotherVersion) {
  file.header().version = 9;
  expectRefused("expected version 1 of the weights file, got 9: write it again "
                "with the attn-opt that wrote test.o");
}

TEST_F(Weights, RefusesAnotherLayoutAndPrintsItsNameSafely) {
  file.header().layout[1] = 0xab;
  memset(file.header().model, 'a', sizeof file.header().model);
  file.header().model[1] = '\n';
  expectRefused(
      "expected weights of layout 0102030000000000 for test, got "
      "layout 01ab030000000000 of 'a?aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': "
      "object and weights file must come from one run of attn-opt");
}

TEST_F(Weights, RefusesATableElsewhere) {
  file.header().table = UINT64_MAX - 7;
  expectRefused("expected a table of 1 weights at byte 128 for test, got 1 at "
                "byte 18446744073709551608: the weights file is damaged");
}

TEST_F(Weights, RefusesAnotherNumberOfWeights) {
  file.header().count = UINT64_MAX;
  expectRefused(
      "expected a table of 1 weights at byte 128 for test, got "
      "18446744073709551615 at byte 128: the weights file is damaged");
}

TEST_F(Weights, RefusesAnEntryThatLeavesTheFile) {
  file.entry().offset = UINT64_MAX - 4;
  expectRefused("expected 12 bytes at byte 192 for weight w of test, got 12 at "
                "byte 18446744073709551611: the weights file is damaged");
}

TEST_F(Weights, RefusesDataThatAreNotAligned) {
  char bytes[512];
  char *odd = bytes + (64 - reinterpret_cast<uintptr_t>(bytes) % 64) % 64 + 4;
  memcpy(odd, file.data(), file.size());
  attn_options options = {};
  options.error = error;
  options.error_size = sizeof error;
  EXPECT_EQ(attn_model_load(odd, file.size(), &options, &model),
            ATTN_ERROR_WEIGHTS);
  EXPECT_STREQ(error, "expected weights aligned to 64 bytes (because kernels "
                      "load whole vectors), got an address with remainder 4");
}

/// Every byte of header and table matters: a change is refused, or it is in the
/// name or in reserved bytes.
TEST_F(Weights, NoticesEachChangedByteOfHeaderAndTable) {
  for (size_t i = 0; i < sizeof(attn_weights_header) + 16; ++i) {
    bool ignored = i >= offsetof(attn_weights_header, model) &&
                   i < sizeof(attn_weights_header);
    file.data()[i] ^= 0x40;
    EXPECT_EQ(load(file.size()), ignored ? ATTN_OK : ATTN_ERROR_WEIGHTS) << i;
    attn_model_unload(model);
    model = nullptr;
    file.data()[i] ^= 0x40;
  }
}

TEST_F(Weights, NeedsWeightsThatAreNotEmbedded) {
  attn_options options = {};
  options.error = error;
  options.error_size = sizeof error;
  EXPECT_EQ(attn_model_load(nullptr, 0, &options, &model), ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected the weights of test (because they are not "
                      "embedded), got a null pointer");
}

/// The file in a folder of its own.
struct WeightsOnDisk : Weights {
  std::string path = testing::TempDir() + "attn_weights_" +
                     std::to_string(getpid()) + ".weights";

  attn_status loadFile(const std::string &name) {
    attn_options options = {};
    options.error = error;
    options.error_size = sizeof error;
    return attn_model_load_file(name.c_str(), &options, &model);
  }
  void write(size_t size) {
    std::ofstream(path, std::ios::binary).write(file.data(), size);
  }
  void TearDown() override {
    Weights::TearDown();
    std::remove(path.c_str());
  }
};

TEST_F(WeightsOnDisk, MapsTheFile) {
  write(file.size());
  EXPECT_EQ(loadFile(path), ATTN_OK) << error;
}

TEST_F(WeightsOnDisk, RefusesATruncatedFile) {
  write(150);
  EXPECT_EQ(loadFile(path), ATTN_ERROR_WEIGHTS);
  EXPECT_STREQ(error, "expected a weights file of 204 bytes for test, got 150 "
                      "bytes: it is truncated");
}

TEST_F(WeightsOnDisk, RefusesAnEmptyFile) {
  write(0);
  EXPECT_EQ(loadFile(path), ATTN_ERROR_WEIGHTS);
  EXPECT_STREQ(error, "expected a weights file of 204 bytes for test, got 0 "
                      "bytes, less than its header");
}

TEST_F(WeightsOnDisk, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(loadFile("/nowhere/x.weights"), ATTN_ERROR_FILE);
  EXPECT_STREQ(error, "expected a weights file at '/nowhere/x.weights', got: "
                      "No such file or directory");
  EXPECT_EQ(loadFile("/"), ATTN_ERROR_FILE);
  EXPECT_STREQ(error,
               "expected a weights file at '/', got: not a regular file");
  EXPECT_EQ(attn_model_load_file(nullptr, nullptr, &model),
            ATTN_ERROR_ARGUMENT);
}

} // namespace

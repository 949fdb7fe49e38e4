//===- MutationTest.cpp - damaged model folders ---------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bytes of a good folder are changed at random, with fixed seeds. The importer
// must report a problem or make a valid module, never anything else.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/HuggingFace.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace attn;
using namespace llvm;

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  unsigned below(size_t limit) { return random() % limit; }

  /// Changes a few of the first `limit` bytes.
  std::string change(std::string text, size_t limit) {
    for (unsigned i = 0, count = 1 + below(4); i < count && !text.empty();
         ++i) {
      size_t end = std::min(limit, text.size());
      size_t at = below(end);
      switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] ^= 1 << below(8);
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(at, 1, "0123456789{}[]\",:-e.\\"[below(21)]);
        break;
      case 4:
        text.insert(at, text.substr(below(end), below(20)));
        break;
      }
    }
    return text;
  }

private:
  std::mt19937 random;
};

std::string inFolder(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

void write(const std::string &path, StringRef text) {
  std::error_code code;
  raw_fd_ostream(path, code) << text;
}

TEST(Mutation, FoldersThatAreDamaged) {
  const std::string source = ATTN_TEST_DATA "/hf/bert-sentence";
  const std::string names[] = {"config.json", "model.safetensors",
                               "modules.json", "1_Pooling/config.json"};
  std::vector<std::string> texts;
  for (const std::string &name : names)
    texts.push_back(
        (*MemoryBuffer::getFile(inFolder(source, name), false, false))
            ->getBuffer()
            .str());
  SmallString<128> folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("attn-mutation", folder));
  ASSERT_FALSE(sys::fs::create_directory(inFolder(folder, "1_Pooling")));
  unsigned imported = 0, refused = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Mutator mutator(seed);
    for (auto [name, text] : zip(names, texts)) {
      bool damage = mutator.below(2);
      // Of the weights only the header, which says what they are.
      write(inFolder(folder, name), damage ? mutator.change(text, 4008) : text);
    }
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    unsigned problems = 0;
    auto module =
        importHuggingFace(folder, &context, [&](StringRef) { ++problems; });
    EXPECT_EQ(bool(module), problems == 0) << seed;
    if (module)
      EXPECT_TRUE(mlir::succeeded(mlir::verify(*module))) << seed;
    ++(module ? imported : refused);
  }
  EXPECT_FALSE(sys::fs::remove_directories(folder));
  // Both happen, or this tests nothing.
  EXPECT_GT(imported, 10u);
  EXPECT_GT(refused, 100u);
}

} // namespace

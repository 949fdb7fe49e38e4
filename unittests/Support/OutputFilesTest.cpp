//===- OutputFilesTest.cpp - all files, or the former ones ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Support/OutputFiles.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace attn;
namespace fs = llvm::sys::fs;

namespace {

class OutputFilesTest : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(folder.create("attn-output")); }

  std::string path(const std::string &name) const {
    return folder.path() + "/" + name;
  }

  void put(const std::string &name, const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << text;
    ASSERT_FALSE(error);
  }

  std::string get(const std::string &name) const {
    auto buffer = llvm::MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }

  /// All names in the folder.
  std::set<std::string> names() const {
    std::set<std::string> result;
    std::error_code error;
    for (fs::directory_iterator it(folder.path(), error), end;
         it != end && !error; it.increment(error))
      result.insert(it->path().substr(folder.path().size() + 1));
    return result;
  }

  /// Opens a file and writes to it.
  void write(OutputFiles &files, const std::string &name,
             const std::string &text) {
    llvm::Expected<llvm::raw_fd_ostream *> stream = files.open(path(name));
    ASSERT_TRUE(bool(stream)) << llvm::toString(stream.takeError());
    **stream << text;
  }

  TemporaryFolder folder;
};

using Names = std::set<std::string>;

} // namespace

TEST_F(OutputFilesTest, NothingIsThereBeforeCommit) {
  put("a", "old");
  OutputFiles files;
  write(files, "a", "new a");
  write(files, "b", "new b");
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(get("b"), "(none)");
  EXPECT_EQ(llvm::toString(files.commit()), "");
  EXPECT_EQ(get("a"), "new a");
  EXPECT_EQ(get("b"), "new b");
  EXPECT_EQ(names(), (Names{"a", "b"}));
}

TEST_F(OutputFilesTest, WithoutCommitAllIsAsBefore) {
  put("a", "old");
  {
    OutputFiles files;
    write(files, "a", "new a");
    write(files, "b", "new b");
  }
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(OutputFilesTest, FileThatCannotBeReplacedBringsBackTheOthers) {
  put("b", "old");
  OutputFiles files;
  write(files, "a", "new a");
  write(files, "b", "new b");
  write(files, "c", "new c");
  // "c" and "b" are in place when "a" turns out to be impossible.
  ASSERT_FALSE(fs::create_directory(path("a")));
  put("a/kept", "kept");
  EXPECT_EQ(llvm::toString(files.commit()),
            "cannot write '" + path("a") + "': Is a directory");
  EXPECT_EQ(get("b"), "old");
  EXPECT_EQ(get("a/kept"), "kept");
  EXPECT_EQ(names(), (Names{"a", "b"}));
}

TEST_F(OutputFilesTest, FirstComesLast) {
  OutputFiles files;
  write(files, "first", "new");
  write(files, "second", "new");
  // The one that is tried first is the one that is named.
  ASSERT_FALSE(fs::create_directory(path("first")));
  ASSERT_FALSE(fs::create_directory(path("second")));
  EXPECT_EQ(llvm::toString(files.commit()),
            "cannot write '" + path("second") + "': Is a directory");
}

TEST_F(OutputFilesTest, PathsThatCannotBeOpened) {
  OutputFiles files;
  EXPECT_EQ(llvm::toString(files.open(path("no/such")).takeError()),
            "cannot write '" + path("no/such") +
                "': No such file or directory");
  EXPECT_EQ(llvm::toString(files.open(folder.path()).takeError()),
            "cannot write '" + folder.path() + "': Is a directory");
  EXPECT_EQ(names(), Names{});
}

TEST_F(OutputFilesTest, FullDevice) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP() << "this system has no /dev/full";
  put("a", "old");
  OutputFiles files;
  write(files, "a", "new a");
  llvm::Expected<llvm::raw_fd_ostream *> full = files.open("/dev/full");
  ASSERT_TRUE(bool(full));
  EXPECT_EQ(llvm::toString(files.check()), "");
  (*full)->write_zeros(1 << 16);
  EXPECT_EQ(llvm::toString(files.check()),
            "cannot write '/dev/full': No space left on device");
  (*full)->write_zeros(1 << 16);
  EXPECT_EQ(llvm::toString(files.commit()),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(OutputFilesTest, LinkIsFollowed) {
  put("target", "old");
  ASSERT_EQ(::symlink("target", path("link").c_str()), 0);
  OutputFiles files;
  write(files, "link", "new");
  EXPECT_EQ(llvm::toString(files.commit()), "");
  EXPECT_TRUE(fs::is_symlink_file(path("link")));
  EXPECT_EQ(get("target"), "new");
  EXPECT_EQ(names(), (Names{"link", "target"}));
}

//===- CleanUpTest.cpp - nothing is left behind ---------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What ends here are child processes (EXPECT_EXIT), whose temporary files go
// into a folder of this one.
//
//===----------------------------------------------------------------------===//
#include "attn/Support/CleanUp.h"
#include "attn/Support/TemporaryFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace attn;
namespace fs = llvm::sys::fs;

namespace {

class CleanUpTest : public ::testing::Test {
protected:
  /// Not a TemporaryFolder: children inherit the list.
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("attn-clean-up", scratch));
    if (const char *value = std::getenv("TMPDIR"))
      before = value;
    ::setenv("TMPDIR", scratch.c_str(), /*overwrite=*/1);
  }
  void TearDown() override {
    if (before)
      ::setenv("TMPDIR", before->c_str(), /*overwrite=*/1);
    else
      ::unsetenv("TMPDIR");
    (void)fs::remove_directories(scratch);
  }

  /// Whether the child has left nothing.
  bool isEmpty() const {
    std::error_code error;
    fs::directory_iterator it(scratch, error);
    return !error && it == fs::directory_iterator();
  }

  llvm::SmallString<128> scratch;
  std::optional<std::string> before;
};

/// Folders are made in the child, which does not come to their destructors.
TemporaryFolder &makeFolder() {
  auto *folder = new TemporaryFolder;
  if (folder->create("left"))
    std::abort();
  std::error_code error;
  llvm::raw_fd_ostream(folder->path() + "/file", error) << "text";
  return *folder;
}

void sleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

[[noreturn]] void waitForEnd() {
  for (;;)
    ::pause();
}

void handle() {
  std::signal(SIGINT, SIG_DFL);
  cleanUpOnInterruption();
}

} // namespace

TEST_F(CleanUpTest, FolderGoesWithItsOwner) {
  std::string path;
  {
    TemporaryFolder folder;
    ASSERT_FALSE(folder.create("left"));
    path = folder.path();
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(CleanUpTest, ScratchIsTheFolderOfTemporaryFiles) {
  {
    ScratchFolder inner;
    ASSERT_FALSE(inner.create("inner"));
    EXPECT_EQ(std::getenv("TMPDIR"), inner.path());
    TemporaryFolder folder;
    ASSERT_FALSE(folder.create("left"));
    EXPECT_TRUE(llvm::StringRef(folder.path()).starts_with(inner.path()));
  }
  EXPECT_EQ(std::getenv("TMPDIR"), scratch);
}

TEST_F(CleanUpTest, Interruption) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto interrupt = [&] {
      std::signal(signal, SIG_DFL);
      cleanUpOnInterruption();
      makeFolder();
      std::raise(signal);
      waitForEnd();
    };
    EXPECT_EXIT(interrupt(), ::testing::KilledBySignal(signal), "^$");
    EXPECT_TRUE(isEmpty()) << signal;
  }
}

TEST_F(CleanUpTest, IgnoredSignalStaysIgnored) {
  auto interrupt = [] {
    std::signal(SIGHUP, SIG_IGN);
    handle();
    TemporaryFolder &folder = makeFolder();
    std::raise(SIGHUP);
    sleepFor(100);
    bool isThere = fs::exists(folder.path());
    delete &folder;
    std::_Exit(isThere ? 7 : 1);
  };
  EXPECT_EXIT(interrupt(), ::testing::ExitedWithCode(7), "");
}

TEST_F(CleanUpTest, Exit) {
  auto leave = [] {
    handle();
    makeFolder();
    std::exit(3);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(3), "");
  EXPECT_TRUE(isEmpty());
}

TEST_F(CleanUpTest, Crash) {
  auto crash = [] {
    handle();
    makeFolder();
    ::kill(::getpid(), SIGQUIT);
    waitForEnd();
  };
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGQUIT), "");
  EXPECT_TRUE(isEmpty());
}

TEST_F(CleanUpTest, NobodyReads) {
  auto write = [] {
    std::signal(SIGPIPE, SIG_DFL);
    handle();
    makeFolder();
    int ends[2];
    if (::pipe(ends) != 0)
      std::abort();
    ::close(ends[0]);
    bool failed = ::write(ends[1], "text", 4) < 0;
    llvm::errs() << "the writer goes on\n";
    std::_Exit(failed);
  };
  EXPECT_EXIT(write(), ::testing::KilledBySignal(SIGPIPE), "^$");
  EXPECT_TRUE(isEmpty());
}

TEST_F(CleanUpTest, ChildProcessesAreStopped) {
  // The child's child writes for ever into a folder that has to go.
  auto interrupt = [] {
    handle();
    TemporaryFolder &folder = makeFolder();
    std::string script =
        "i=0; while :; do i=$((i + 1)); : > " + folder.path() + "/$i; done";
    {
      CleanUpList list;
      pid_t child = ::fork();
      if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
        std::_Exit(1);
      }
      list.addProcess(child);
    }
    while (!fs::exists(folder.path() + "/3"))
      sleepFor(1);
    std::raise(SIGINT);
    waitForEnd();
  };
  EXPECT_EXIT(interrupt(), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_TRUE(isEmpty());
}

TEST_F(CleanUpTest, InterruptionWaitsForTheEndOfAStep) {
  std::string done = (scratch + "/done").str();
  auto interrupt = [&] {
    handle();
    TemporaryFolder &folder = makeFolder();
    {
      CleanUpList list;
      std::raise(SIGINT);
      sleepFor(100);
      if (fs::exists(folder.path())) {
        std::error_code error;
        llvm::raw_fd_ostream(done, error) << "yes";
      }
    }
    waitForEnd();
  };
  EXPECT_EXIT(interrupt(), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_TRUE(fs::exists(done));
  ASSERT_FALSE(fs::remove(done));
  EXPECT_TRUE(isEmpty());
}

TEST_F(CleanUpTest, FileBeyondALimitIsNoCrash) {
  auto write = [&] {
    handle();
    TemporaryFolder &folder = makeFolder();
    rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::error_code error;
    llvm::raw_fd_ostream stream(folder.path() + "/large", error);
    stream.write_zeros(100000);
    stream.close();
    error = stream.error();
    stream.clear_error();
    delete &folder;
    std::_Exit(error == std::errc::file_too_large ? 7 : 1);
  };
  EXPECT_EXIT(write(), ::testing::ExitedWithCode(7), "");
}

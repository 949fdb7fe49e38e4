//===- Session.cpp - progress, clean-up, interruption ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A signal handler may not remove a folder, so it wakes a thread that does.
// Child processes (kernel compilers) get the signal from the terminal too, and
// have the default handler.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace attn::run {

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

struct Progress::Impl {
  std::string what;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread;

  void work() {
    std::unique_lock<std::mutex> lock(mutex);
    bool shown = false;
    for (unsigned seconds = 1;; ++seconds) {
      if (changed.wait_for(lock, std::chrono::seconds(1), [&] { return done; }))
        break;
      errs() << '\r' << what << "... " << seconds << " s";
      shown = true;
    }
    // Leaves the line empty for what comes next.
    if (shown)
      errs() << "\r\x1b[K";
  }
};

Progress::Progress(const Twine &what) {
  if (!sys::Process::StandardErrIsDisplayed())
    return;
  impl = new Impl;
  impl->what = what.str();
  impl->thread = std::thread([impl = impl] { impl->work(); });
}

Progress::~Progress() {
  if (!impl)
    return;
  {
    std::lock_guard<std::mutex> lock(impl->mutex);
    impl->done = true;
  }
  impl->changed.notify_all();
  impl->thread.join();
  delete impl;
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The folder that an interruption removes; guarded by the mutex.
static std::string currentFolder;
static std::mutex currentMutex;
/// Written to by the signal handler.
static int wakePipe[2] = {-1, -1};

static void onInterrupt(int signal) {
  char byte = static_cast<char>(signal);
  // If this fails the signal is lost; there is nothing else to do here.
  [[maybe_unused]] ssize_t written = write(wakePipe[1], &byte, 1);
}

static void removeOnInterrupt() {
  if (wakePipe[0] != -1 || pipe(wakePipe) != 0)
    return;
  std::thread([] {
    char byte;
    while (read(wakePipe[0], &byte, 1) != 1)
      ;
    std::lock_guard<std::mutex> lock(currentMutex);
    if (!currentFolder.empty())
      sys::fs::remove_directories(currentFolder);
    _exit(128 + byte);
  }).detach();
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(signal, &action, nullptr);
}

Expected<TemporaryFolder> TemporaryFolder::create() {
  SmallString<128> path;
  if (std::error_code code = sys::fs::createUniqueDirectory("attn-run", path))
    return createStringError(code,
                             "expected a temporary folder: " + code.message());
  removeOnInterrupt();
  TemporaryFolder folder;
  folder.path = path.str().str();
  // Whatever the compiler puts into temporary files goes with the folder too.
  setenv("TMPDIR", folder.path.c_str(), /*overwrite=*/1);
  std::lock_guard<std::mutex> lock(currentMutex);
  currentFolder = folder.path;
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  std::lock_guard<std::mutex> lock(currentMutex);
  sys::fs::remove_directories(path);
  currentFolder.clear();
}

} // namespace attn::run

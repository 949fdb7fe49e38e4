//===- Progress.cpp - says what takes long --------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace llvm;

namespace attn::run {

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

} // namespace attn::run

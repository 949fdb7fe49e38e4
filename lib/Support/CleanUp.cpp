//===- CleanUp.cpp - what an ended process must not leave behind ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A signal handler may do next to nothing, so it wakes a thread that does the
// rest. The list's mutex decides who comes first: that thread takes it and
// keeps it, so that whoever wants to add something waits until the process
// ends.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/CleanUp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace attn;
namespace fs = llvm::sys::fs;

namespace {
struct State {
  std::mutex mutex;
  std::vector<std::string> paths;
  std::vector<pid_t> processes;
};
} // namespace

/// Never destroyed: threads and exit() come back to it to the last.
static State &getState() {
  static auto *state = new State;
  return *state;
}

/// What the thread is woken with instead of the number of a signal.
static constexpr char crashed = 0;
/// Written to by handlers, read by the thread; -1 if there is none.
static int wakePipe[2] = {-1, -1};
/// The thread has done its work after a crash.
static std::atomic<bool> isClean = false;

//===----------------------------------------------------------------------===//
// The work
//===----------------------------------------------------------------------===//

static void removePath(const std::string &path) {
  // Other threads go on, and may put a file into a folder that is just being
  // emptied.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (!fs::is_directory(path)) {
      (void)fs::remove(path);
      return;
    }
    (void)fs::remove_directories(path);
    if (!fs::exists(path))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Expects the mutex to be held.
static void cleanUp(State &state) {
  for (pid_t process : state.processes)
    ::kill(process, SIGKILL);
  // What a process writes would come back after it was removed.
  for (pid_t process : state.processes)
    while (::waitpid(process, nullptr, 0) == -1 && errno == EINTR)
      ;
  for (const std::string &path : state.paths)
    removePath(path);
  state.processes.clear();
  state.paths.clear();
}

/// Whatever the other threads say about files and processes that are gone is
/// of no interest.
static void silence() {
  int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0)
    ::dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] static void endBySignal(int signal) {
  std::signal(signal, SIG_DFL);
  // Whoever started this process may have blocked it.
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  ::kill(::getpid(), signal);
  for (;;)
    ::pause();
}

//===----------------------------------------------------------------------===//
// Who asks for it
//===----------------------------------------------------------------------===//

static void waitForWork() {
  char byte;
  while (::read(wakePipe[0], &byte, 1) != 1)
    ;
  State &state = getState();
  std::unique_lock<std::mutex> lock(state.mutex);
  if (byte != crashed)
    silence();
  cleanUp(state);
  if (byte != crashed)
    endBySignal(byte);
  lock.unlock();
  isClean = true;
}

/// Wakes the thread.
static void demand(char what) {
  int before = errno;
  // If this fails the signal is lost; there is nothing else to do here.
  [[maybe_unused]] ssize_t written = ::write(wakePipe[1], &what, 1);
  errno = before;
}

/// For handlers that must not return before the thread is done. The code that
/// they have interrupted may hold what the thread needs, so the wait ends.
static void waitForThread() {
  timespec tick = {0, 10 * 1000 * 1000};
  for (int i = 0; i < 200 && !isClean; ++i)
    ::nanosleep(&tick, nullptr);
}

static void onInterruption(int signal) {
  demand(static_cast<char>(signal));
  // Otherwise the write that nobody reads fails, and is reported.
  if (signal == SIGPIPE)
    waitForThread();
}

static void onCrash(void *) {
  demand(crashed);
  waitForThread();
}

static void onExit() {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  cleanUp(state);
}

void attn::cleanUpOnInterruption() {
  if (wakePipe[0] != -1 || ::pipe2(wakePipe, O_CLOEXEC) != 0)
    return;
  std::thread(waitForWork).detach();
  struct sigaction action = {};
  action.sa_handler = onInterruption;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before;
    if (::sigaction(signal, nullptr, &before) == 0 &&
        before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

/// The part that has to come after llvm::InitLLVM: what it registers for pipes
/// must be the first of LLVM's handlers.
static void handleExitAndCrash() {
  static bool isDone = false;
  if (isDone || wakePipe[0] == -1)
    return;
  isDone = true;
  std::atexit(onExit);
  llvm::sys::AddSignalHandler(onCrash, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

CleanUpList::CleanUpList() {
  getState().mutex.lock();
  handleExitAndCrash();
}

CleanUpList::~CleanUpList() { getState().mutex.unlock(); }

void CleanUpList::addPath(llvm::StringRef path) {
  getState().paths.push_back(path.str());
}

void CleanUpList::dropPath(llvm::StringRef path) {
  llvm::erase(getState().paths, path);
}

void CleanUpList::addProcess(int number) {
  getState().processes.push_back(number);
}

void CleanUpList::dropProcess(int number) {
  llvm::erase(getState().processes, number);
}

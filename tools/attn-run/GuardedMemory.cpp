//===- GuardedMemory.cpp - memory that notices stray accesses -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The fault handler may only use a fixed table and write(2): it runs inside
// whatever code went astray.
//
//===----------------------------------------------------------------------===//

#include "GuardedMemory.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace attn::run {

static uint64_t pageBytes() {
  static const uint64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

static constexpr uint8_t pattern = 0xa5;

//===----------------------------------------------------------------------===//
// The fault handler
//===----------------------------------------------------------------------===//

namespace {
/// What the handler knows of a buffer; free while `mapping` is null.
struct Slot {
  std::atomic<uint8_t *> mapping;
  uint8_t *mappingEnd, *begin, *end;
  char name[64];
};
} // namespace

static Slot slots[1024];

static void writeText(const char *text) {
  // Nothing can be done if standard error is closed.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

static void onFault(int signal, siginfo_t *info, void *) {
  auto *address = static_cast<uint8_t *>(info->si_addr);
  for (Slot &slot : slots) {
    uint8_t *mapping = slot.mapping.load();
    if (!mapping || address < mapping || address >= slot.mappingEnd)
      continue;
    writeText("attn-run: error: expected accesses inside ");
    writeText(slot.name);
    writeText(address >= slot.end    ? ", got one past its end\n"
              : address < slot.begin ? ", got one before its begin\n"
                                     : " to be reads, got a write\n");
    _exit(1);
  }
  // Not ours: the default action, when the instruction is tried again.
  std::signal(signal, SIG_DFL);
}

void installFaultHandler() {
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Expected<GuardedMemory> GuardedMemory::create(const Twine &name, uint64_t bytes,
                                              uint64_t alignment) {
  uint64_t page = pageBytes();
  uint64_t inside = alignTo(std::max<uint64_t>(bytes, 1), page);
  if (bytes <= UINT64_MAX / 2)
    if (void *mapping = mmap(nullptr, inside + 2 * page, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mapping != MAP_FAILED) {
      GuardedMemory memory;
      memory.name = name.str();
      memory.mapping = static_cast<uint8_t *>(mapping);
      memory.mappingBytes = inside + 2 * page;
      memory.bytes = bytes;
      uint8_t *first = memory.mapping + page;
      uint8_t *last = first + inside;
      if (mprotect(first, inside, PROT_READ | PROT_WRITE) == 0) {
        memory.begin = last - alignTo(bytes, alignment);
        memset(first, pattern, memory.begin - first);
        memset(memory.begin + bytes, pattern, last - memory.begin - bytes);
        for (Slot &slot : slots) {
          uint8_t *expected = nullptr;
          // Not yet the buffer's address: the slot is not filled in.
          if (!slot.mapping.compare_exchange_strong(
                  expected, reinterpret_cast<uint8_t *>(-1)))
            continue;
          slot.mappingEnd = memory.mapping + memory.mappingBytes;
          slot.begin = memory.begin;
          slot.end = memory.begin + bytes;
          strncpy(slot.name, memory.name.c_str(), sizeof(slot.name) - 1);
          slot.mapping.store(memory.mapping);
          memory.slot = &slot - slots;
          break;
        }
        return memory;
      }
    }
  return createStringError(std::make_error_code(std::errc::not_enough_memory),
                           "expected " + Twine(bytes) + " bytes for " + name +
                               ", got no memory");
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) {
  *this = std::move(other);
}

GuardedMemory &GuardedMemory::operator=(GuardedMemory &&other) {
  release();
  name = std::move(other.name);
  mapping = std::exchange(other.mapping, nullptr);
  mappingBytes = other.mappingBytes;
  begin = other.begin;
  bytes = other.bytes;
  slot = std::exchange(other.slot, -1);
  return *this;
}

GuardedMemory::~GuardedMemory() { release(); }

void GuardedMemory::release() {
  if (!mapping)
    return;
  if (slot >= 0)
    slots[slot].mapping.store(nullptr);
  munmap(mapping, mappingBytes);
  mapping = nullptr;
}

void GuardedMemory::makeReadOnly() {
  uint64_t page = pageBytes();
  mprotect(mapping + page, mappingBytes - 2 * page, PROT_READ);
}

Error GuardedMemory::check() const {
  const uint8_t *first = mapping + pageBytes();
  const uint8_t *last = mapping + mappingBytes - pageBytes();
  for (const uint8_t *at = first; at != last; ++at) {
    if (at == begin)
      at += bytes;
    if (at == last)
      break;
    if (*at == pattern)
      continue;
    bool before = at < begin;
    return createStringError(
        inconvertibleErrorCode(),
        "expected accesses inside " + name + ", got a write " +
            Twine(before ? begin - at : at - (begin + bytes) + 1) + " bytes " +
            (before ? "before its begin" : "past its end"));
  }
  return Error::success();
}

} // namespace attn::run

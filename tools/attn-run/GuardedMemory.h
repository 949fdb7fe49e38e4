//===- GuardedMemory.h - memory that notices stray accesses ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A buffer ends where an inaccessible page begins, so that a read or write of
// one byte too many stops the program, with the buffer's name. The bytes
// in front, up to the page in front, hold a pattern that is checked. Buffers
// are as badly aligned as their size makes them, which is a test too.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_GUARDEDMEMORY_H
#define ATTN_TOOLS_ATTN_RUN_GUARDEDMEMORY_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace attn::run {

class GuardedMemory {
public:
  /// At least `bytes` with that alignment (a power of two up to a page), all
  /// zero. `name` is for messages. None if there is no memory.
  static llvm::Expected<GuardedMemory>
  create(const llvm::Twine &name, uint64_t bytes, uint64_t alignment = 1);

  GuardedMemory(GuardedMemory &&other);
  GuardedMemory &operator=(GuardedMemory &&other);
  ~GuardedMemory();

  uint8_t *data() const { return begin; }
  uint64_t size() const { return bytes; }

  /// From now on a write stops the program.
  void makeReadOnly();

  /// An error if something was written around the data.
  llvm::Error check() const;

private:
  GuardedMemory() = default;
  void release();

  std::string name;
  uint8_t *mapping = nullptr; // From the first to the last page.
  uint64_t mappingBytes = 0;
  uint8_t *begin = nullptr;
  uint64_t bytes = 0;
  int slot = -1; // In the table that the fault handler reads.
};

/// From now on an access to a guard page prints what was accessed and ends the
/// process with status 1, instead of a crash.
void installFaultHandler();

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_GUARDEDMEMORY_H

//===- PrivateSums.h - sums that a thread keeps in registers ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In a loop in which a block of threads waits for each other, Halide 21 keeps
// what a function carries from one iteration to the next in shared memory,
// though each thread may touch nothing but its own elements. They cost two
// accesses to shared memory for each product then, and most of that memory.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_PRIVATESUMS_H
#define ATTN_LIB_TARGET_HALIDE_PRIVATESUMS_H

#include <Halide.h>

namespace attn {

/// A function in shared memory whose first dimensions are a thread's elements
/// and whose next ones are the threads of a block. Everything that reads or
/// stores it goes through get() and set().
class PrivateSums {
public:
  PrivateSums() = default;
  /// `elements` a thread, in a block of `x` times `y` threads.
  PrivateSums(const Halide::Func &sums, int elements, int x, int y)
      : sums(sums), elements(elements), x(x), y(y) {}

  /// An element of the function that is read.
  static Halide::Expr get(const Halide::Expr &element);
  /// The value of an element that is stored.
  static Halide::Expr set(const Halide::Expr &value);

  /// Moves the elements into registers. Those of other functions that share
  /// memory with them move up. Also drops the barriers between stores of
  /// different functions.
  void attach(Halide::Pipeline &pipeline) const;

private:
  Halide::Func sums;
  int elements = 0, x = 0, y = 0;
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_PRIVATESUMS_H

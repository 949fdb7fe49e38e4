//===- SanitizerOptions.cpp - how the sanitizer build behaves --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Linked into every program of the preset `asan`. LLVM and MLIR are shared
// libraries that are not instrumented: an arena that their headers, compiled
// here, mark as unusable is then handed out by their own code without the mark
// being taken away. Marks made by hand are therefore not looked at, and neither
// are leaks: LLVM's and Halide's globals live until the process ends.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0";
}

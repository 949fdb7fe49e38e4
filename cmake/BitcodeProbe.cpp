//===- BitcodeProbe.cpp - let Halide write a bitcode file -----------------===//
//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Run by AttnBitcodeCheck.cmake, which reads the producer from the result.
//
//===----------------------------------------------------------------------===//

#include "Halide.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  Halide::Var x("x");
  Halide::Func f("probe");
  f(x) = x + 1;
  f.compile_to_bitcode(argv[1], {}, "probe",
                       Halide::Target("x86-64-linux-no_runtime"));
  return 0;
}

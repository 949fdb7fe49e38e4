//===- Options.h - the command line ----------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Plain values; cl::opt stays in Options.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_OPTIONS_H
#define ATTN_TOOLS_ATTN_RUN_OPTIONS_H

#include "Compare.h"
#include "Fuzz/Fuzz.h"
#include "attn/Pipelines/Driver.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace attn::run {

struct Options {
  std::string model;
  /// Folders of ONNX tests instead of a model.
  std::vector<std::string> onnxTests;
  /// One of them, to be run in this process.
  std::string onnxFolder;
  std::vector<std::string> cases;
  /// Files that the cases are written to, one each, or none.
  std::vector<std::string> write;
  bool random = false;
  uint64_t seed = 1;
  llvm::StringMap<int64_t> dims;
  /// By the output's type without it.
  std::optional<Tolerance> tolerance;
  bool reference = false, referenceOnly = false;
  bool time = false;
  /// Time of each kernel beside what is predicted.
  bool profile = false;
  /// The file that measured tile sizes are written to, and one that they are
  /// read from.
  std::string tune, tuning;
  /// Instead of a model: how fast a core of this machine is.
  bool measureMachine = false;
  bool inPlace = false;
  bool loops = false;
  int threads = 1;
  std::string target, keep;
  /// With --fuzz, and whether this process is one of its children, which write
  /// files of that prefix.
  std::optional<FuzzOptions> fuzz;
  bool isFuzzKernel = false;
  std::string fuzzWrite;
  ImportOptions import;
};

/// Parses and checks the command line. Ends the program for --help and for
/// options that do not exist.
llvm::Expected<Options> parseCommandLine(int argc, char **argv);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_OPTIONS_H

//===- Flags.cpp - command line options of the ONNX importer --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the tools that take a model. A tool that does not register them
// does not have them.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/Onnx.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"

using namespace llvm;

namespace attn {

namespace {
struct Flags {
  cl::OptionCategory category{"ONNX import options"};
  cl::list<std::string> values{
      "input-value", cl::value_desc("name=number,..."),
      cl::desc("Value of an input of an ONNX model, which is then no input of "
               "the compiled model; may be repeated"),
      cl::cat(category)};
};
} // namespace

static ManagedStatic<Flags> flags;

void registerOnnxFlags() { *flags; }

OnnxOptions onnxOptionsFromFlags() {
  OnnxOptions options;
  for (StringRef text : flags->values) {
    auto [name, value] = text.split('=');
    options.inputValues[name.str()] = value.str();
  }
  return options;
}

} // namespace attn

//===- Flags.cpp - command line options of the importer -------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the tools that take a model folder. A tool that does not register
// them does not have them.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/HuggingFace.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"

using namespace llvm;

namespace attn {

using Pooling = HuggingFaceOptions::Pooling;

namespace {
struct Flags {
  cl::OptionCategory category{"Hugging Face import options"};
  cl::opt<Pooling> pooling{
      "pooling",
      cl::desc("Output sentence_embedding of a Hugging Face encoder (without "
               "it: what modules.json says, else none)"),
      cl::values(clEnumValN(Pooling::None, "none", "no such output"),
                 clEnumValN(Pooling::Mean, "mean",
                            "mean over the positions that attention_mask "
                            "keeps"),
                 clEnumValN(Pooling::Cls, "cls", "position 0")),
      cl::init(Pooling::FromFolder), cl::cat(category)};
  cl::opt<bool> normalize{
      "normalize",
      cl::desc("With --pooling: divide sentence_embedding by its Euclidean "
               "norm"),
      cl::cat(category)};
  cl::opt<bool> dropHead{
      "drop-head",
      cl::desc("Import the encoder of a Hugging Face model that has a task "
               "head, without the head"),
      cl::cat(category)};
  cl::list<std::string> outputs{
      "outputs", cl::CommaSeparated, cl::value_desc("name,..."),
      cl::desc("Outputs of a Hugging Face model to keep, in this order (all "
               "without it)"),
      cl::cat(category)};
};
} // namespace

static ManagedStatic<Flags> flags;

void registerHuggingFaceFlags() { *flags; }

HuggingFaceOptions huggingFaceOptionsFromFlags() {
  HuggingFaceOptions options;
  options.pooling = flags->pooling;
  options.normalize = flags->normalize;
  options.dropHead = flags->dropHead;
  options.outputs.assign(flags->outputs.begin(), flags->outputs.end());
  return options;
}

} // namespace attn

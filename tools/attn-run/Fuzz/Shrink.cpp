//===- Shrink.cpp - the smallest kernel that fails ------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Greedy: each word of Reductions.h is tried, and kept if the failure stays.
// Each try compiles a kernel, so their number and time are limited.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Shrink.h"

#include "Fuzz/Reductions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace llvm;

namespace attn::run::fuzz {

static constexpr std::chrono::seconds timeLimit(120);

void shrink(FuzzOptions &options, Outcome &outcome, Worker &worker,
            function_ref<bool()> isStopped) {
  auto begin = std::chrono::steady_clock::now();
  // One set is enough, if one was reached.
  options.set = outcome.lastSet;
  std::vector<std::string> tried;
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    Kernel kernel = randomKernel(options.seed);
    // The numbers of rules are those of the seed's kernel.
    size_t rules = kernel.rules.size();
    cantFail(reduce(kernel, options.reductions));
    ValueSet set = chooseSet(kernel, std::max<int64_t>(options.set, 0));
    reduce(set, options.reductions);
    std::vector<std::string> words = candidates(kernel, set);
    erase_if(words, [](StringRef word) { return word.starts_with("rule-"); });
    for (size_t rule = 0; rule < rules; ++rule)
      words.insert(words.begin(), "rule-" + std::to_string(rule));
    for (const std::string &word : words) {
      if (is_contained(tried, word))
        continue;
      if (isStopped() || std::chrono::steady_clock::now() - begin > timeLimit)
        return;
      tried.push_back(word);
      FuzzOptions smaller = options;
      smaller.reductions.push_back(word);
      Outcome next = worker.run(smaller, "", isStopped);
      if (next.failure != outcome.failure)
        continue;
      options = smaller;
      outcome = next;
      hasChanged = true;
      break;
    }
  }
}

void report(const FuzzOptions &options, const Outcome &outcome, Worker &worker,
            function_ref<bool()> isStopped) {
  outs() << "FAIL: seed " << options.seed;
  if (outcome.lastSet >= 0)
    outs() << ", set " << outcome.lastSet << " (" << outcome.set << ")";
  outs() << ": " << outcome.what << '\n'
         << "  kernel: " << outcome.kernel << '\n';
  for (const std::string &note : outcome.notes)
    outs() << "  " << note << '\n';
  outs() << "  again: attn-run --fuzz=1";
  for (const std::string &word : commandOf(options))
    outs() << ' ' << word;
  outs() << '\n';
  SmallString<128> prefix(options.folder);
  sys::path::append(prefix, "fuzz-" + std::to_string(options.seed));
  worker.run(options, prefix, isStopped);
  std::string text = (prefix + ".mlir").str(), arrays = (prefix + ".npz").str();
  if (!sys::fs::exists(text)) {
    outs() << "  cannot write '" << text << "'\n";
    return;
  }
  outs() << "  files: attn-run " << text;
  if (outcome.lastSet >= 0)
    outs() << " --case=" << arrays;
  if (!outcome.tolerance.empty())
    outs() << " --tolerance=" << outcome.tolerance;
  if (!options.target.empty())
    outs() << " --target=" << options.target;
  if (options.loops)
    outs() << " --lowering=loops";
  if (StringRef(outcome.set).contains("strided"))
    outs() << " (dense: the strides are in the command above only)";
  outs() << '\n';
  outs().flush();
}

} // namespace attn::run::fuzz

//===- Reductions.cpp - smaller kernels and sets --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Reductions.h.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Reductions.h"

#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn::run::fuzz {

/// Two positive numbers around a slash.
static bool readPair(StringRef text, int64_t &first, int64_t &second) {
  auto [left, right] = text.split('/');
  int64_t a, b;
  if (left.getAsInteger(10, a) || right.getAsInteger(10, b) || a < 1 || b < 1)
    return false;
  first = a;
  second = b;
  return true;
}

static bool isSize(StringRef word) {
  auto [name, value] = word.split('=');
  int64_t size;
  return (name == "b" || name == "n" || name == "m") &&
         !value.getAsInteger(10, size) && size >= 0 && size <= 4096;
}

/// False if the word is none.
static bool reduceBy(Kernel &kernel, StringRef word,
                     std::vector<bool> &dropped) {
  size_t number;
  StringRef rest = word;
  if (rest.consume_front("rule-") && !rest.getAsInteger(10, number) &&
      number < dropped.size())
    dropped[number] = true;
  else if (word == "no-lse")
    kernel.hasLse = false;
  else if (word == "no-kept")
    kernel.keepsWeights = kernel.keepsScores = false;
  else if (word == "no-rotary")
    kernel.hasRotary = false;
  else if (word == "no-sinks")
    kernel.softmax = {"softmax", "attn.softmax {s}", {}};
  else if (word == "plain-scores")
    kernel.scores = {
        "product", "attn.scores {q}, {k} layout({L}) : {Q}, {K} -> {S}", {}};
  else if (word == "plain-mix")
    kernel.mix = {"mix", "attn.mix {p}, {v} layout({L}) : {S}, {V} -> {O}", {}};
  else if (word == "bshd")
    kernel.layout = "bshd";
  else if (rest = word; rest.consume_front("element=")) {
    kernel.element = rest.str();
    return is_contained({"f32", "f64", "f16", "bf16"}, rest);
  } else if (rest = word; rest.consume_front("heads="))
    return readPair(rest, kernel.heads, kernel.keyHeads) &&
           kernel.heads % kernel.keyHeads == 0;
  else if (rest = word; rest.consume_front("channels="))
    return readPair(rest, kernel.channels, kernel.valueChannels);
  else if (rest = word;
           kernel.queries && rest.consume_front("n=") && isSize(word))
    return !rest.getAsInteger(10, kernel.queries) && kernel.queries > 0;
  else
    return isSize(word) || word == "dense" || word == "normal";
  return true;
}

Error reduce(Kernel &kernel, ArrayRef<std::string> words) {
  Problems problems;
  std::vector<bool> dropped(kernel.rules.size(), false);
  for (const std::string &word : words)
    if (!reduceBy(kernel, word, dropped))
      problems.add("expected --fuzz-reduce with words like rule-0, no-lse, "
                   "heads=2/1 or n=5, got '" +
                   word + "'");
  std::vector<Part> rules;
  for (auto [rule, isDropped] : zip_equal(kernel.rules, dropped))
    if (!isDropped)
      rules.push_back(std::move(rule));
  kernel.rules = std::move(rules);
  if (kernel.hasRotary)
    kernel.rotaryPairs = std::min(kernel.rotaryPairs, kernel.channels / 2);
  kernel.hasRotary &= kernel.rotaryPairs > 0;
  return problems.take();
}

void reduce(ValueSet &set, ArrayRef<std::string> words) {
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    int64_t *size = name == "b"   ? &set.batch
                    : name == "n" ? &set.queries
                    : name == "m" ? &set.keys
                                  : nullptr;
    if (size)
      value.getAsInteger(10, *size);
    else if (word == "dense")
      set.isStrided = false;
    else if (word == "normal")
      set.numbers = Numbers::Normal;
  }
}

std::vector<std::string> candidates(const Kernel &kernel, const ValueSet &set) {
  std::vector<std::string> words;
  auto add = [&](bool isSmaller, const Twine &word) {
    if (isSmaller)
      words.push_back(word.str());
  };
  add(kernel.keepsWeights || kernel.keepsScores, "no-kept");
  for (size_t rule = kernel.rules.size(); rule-- > 0;)
    add(true, "rule-" + Twine(rule));
  add(kernel.hasRotary, "no-rotary");
  add(kernel.scores.feature != "product", "plain-scores");
  add(kernel.mix.feature != "mix", "plain-mix");
  add(kernel.has("sinks"), "no-sinks");
  add(set.isStrided, "dense");
  add(kernel.heads > 1, "heads=1/1");
  add(kernel.heads > 2 || kernel.keyHeads > 1, "heads=2/1");
  add(set.batch > 1, "b=1");
  add(kernel.channels > 4 || kernel.valueChannels > 4, "channels=4/4");
  add(kernel.channels != kernel.valueChannels,
      "channels=" + Twine(kernel.channels) + "/" + Twine(kernel.channels));
  add(set.queries > 1, "n=1");
  add(set.keys > 1, "m=1");
  for (int64_t divisor : {4, 2}) {
    add(set.queries > 4, "n=" + Twine(set.queries / divisor));
    add(set.keys > 4, "m=" + Twine(set.keys / divisor));
  }
  add(kernel.hasLse, "no-lse");
  add(kernel.layout != "bshd", "bshd");
  add(set.numbers != Numbers::Normal, "normal");
  return words;
}

} // namespace attn::run::fuzz

//===- Kernel.cpp - a random attention ------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Chooses sizes and parts, and writes them as IR of the graph level. Batch and
// lengths stay open, so that one compiled kernel is run with many sizes.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kernel.h"

#include "Fuzz/Rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::run::fuzz {

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Element types of kernels, as often as they come: to fuzz another one is to
/// add it here.
static const std::string elements[] = {"f32", "f32", "f32", "f32", "f32",
                                       "f32", "f64", "f16", "bf16"};
static const std::string layouts[] = {"bshd", "bhsd", "sbhd"};
/// Query heads and key heads.
static const std::pair<int64_t, int64_t> headChoices[] = {
    {1, 1}, {2, 2}, {3, 3}, {4, 2}, {4, 1}, {6, 2}, {6, 6}, {5, 1}, {8, 4}};
/// Queries of decoding and speculation: with a few the lanes of vectors are
/// channels and keys, and the heads of a group share a tile.
static const int64_t queryChoices[] = {1, 1, 1, 2, 3, 4, 5, 8, 9, 16};
/// Sizes that vectors and tiles divide, and others.
static const int64_t channelChoices[] = {
    1,  2,  3,  4,  5,  7,  8,  12, 16,  20,  24,  31,  32,  33,
    40, 48, 64, 65, 72, 80, 88, 96, 100, 112, 127, 128, 129, 160};

static int64_t randomChannels(Random &random) {
  // Large ones are rarer: they cost more and find less.
  ArrayRef<int64_t> all(channelChoices);
  return random.pick(random.oneIn(3) ? all : all.take_front(17));
}

Kernel randomKernel(uint64_t seed) {
  Random random(seed);
  Kernel kernel;
  kernel.seed = seed;
  kernel.layout = random.pick(ArrayRef(layouts));
  std::tie(kernel.heads, kernel.keyHeads) = random.pick(ArrayRef(headChoices));
  kernel.channels = randomChannels(random);
  kernel.valueChannels =
      random.oneIn(2) ? kernel.channels : randomChannels(random);
  if (kernel.channels > 1 && random.oneIn(8)) {
    kernel.hasRotary = true;
    kernel.isInterleaved = random.oneIn(2);
    kernel.rotaryPairs = random.oneIn(2)
                             ? kernel.channels / 2
                             : random.between(1, kernel.channels / 2);
  }
  kernel.scores = randomScores(random);
  int64_t masks = random.below(4) == 3 ? 2 : random.between(0, 2);
  int64_t formulas = random.oneIn(2) ? 0 : random.between(1, 2);
  while (masks + formulas > 0)
    if (random.below(masks + formulas) < masks) {
      kernel.rules.push_back(randomMask(random));
      --masks;
    } else {
      kernel.rules.push_back(randomScoreRule(random));
      --formulas;
    }
  kernel.softmax = randomSoftmax(random);
  kernel.mix = randomMix(random);
  kernel.hasLse = random.oneIn(2);
  // Kept tensors are kernels of their own, which take long to compile.
  kernel.keepsWeights = random.oneIn(12);
  kernel.keepsScores = random.oneIn(16);
  kernel.element = random.pick(ArrayRef(elements));
  // What the products of a matrix unit take.
  if (kernel.element == "bf16" && random.oneIn(2))
    kernel.channels = alignTo(kernel.channels, 32);
  if (random.oneIn(4))
    kernel.queries = random.pick(ArrayRef(queryChoices));
  return kernel;
}

static void forEachPart(const Kernel &kernel,
                        function_ref<void(const Part &)> visit) {
  visit(kernel.scores);
  for (const Part &rule : kernel.rules)
    visit(rule);
  visit(kernel.softmax);
  visit(kernel.mix);
}

bool Kernel::has(StringRef feature) const {
  bool found = (feature == "rotary" && hasRotary) ||
               (feature == "lse" && hasLse) ||
               (feature == "groups" && heads != keyHeads && keyHeads > 1);
  forEachPart(*this, [&](const Part &part) {
    SmallVector<StringRef> words;
    StringRef(part.feature).split(words, '+');
    found |= is_contained(words, feature);
  });
  return found;
}

std::string Kernel::describe() const {
  std::string text;
  raw_string_ostream stream(text);
  stream << element << ' ' << layout << ", heads " << heads << '/' << keyHeads
         << ", channels " << channels << '/' << valueChannels << ':';
  if (queries)
    stream << " queries-" << queries;
  if (hasRotary)
    stream << " rotary";
  forEachPart(*this, [&](const Part &part) { stream << ' ' << part.feature; });
  for (auto [is, word] : {std::pair(hasLse, " lse"),
                          {keepsWeights, " weights"},
                          {keepsScores, " scores"}})
    if (is)
      stream << word;
  return text;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The shape of a head-split tensor.
static SmallVector<Extent, 4> headShape(StringRef layout, char length,
                                        char heads, char channels) {
  SmallVector<Extent, 4> shape;
  for (char name : layout)
    shape.push_back({name == 'b'   ? 'B'
                     : name == 's' ? length
                     : name == 'h' ? heads
                                   : channels,
                     0});
  return shape;
}

std::vector<NamedInput> inputsOf(const Kernel &kernel) {
  std::vector<NamedInput> inputs = {
      {"q", {Role::Query, "E", headShape(kernel.layout, 'N', 'H', 'D')}},
      {"k", {Role::Key, "E", headShape(kernel.layout, 'M', 'G', 'D')}},
      {"v", {Role::Value, "E", headShape(kernel.layout, 'M', 'G', 'V')}}};
  if (kernel.hasRotary)
    for (auto [name, length] : {std::pair("q", 'N'), {"k", 'M'}})
      for (auto [table, role] :
           {std::pair("cos_", Role::Cosine), {"sin_", Role::Sine}})
        inputs.push_back({std::string(table) + name,
                          {role, "E", {{length, 0}, {0, kernel.rotaryPairs}}}});
  size_t number = 0;
  forEachPart(kernel, [&](const Part &part) {
    for (const Input &input : part.inputs)
      inputs.push_back({"x" + std::to_string(number++), input});
  });
  return inputs;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// Writes one kernel.
class Writer {
public:
  Writer(const Kernel &kernel, bool forOracle)
      : kernel(kernel), forOracle(forOracle), inputs(inputsOf(kernel)) {}

  std::string write();

private:
  std::string elementOf(StringRef type) const;
  std::string typeOf(const Input &input) const;
  std::string typeOf(StringRef type, ArrayRef<Extent> shape) const;
  std::string dimsOf(ArrayRef<Extent> shape) const;
  /// Fills in a part's text; returns the name of its value.
  std::string line(const Part &part, StringRef before, StringRef name);
  void rotate(StringRef name, char length, char heads);

  const Kernel &kernel;
  bool forOracle;
  std::vector<NamedInput> inputs;
  std::string body;
  StringMap<std::string> words;
  size_t nextInput = 3;
};
} // namespace

std::string Writer::elementOf(StringRef type) const {
  if (type == "E")
    return kernel.element;
  if (type == "F")
    return kernel.element == "f64" ? "f64" : "f32";
  return type.str();
}

std::string Writer::typeOf(StringRef type, ArrayRef<Extent> shape) const {
  std::string text = "tensor<";
  for (Extent extent : shape)
    switch (extent.letter) {
    case 'N':
      text += kernel.queries ? std::to_string(kernel.queries) + "x" : "?x";
      break;
    case 'B':
    case 'M':
      text += "?x";
      break;
    case 0:
      text += std::to_string(extent.size) + "x";
      break;
    default:
      text += std::to_string(extent.letter == 'H'   ? kernel.heads
                             : extent.letter == 'G' ? kernel.keyHeads
                             : extent.letter == 'D' ? kernel.channels
                                                    : kernel.valueChannels) +
              "x";
    }
  return text + elementOf(type) + ">";
}

std::string Writer::typeOf(const Input &input) const {
  return typeOf(input.type, input.shape);
}

std::string Writer::dimsOf(ArrayRef<Extent> shape) const {
  std::string text;
  for (Extent extent : shape) {
    bool isOpen = extent.letter == 'B' || extent.letter == 'M' ||
                  (extent.letter == 'N' && !kernel.queries);
    text += text.empty() ? "" : ", ";
    text +=
        isOpen ? "\"" + std::string(1, toLower(extent.letter)) + "\"" : "\"\"";
  }
  return "[" + text + "]";
}

std::string Writer::line(const Part &part, StringRef before, StringRef name) {
  words["s"] = before.str();
  words["id"] = name.str();
  for (auto [i, input] : enumerate(part.inputs)) {
    words[std::to_string(i)] = "%" + inputs[nextInput].name;
    words["T" + std::to_string(i)] = typeOf(input);
    ++nextInput;
  }
  SmallVector<StringRef> lines;
  StringRef(part.text).split(lines, '\n');
  for (StringRef text : lines) {
    body += "  ";
    if (text == lines.back())
      body += "%" + name.str() + " = ";
    while (!text.empty()) {
      size_t open = text.find('{'), close = text.find('}');
      body += text.take_front(open);
      if (open == StringRef::npos)
        break;
      body += words[text.slice(open + 1, close)];
      text = text.drop_front(close + 1);
    }
    body += '\n';
  }
  return "%" + name.str();
}

void Writer::rotate(StringRef name, char length, char heads) {
  std::string type = typeOf("E", headShape(kernel.layout, length, heads, 'D'));
  std::string table = typeOf(inputs[nextInput].input);
  nextInput += 2;
  body += ("  %" + name + "_turned = attn.rotary %" + name + ", %cos_" + name +
           ", %sin_" + name + " layout(" + kernel.layout + ")<" +
           (kernel.isInterleaved ? "interleaved" : "half") + "> : " + type +
           ", " + table + ", " + table + "\n")
              .str();
}

std::string Writer::write() {
  SmallVector<Extent, 4> scoreShape = {{'B', 0}, {'H', 0}, {'N', 0}, {'M', 0}};
  std::string scoreType = typeOf("E", scoreShape);
  std::string lseType = typeOf("F", ArrayRef(scoreShape).drop_back());
  std::string outputType = typeOf("E", headShape(kernel.layout, 'N', 'H', 'V'));
  words["q"] = kernel.hasRotary ? "%q_turned" : "%q";
  words["k"] = kernel.hasRotary ? "%k_turned" : "%k";
  words["v"] = "%v";
  words["Q"] = typeOf(inputs[0].input);
  words["K"] = typeOf(inputs[1].input);
  words["V"] = typeOf(inputs[2].input);
  words["O"] = outputType;
  words["S"] = scoreType;
  words["L"] = kernel.layout;
  words["f"] = elementOf("F");

  if (kernel.hasRotary) {
    rotate("q", 'N', 'H');
    rotate("k", 'M', 'G');
  }
  std::string product = line(kernel.scores, "", "s");
  std::string scores = product;
  for (auto [i, rule] : enumerate(kernel.rules))
    scores = line(rule, scores, "s" + std::to_string(i + 1));
  Part softmax = kernel.softmax;
  bool hasLse = kernel.hasLse || forOracle;
  softmax.text += " : {S} -> {S}" + (hasLse ? ", " + lseType : "");
  line(softmax, scores, hasLse ? "p, %lse" : "p");
  words["p"] = "%p";
  line(kernel.mix, "", "o");

  SmallVector<std::pair<std::string, std::string>> results = {
      {"o", outputType}};
  if (hasLse)
    results.push_back({"lse", lseType});
  if (kernel.keepsWeights || forOracle)
    results.push_back({"p", scoreType});
  if (kernel.keepsScores || forOracle)
    results.push_back({scores.substr(1), scoreType});
  if (forOracle)
    results.push_back({product.substr(1), scoreType});

  std::string text = "attn.dim @b range(0, 8)\n";
  if (!kernel.queries)
    text += "attn.dim @n range(0, 512)\n";
  // With many keys and few queries keys are split into chunks.
  text += kernel.queries ? "attn.dim @m range(0, 4096)\n"
                         : "attn.dim @m range(0, 512)\n";
  text += "func.func @main(";
  for (auto [i, input] : enumerate(inputs))
    text += (i ? ",\n    %" : "%") + input.name + ": " + typeOf(input.input) +
            " {attn.name = \"" + input.name +
            "\", attn.dims = " + dimsOf(input.input.shape) + "}";
  text += ")\n    -> (";
  std::string names, types;
  for (auto [i, result] : enumerate(results)) {
    bool isScores = i > 0 && result.first.front() == 's';
    std::string name = !isScores                              ? result.first
                       : i + 1 == results.size() && forOracle ? "product"
                                                              : "scores";
    text += (i ? ", " : "") + result.second + " {attn.name = \"" + name + "\"}";
    names += (i ? ", %" : "%") + result.first;
    types += (i ? ", " : "") + result.second;
  }
  return text + ") {\n" + body + "  return " + names + " : " + types + "\n}\n";
}

std::string kernelText(const Kernel &kernel, bool forOracle) {
  return Writer(kernel, forOracle).write();
}

} // namespace attn::run::fuzz

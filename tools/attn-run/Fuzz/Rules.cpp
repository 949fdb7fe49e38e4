//===- Rules.cpp - the rules that a random attention is made of -----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Rules.h. Constants are small, so that sizes up to 300 meet all sides of a
// rule: rows without keys, tiles that are cut, full tiles, empty tiles.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace attn::run::fuzz {

static std::string number(int64_t value) { return std::to_string(value); }

static Extent letter(char name) { return {name, 0}; }
static Extent fixed(int64_t size) { return {0, size}; }

/// ` : f32`-like tail of a list of operands: `({0}, {1} : {T0}, {T1})`.
static std::string operandList(size_t count) {
  std::string names, types;
  for (size_t i = 0; i < count; ++i) {
    names += (i ? ", {" : "{") + std::to_string(i) + "}";
    types += (i ? ", {T" : "{T") + std::to_string(i) + "}";
  }
  return count ? "(" + names + " : " + types + ")" : "";
}

/// A tensor that broadcasts to (B, H, N, M), perhaps of a lower rank.
static Input broadcastInput(Random &random, Role role, StringRef type) {
  Input input{role, type.str(), {}};
  // 15 of the 16 combinations: one that varies at all.
  int64_t varying = random.between(1, 15);
  for (auto [i, name] : enumerate(StringRef("BHNM")))
    input.shape.push_back(varying >> i & 1 ? letter(name) : fixed(1));
  while (input.shape.size() > 1 && !input.shape.front().letter &&
         random.oneIn(2))
    input.shape.erase(input.shape.begin());
  return input;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

namespace {
/// A rule in the making: text such as `window<left = 3, right = 0>`, and what
/// it reads.
struct MaskText {
  std::string feature, rule;
  std::vector<Input> inputs = {};
};

struct MaskChoice {
  /// How often it is taken, in relation to the others.
  int64_t weight;
  MaskText (*make)(Random &random);
};
} // namespace

/// The word of an alignment; `offset` adds its operand.
static std::string alignment(Random &random, std::vector<Input> &inputs) {
  switch (random.below(3)) {
  case 0:
    return "top_left";
  case 1:
    return "bottom_right";
  default:
    inputs.push_back({Role::Offset, "i64", {letter('B')}});
    return "offset";
  }
}

static std::string lengthType(Random &random) {
  return random.oneIn(2) ? "i32" : "i64";
}
static std::string flagType(Random &random) {
  static const std::string types[] = {"i1", "i8", "i32", "i64"};
  return random.pick(ArrayRef(types));
}

static MaskText aligned(Random &random, StringRef feature, std::string text) {
  MaskText mask{feature.str(), ""};
  std::string word = alignment(random, mask.inputs);
  mask.rule = text + word + ">";
  mask.feature += "+" + word;
  return mask;
}

static const MaskChoice maskChoices[] = {
    {4, [](Random &random) { return aligned(random, "causal", "causal<"); }},
    {3,
     [](Random &random) {
       int64_t left =
           random.oneIn(6)
               ? -1
               : random.below(random.pick(ArrayRef<int64_t>{4, 40, 150}));
       int64_t right = random.oneIn(3)   ? 0
                       : random.oneIn(6) ? -1
                                         : random.below(40);
       return aligned(random, "window",
                      "window<left = " + number(left) +
                          ", right = " + number(right) + ", alignment = ");
     }},
    {2,
     [](Random &random) {
       return aligned(random, "chunked",
                      "chunked<size = " + number(random.between(1, 70)) +
                          ", alignment = ");
     }},
    {2,
     [](Random &random) {
       return aligned(random, "dilated",
                      "dilated<step = " + number(random.between(1, 9)) +
                          ", alignment = ");
     }},
    {2,
     [](Random &random) {
       return MaskText{"blocks",
                       "blocks<query = " + number(random.between(1, 60)) +
                           ", key = " + number(random.between(1, 60)) + ">"};
     }},
    {1,
     [](Random &random) {
       return MaskText{"prefix",
                       "prefix",
                       {{Role::KeyCount, lengthType(random), {letter('B')}}}};
     }},
    {3,
     [](Random &random) {
       return MaskText{"key_lengths",
                       "key_lengths",
                       {{Role::KeyCount, lengthType(random), {letter('B')}}}};
     }},
    {1,
     [](Random &random) {
       return MaskText{"query_lengths",
                       "query_lengths",
                       {{Role::QueryCount, lengthType(random), {letter('B')}}}};
     }},
    {2,
     [](Random &random) {
       return MaskText{
           "key_padding",
           "key_padding",
           {{Role::Flags, flagType(random), {letter('B'), letter('M')}}}};
     }},
    {2,
     [](Random &random) {
       std::string type = lengthType(random);
       return MaskText{"segments",
                       "segments",
                       {{Role::Ids, type, {letter('B'), letter('N')}},
                        {Role::Ids, type, {letter('B'), letter('M')}}}};
     }},
    {1,
     [](Random &random) {
       return MaskText{
           "global",
           "global",
           {{Role::Flags, flagType(random), {letter('B'), letter('N')}},
            {Role::Flags, flagType(random), {letter('B'), letter('M')}}}};
     }},
    {3,
     [](Random &random) {
       return MaskText{
           "dense", "dense", {broadcastInput(random, Role::Flags, "i1")}};
     }},
};

static MaskText randomRule(Random &random, unsigned depth) {
  if (depth < 2 && random.oneIn(depth ? 6 : 4)) {
    static const char *const words[] = {"any_of", "all_of", "not"};
    std::string word = words[random.below(3)];
    MaskText mask{word, word + (word == "not" ? "<" : "<[")};
    int64_t parts = word == "not" ? 1 : random.between(1, 3);
    for (int64_t i = 0; i < parts; ++i) {
      MaskText part = randomRule(random, depth + 1);
      mask.feature += "+" + part.feature;
      mask.rule += (i ? ", " : "") + part.rule;
      llvm::append_range(mask.inputs, part.inputs);
    }
    mask.rule += word == "not" ? ">" : "]>";
    return mask;
  }
  int64_t total = 0;
  for (const MaskChoice &choice : maskChoices)
    total += choice.weight;
  int64_t at = random.below(total);
  for (const MaskChoice &choice : maskChoices)
    if ((at -= choice.weight) < 0)
      return choice.make(random);
  llvm_unreachable("a random number below the sum of all weights");
}

Part randomMask(Random &random) {
  // A float mask does not go into compositions.
  MaskText mask = random.oneIn(10)
                      ? MaskText{"dense_float",
                                 "dense",
                                 {broadcastInput(random, Role::FloatMask, "E")}}
                      : randomRule(random, 0);
  return {mask.feature,
          "attn.mask {s} by " + mask.rule + operandList(mask.inputs.size()) +
              " : {S}",
          mask.inputs};
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// `aligned(...)` with its operand after those in `inputs`.
static std::string alignedOperand(Random &random, Part &part) {
  std::string word = alignment(random, part.inputs);
  part.feature += "+" + word;
  if (word != "offset")
    return " aligned(" + word + ")";
  std::string place = number(part.inputs.size() - 1);
  return " aligned(offset, {" + place + "} : {T" + place + "})";
}

static Part biasPart(Random &random) {
  return {"bias",
          "attn.bias {s}, {0} : {S}, {T0}",
          {broadcastInput(random, Role::Bias, "E")}};
}

static Part softcapPart(Random &random) {
  if (random.oneIn(3))
    return {"softcap",
            "%cap{id} = tensor.extract {0}[] : {T0}\n"
            "attn.softcap {s} cap(%cap{id} : {f}) : {S}",
            {{Role::Slope, "F", {}}}};
  return {"softcap",
          "%cap{id} = arith.constant " + number(random.between(1, 50)) +
              ".0 : {f}\nattn.softcap {s} cap(%cap{id} : {f}) : {S}",
          {}};
}

static Part alibiPart(Random &random) {
  Part part{"alibi", "attn.alibi {s}", {}};
  if (random.oneIn(3)) {
    part.inputs.push_back({Role::Slope, "E", {letter('H')}});
    part.text += " slopes({0} : {T0})";
  } else {
    part.feature += "+slopes_of_paper";
  }
  if (random.oneIn(2))
    part.text += " symmetric";
  part.text += alignedOperand(random, part) + " : {S}";
  return part;
}

static Part t5Part(Random &random) {
  int64_t buckets = 2 * random.between(2, 16);
  bool both = random.oneIn(2);
  // Above half of the buckets of a side.
  int64_t farthest = buckets + random.between(1, 150);
  Part part{"t5_bias",
            "attn.t5_bias {s}, {0}",
            {{Role::Number, "E", {fixed(buckets), letter('H')}}}};
  part.text += std::string(both ? " bidirectional" : "") + " max_distance(" +
               number(farthest) + ")" + alignedOperand(random, part) +
               " : {S}, {T0}";
  return part;
}

Part randomScoreRule(Random &random) {
  static constexpr Part (*choices[])(Random &) = {biasPart, softcapPart,
                                                  alibiPart, t5Part};
  return choices[random.below(std::size(choices))](random);
}

//===----------------------------------------------------------------------===//
// Scores, softmax, mix
//===----------------------------------------------------------------------===//

/// `relative({n} : {Tn}) aligned(...)`, a vector of `channels` a distance.
static std::string relative(Random &random, char channels, Part &part) {
  std::string place = number(part.inputs.size());
  part.feature += "+relative";
  part.inputs.push_back(
      {Role::Number, "E", {fixed(2 * random.below(20) + 1), letter(channels)}});
  return " relative({" + place + "} : {T" + place + "})" +
         alignedOperand(random, part);
}

Part randomScores(Random &random) {
  if (random.oneIn(20)) {
    Part part{"additive",
              "attn.additive_scores {q}, {k}, {0} layout({L}) "
              ": {Q}, {K}, {T0} -> {S}",
              {{Role::Number, "E", {letter('D')}}}};
    if (random.oneIn(2))
      part.inputs[0].shape.insert(part.inputs[0].shape.begin(), letter('H'));
    return part;
  }
  Part part{"product", "attn.scores {q}, {k}", {}};
  std::string setup;
  switch (random.below(4)) {
  case 0:
    part.feature += "+run_time_scale";
    part.inputs.push_back({Role::Factor, "F", {}});
    setup = "%scale = tensor.extract {0}[] : {T0}\n";
    break;
  case 1:
    part.feature += "+scale";
    setup = "%scale = arith.constant " +
            std::string(random.oneIn(3) ? "-" : "") + "0." +
            number(random.between(1, 99)) + " : {f}\n";
    break;
  default:
    break; // 1 / sqrt(D).
  }
  if (!setup.empty())
    part.text += " scale(%scale : {f})";
  if (random.oneIn(10))
    part.text += relative(random, 'D', part);
  part.text = setup + part.text + " layout({L}) : {Q}, {K} -> {S}";
  return part;
}

Part randomSoftmax(Random &random) {
  if (random.oneIn(6))
    return {"softmax+sinks",
            "attn.softmax {s} sinks({0} : {T0})",
            {{Role::Sink, "E", {letter('H')}}}};
  return {"softmax", "attn.softmax {s}", {}};
}

Part randomMix(Random &random) {
  Part part{"mix", "attn.mix {p}, {v}", {}};
  if (random.oneIn(12))
    part.text += relative(random, 'V', part);
  part.text += " layout({L}) : {S}, {V} -> {O}";
  return part;
}

} // namespace attn::run::fuzz

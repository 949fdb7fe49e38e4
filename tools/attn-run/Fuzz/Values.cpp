//===- Values.cpp - sizes and inputs of a random attention ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Values.h.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Values.h"

#include "Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;

namespace attn::run::fuzz {

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

StringRef nameOf(Numbers numbers) {
  static const StringLiteral names[] = {"normal",     "large",      "tiny",
                                        "denormal",   "equal",      "peaked",
                                        "hidden NaN", "visible NaN"};
  return names[static_cast<size_t>(numbers)];
}

std::string ValueSet::describe() const {
  return ("b=" + Twine(batch) + " n=" + Twine(queries) + " m=" + Twine(keys) +
          ", " + nameOf(numbers) + " numbers" + (isStrided ? ", strided" : ""))
      .str();
}

/// Zero, one, primes, tiles of 8, 16, 24, 32, 64 and 128 and one more and less.
static const int64_t lengths[] = {
    0,   1,   2,   3,   5,   7,   8,   9,   13,  15,  16,  17,  23, 24,
    25,  31,  32,  33,  37,  47,  48,  49,  63,  64,  65,  72,  97, 127,
    128, 129, 150, 191, 192, 193, 211, 255, 256, 257, 263, 287, 300};

/// Around the chunk that keys of few queries are split by.
static const int64_t manyKeys[] = {767, 1023, 1024, 1025, 2048, 2500};

ValueSet chooseSet(const Kernel &kernel, uint64_t index) {
  Random random(kernel.seed * 1000003 + index);
  ValueSet set;
  set.seed = random.next();
  static const int64_t batches[] = {1, 1, 1, 2, 2, 2, 3, 3};
  set.batch = random.oneIn(20) ? 0 : random.pick(ArrayRef(batches));
  ArrayRef<int64_t> all(lengths);
  auto length = [&] {
    // Zero is rarer than its share.
    int64_t size = random.pick(random.oneIn(3) ? all : all.take_front(24));
    return size == 0 && !random.oneIn(3) ? 1 : size;
  };
  set.queries = kernel.queries ? kernel.queries : length();
  set.keys = random.oneIn(4) ? set.queries : length();
  if (kernel.queries && random.oneIn(4))
    set.keys = random.pick(ArrayRef(manyKeys));
  // What the oracle takes is bounded; one set in fifteen may be large.
  int64_t budget = random.oneIn(15) ? 40'000'000 : 5'000'000;
  auto work = [&] {
    return set.batch * kernel.heads * set.queries * set.keys *
           (kernel.channels + kernel.valueChannels + 16);
  };
  if (work() > budget)
    set.batch = 1;
  while (work() > budget)
    (set.queries > set.keys && !kernel.queries ? set.queries : set.keys) -= 7;
  // Each kind comes at its own turn, plain numbers in between.
  static const Numbers turns[] = {
      Numbers::Normal,    Numbers::HiddenNan,  Numbers::Normal,
      Numbers::Large,     Numbers::Normal,     Numbers::Equal,
      Numbers::HiddenNan, Numbers::Peaked,     Numbers::Normal,
      Numbers::Tiny,      Numbers::VisibleNan, Numbers::Normal,
      Numbers::Denormal,  Numbers::HiddenNan,  Numbers::Normal};
  set.numbers = turns[index % std::size(turns)];
  set.isStrided = random.oneIn(4);
  return set;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The factor of normal numbers, by what they are for.
static double magnitude(Role role, Numbers numbers, const Kernel &kernel) {
  switch (numbers) {
  case Numbers::Large:
    // Scores that are stored must be numbers of the type: in f16 below 65504.
    if (role == Role::Query || role == Role::Key)
      return kernel.element == "f16" ? 20 : 100;
    return role == Role::Value ? 1e4 : 1;
  case Numbers::Tiny:
    return role == Role::Query || role == Role::Key || role == Role::Value
               ? 1e-30
               : 1;
  case Numbers::Denormal:
    return role == Role::Key || role == Role::Value ? 1e-39 : 1;
  case Numbers::Peaked:
    return role == Role::Query || role == Role::Key ? 6 : 1;
  default:
    return 1;
  }
}

static double randomElement(Role role, const Kernel &kernel,
                            const ValueSet &set, Random &random) {
  int64_t n = set.queries, m = set.keys;
  switch (role) {
  case Role::Query:
  case Role::Key:
    if (set.numbers == Numbers::Equal)
      return role == Role::Query ? 0.3 : 0.7;
    [[fallthrough]];
  case Role::Value:
  case Role::Number:
  case Role::Sink:
    return random.normal() * magnitude(role, set.numbers, kernel);
  case Role::Bias:
    if (set.numbers == Numbers::Peaked && random.oneIn(4))
      return -std::numeric_limits<double>::infinity();
    return random.normal();
  case Role::Factor: {
    double factor = 0.05 + std::fabs(random.normal());
    return random.oneIn(3) ? -factor : factor;
  }
  case Role::Slope:
    return 0.05 + std::fabs(random.normal());
  case Role::FloatMask:
    return random.oneIn(3) ? -std::numeric_limits<double>::infinity()
                           : random.normal();
  case Role::Flags:
    return random.below(4) != 0;
  case Role::Ids:
    return static_cast<double>(random.below(3));
  case Role::KeyCount:
    return static_cast<double>(random.between(-1, m + 2));
  case Role::QueryCount:
    return static_cast<double>(random.between(-1, n + 2));
  case Role::Offset:
    return static_cast<double>(random.between(-n - 1, m + 1));
  case Role::Cosine:
  case Role::Sine:
    return 0; // By position, below.
  }
  llvm_unreachable("all roles are above");
}

static bool isNumber(Role role) {
  return role == Role::Query || role == Role::Key || role == Role::Value ||
         role == Role::Number || role == Role::Bias;
}

/// Calls `visit(i, indices)` for each element.
static void
forEachIndex(ArrayRef<int64_t> shape,
             function_ref<void(uint64_t, ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t, 4> at(shape.size(), 0);
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  for (uint64_t i = 0; i < count; ++i) {
    visit(i, at);
    for (size_t dim = shape.size(); dim > 0 && ++at[dim - 1] == shape[dim - 1];)
      at[--dim] = 0;
  }
}

static int64_t sizeOf(Extent extent, const Kernel &kernel,
                      const ValueSet &set) {
  switch (extent.letter) {
  case 'B':
    return set.batch;
  case 'N':
    return set.queries;
  case 'M':
    return set.keys;
  case 'H':
    return kernel.heads;
  case 'G':
    return kernel.keyHeads;
  case 'D':
    return kernel.channels;
  case 'V':
    return kernel.valueChannels;
  default:
    return extent.size;
  }
}

static NpyArray makeArray(const NamedInput &input, const Kernel &kernel,
                          const ValueSet &set, Random &random) {
  NpyArray array;
  array.name = input.name;
  StringRef type = input.input.type;
  if (type == "E")
    type = kernel.element;
  else if (type == "F")
    type = kernel.element == "f64" ? "f64" : "f32";
  array.type = type == "i1" ? NpyType::Bool : *npyTypeNamed(type);
  uint64_t bytes = npyTypeBytes(array.type);
  for (Extent extent : input.input.shape) {
    array.shape.push_back(sizeOf(extent, kernel, set));
    bytes *= array.shape.back();
  }
  array.data.resize(bytes);
  Role role = input.input.role;
  forEachIndex(array.shape, [&](uint64_t i, ArrayRef<int64_t> at) {
    double value = randomElement(role, kernel, set, random);
    if (role == Role::Cosine || role == Role::Sine) {
      double angle =
          static_cast<double>(at[0]) * std::exp2(-static_cast<double>(at[1]));
      value = role == Role::Cosine ? std::cos(angle) : std::sin(angle);
    }
    setNpyElement(array, i, value);
  });
  return array;
}

static double randomSpecial(Random &random) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (random.below(3)) {
  case 0:
    return infinity;
  case 1:
    return -infinity;
  default:
    return std::numeric_limits<double>::quiet_NaN();
  }
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// Makes all slices along a dimension equal to the first.
static void repeatAlong(NpyArray &array, size_t dim) {
  uint64_t bytes = npyTypeBytes(array.type), inner = bytes;
  for (int64_t size : ArrayRef(array.shape).drop_front(dim + 1))
    inner *= size;
  for (uint64_t i = 0; inner && i < array.data.size() / inner; ++i) {
    uint64_t first = i - i % array.shape[dim];
    if (i != first)
      memcpy(array.data.data() + i * inner, array.data.data() + first * inner,
             inner);
  }
}

/// Random strides: gaps between rows, dimensions in another order, and, where
/// `repeats` allows it, 0.
static SmallVector<int64_t, 4>
randomStrides(ArrayRef<int64_t> shape, ArrayRef<bool> repeats, Random &random) {
  SmallVector<unsigned, 4> order(shape.size());
  for (auto [i, dim] : enumerate(order))
    dim = i;
  // Vectors stay whole, or the tensor is copied: which one is as likely.
  size_t movable = random.oneIn(4) ? shape.size() : shape.size() - 1;
  if (random.oneIn(3))
    for (size_t i = movable; i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (unsigned dim : llvm::reverse(order)) {
    strides[dim] = stride;
    if (repeats[dim]) {
      strides[dim] = 0;
      continue;
    }
    stride *= std::max<int64_t>(shape[dim], 1);
    stride += random.oneIn(2) ? random.below(9) : 0;
  }
  return strides;
}

/// Lets an input lie in another way, and adapts it to what that can hold.
static SmallVector<int64_t, 4> place(NpyArray &array, Random &random) {
  ArrayRef<int64_t> shape = array.shape;
  if (shape.empty() || array.data.empty() || random.oneIn(3))
    return {};
  SmallVector<bool, 4> repeats(shape.size(), false);
  // All strides zero would mean dense: the last dimension never repeats.
  if (shape.size() > 1 && random.oneIn(3)) {
    size_t dim = random.below(shape.size() - 1);
    repeats[dim] = true;
    repeatAlong(array, dim);
  }
  return randomStrides(shape, repeats, random);
}

Case makeInputs(const Kernel &kernel, const ValueSet &set,
                Placement &placement) {
  Random random(set.seed);
  Case inputs;
  inputs.name = set.describe();
  inputs.dims = {set.batch, set.queries, set.keys};
  for (const NamedInput &input : inputsOf(kernel)) {
    NpyArray array = makeArray(input, kernel, set, random);
    if (set.numbers == Numbers::VisibleNan && isNumber(input.input.role) &&
        random.oneIn(2))
      for (int64_t count = random.between(1, 3); count && array.numElements();
           --count)
        // A score of -inf would hide its pair, and whether a NaN of its value
        // is then seen is open.
        setNpyElement(array, random.below(array.numElements()),
                      input.input.role == Role::Value
                          ? randomSpecial(random)
                          : std::numeric_limits<double>::quiet_NaN());
    if (set.isStrided)
      placement.inputs.push_back(place(array, random));
    inputs.inputs.push_back(std::move(array));
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Numbers that nobody sees
//===----------------------------------------------------------------------===//

void poisonHidden(const Kernel &kernel, const ValueSet &set,
                  const NpyArray &scores, Case &inputs,
                  const Placement &placement) {
  Random random(set.seed + 1);
  // For each element of each input, whether a visible pair needs it.
  std::vector<NamedInput> infos = inputsOf(kernel);
  std::vector<std::vector<bool>> isSeen;
  isSeen.reserve(inputs.inputs.size());
  for (const NpyArray &array : inputs.inputs)
    isSeen.emplace_back(array.numElements(), false);
  int64_t share = kernel.heads / kernel.keyHeads;
  auto visit = [&](size_t number, ArrayRef<int64_t> pair) {
    const NpyArray &array = inputs.inputs[number];
    const Input &input = infos[number].input;
    // Channels stay open; they are the last dimension.
    uint64_t offset = 0, channels = 1;
    for (auto [extent, size] : zip(input.shape, array.shape)) {
      int64_t at = 0;
      if (extent.letter == 'B')
        at = pair[0];
      else if (extent.letter == 'H')
        at = pair[1];
      else if (extent.letter == 'G')
        at = pair[1] / share;
      else if (extent.letter == 'N')
        at = pair[2];
      else if (extent.letter == 'M')
        at = pair[3];
      else if (extent.letter == 'D' || extent.letter == 'V')
        channels = size;
      offset = offset * size + at;
    }
    std::vector<bool> &seen = isSeen[number];
    std::fill_n(seen.begin() + static_cast<ptrdiff_t>(offset), channels, true);
  };
  auto mayHide = [&](size_t number) {
    const Input &input = infos[number].input;
    // Tables by distance and vectors are seen by all; a tensor that repeats is
    // seen where its first slice is.
    bool isByPosition = all_of(input.shape,
                               [](Extent extent) {
                                 return extent.letter || extent.size == 1;
                               }) &&
                        any_of(input.shape, [](Extent extent) {
                          return extent.letter == 'B' || extent.letter == 'N' ||
                                 extent.letter == 'M';
                        });
    bool repeats =
        !placement.inputs.empty() && is_contained(placement.inputs[number], 0);
    return isNumber(input.role) && isByPosition && !repeats;
  };
  forEachIndex(scores.shape, [&](uint64_t i, ArrayRef<int64_t> pair) {
    if (npyElement(scores, i) == -std::numeric_limits<double>::infinity())
      return;
    for (size_t number = 0; number < infos.size(); ++number)
      if (mayHide(number))
        visit(number, pair);
  });
  for (auto [number, array] : enumerate(inputs.inputs)) {
    if (!mayHide(number))
      continue;
    for (uint64_t i = 0; i < array.numElements(); ++i)
      if (!isSeen[number][i] && !random.oneIn(3))
        setNpyElement(array, i, randomSpecial(random));
  }
}

} // namespace attn::run::fuzz

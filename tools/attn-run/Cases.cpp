//===- Cases.cpp - inputs from a file -------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Cases.h.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace attn::run {

/// `f32 (2, 13)`
static std::string describe(const NpyArray &array) {
  return (npyTypeName(array.type) + " " + shapeText(array.shape)).str();
}

/// `i64 (batch, sequence)`
static std::string describe(const TensorInfo &tensor,
                            const Interface &interface) {
  std::string text = npyTypeName(tensor.type).str() + " (";
  for (auto [i, size] : enumerate(tensor.sizes))
    text += (i ? ", " : "") +
            (size >= 0 ? std::to_string(size) : interface.dims[-1 - size].name);
  return text + ")";
}

static bool sameForm(const NpyArray &array, const TensorInfo &tensor) {
  // An expected output may be more exact than the output.
  bool sameType = array.type == tensor.type ||
                  (array.type == NpyType::F64 && isNpyFloat(tensor.type));
  return sameType && array.shape.size() == tensor.sizes.size() &&
         all_of(zip(array.shape, tensor.sizes), [](auto pair) {
           auto [got, expected] = pair;
           return expected < 0 || got == expected;
         });
}

/// Turns an f64 array into the f32 that a model wants, if no value changes by
/// that.
static bool narrowExactly(NpyArray &array) {
  std::vector<uint8_t> narrow(array.numElements() * sizeof(float));
  for (uint64_t i = 0; i < array.numElements(); ++i) {
    double wide;
    memcpy(&wide, array.data.data() + i * sizeof(wide), sizeof(wide));
    auto value = static_cast<float>(wide);
    if (static_cast<double>(value) != wide && wide == wide)
      return false;
    memcpy(narrow.data() + i * sizeof(value), &value, sizeof(value));
  }
  array.type = NpyType::F32;
  array.data = std::move(narrow);
  return true;
}

namespace {
/// Finds the value of each dim, and the array that said so.
class DimBinder {
public:
  DimBinder(const Interface &interface, Problems &problems)
      : interface(interface), problems(problems),
        values(interface.dims.size(), 0), sources(interface.dims.size()) {}

  void bind(const NpyArray &array, const TensorInfo &tensor) {
    for (auto [size, expected] : zip(array.shape, tensor.sizes)) {
      if (expected >= 0)
        continue;
      size_t i = -1 - expected;
      const DimInfo &dim = interface.dims[i];
      if (sources[i].empty()) {
        values[i] = size;
        sources[i] = array.name;
        if (size < dim.min || size > dim.max)
          problems.add("expected " + dim.name + " of " + Twine(dim.min) +
                       " to " + Twine(dim.max) + ", got " + Twine(size) +
                       " in " + array.name);
      } else if (values[i] != size) {
        problems.add("expected " + dim.name + " of " + Twine(values[i]) +
                     " (because " + sources[i] + " has it), got " +
                     Twine(size) + " in " + array.name);
      }
    }
  }

  /// Dims that no array has.
  SmallVector<int64_t> take() {
    for (auto [dim, source, value] : zip(interface.dims, sources, values)) {
      if (!source.empty())
        continue;
      value = dim.min;
      if (dim.min != dim.max)
        problems.add("expected an array that says what " + dim.name +
                     " is, got none");
    }
    return values;
  }

private:
  const Interface &interface;
  Problems &problems;
  SmallVector<int64_t> values;
  SmallVector<std::string> sources;
};
} // namespace

Expected<Case> readCase(StringRef path, const Interface &interface) {
  Expected<std::vector<NpyArray>> arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  Problems problems(path + ": ");
  Case result;
  result.name = path.str();

  auto take = [&](const Twine &name) -> std::optional<NpyArray> {
    std::string text = name.str();
    for (NpyArray &array : *arrays)
      if (array.name == text) {
        NpyArray taken = std::move(array);
        array.name.clear();
        taken.name = text;
        return taken;
      }
    return std::nullopt;
  };

  DimBinder binder(interface, problems);
  auto check = [&](const NpyArray &array, const TensorInfo &tensor) {
    if (sameForm(array, tensor))
      binder.bind(array, tensor);
    else
      problems.add("expected " + array.name + " to be " +
                   describe(tensor, interface) + ", got " + describe(array));
  };
  for (const TensorInfo &input : interface.inputs) {
    if (std::optional<NpyArray> array = take("in." + input.name)) {
      check(*array, input);
      if (array->type != input.type && array->type == NpyType::F64 &&
          input.type == NpyType::F32 && !narrowExactly(*array))
        problems.add("expected " + array->name +
                     " to be f32, or f64 with values that f32 has, got other "
                     "values");
      result.inputs.push_back(std::move(*array));
    } else {
      problems.add("expected an array in." + input.name + ", got none");
    }
  }
  for (auto [i, output] : enumerate(interface.outputs))
    if (std::optional<NpyArray> array = take("out." + output.name)) {
      check(*array, output);
      result.expected.emplace_back(i, std::move(*array));
    }
  result.compare = take("compare");
  if (result.compare && result.compare->type != NpyType::Bool)
    problems.add("expected compare to be i1, got " + describe(*result.compare));

  for (const NpyArray &array : *arrays)
    if (StringRef(array.name).starts_with("in."))
      problems.add("expected arrays for inputs of the model, got " +
                   array.name);
    else if (!array.name.empty() && result.expected.empty())
      problems.add("expected an array out.NAME for an output of the model, "
                   "got " +
                   array.name);
  result.dims = binder.take();
  if (!problems.empty())
    return problems.take();
  if (Error error = checkSizes(interface, result.dims))
    return std::move(error);
  return result;
}

} // namespace attn::run

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

/// Expected outputs may be more exact than the output, and inputs be stored so.
static bool isMoreExact(NpyType type, NpyType than) {
  return isFloat(than) && (type == NpyType::F64 || type == NpyType::F32) &&
         npyTypeBytes(type) > npyTypeBytes(than);
}

static bool sameForm(const NpyArray &array, const TensorInfo &tensor) {
  bool sameType =
      array.type == tensor.type || isMoreExact(array.type, tensor.type);
  return sameType && array.shape.size() == tensor.sizes.size() &&
         all_of(zip(array.shape, tensor.sizes), [](auto pair) {
           auto [got, expected] = pair;
           return expected < 0 || got == expected;
         });
}

/// Turns an array into the narrower floats that a model wants, if no value
/// changes by that.
static bool narrowExactly(NpyArray &array, NpyType type) {
  NpyArray narrow = array;
  narrow.type = type;
  narrow.data.resize(array.numElements() * npyTypeBytes(type));
  for (uint64_t i = 0; i < array.numElements(); ++i) {
    double wide = npyElement(array, i);
    setNpyElement(narrow, i, wide);
    if (npyElement(narrow, i) != wide && wide == wide)
      return false;
  }
  array = std::move(narrow);
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

Error bindDims(Case &testCase, const Interface &interface) {
  Problems problems;
  DimBinder binder(interface, problems);
  for (auto [array, tensor] : zip_equal(testCase.inputs, interface.inputs)) {
    array.name = tensor.name;
    if (sameForm(array, tensor))
      binder.bind(array, tensor);
    else
      problems.add("expected input " + array.name + " to be " +
                   describe(tensor, interface) + ", got " + describe(array));
  }
  testCase.dims = binder.take();
  return problems.take();
}

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
      NpyType stored = array->type;
      if (isMoreExact(stored, input.type) && !narrowExactly(*array, input.type))
        problems.add("expected " + array->name + " to be " +
                     npyTypeName(input.type) + ", or " + npyTypeName(stored) +
                     " with values that " + npyTypeName(input.type) +
                     " has, got other values");
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

//===- Compare.cpp - outputs against what they should be ------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Compare.h.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace attn::run {

static SmallVector<int64_t, 4> position(uint64_t i, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d])
    indices[d] = i % shape[d];
  return indices;
}

Tolerance defaultTolerance(NpyType type) {
  double error = isFloat(type) ? std::max(2e-5, 2 * npyRoundoff(type)) : 0;
  return {error, error};
}

Comparison compareArrays(const NpyArray &got, const NpyArray &expected,
                         const std::optional<NpyArray> &compare,
                         Tolerance tolerance) {
  // Elements that share one entry of `compare`.
  uint64_t group = 0;
  if (compare && compare->shape.size() <= got.shape.size() &&
      equal(compare->shape,
            ArrayRef(got.shape).take_front(compare->shape.size()))) {
    group = 1;
    for (int64_t size : ArrayRef(got.shape).drop_front(compare->shape.size()))
      group *= size;
  }
  Tolerance limit = isFloat(got.type) ? tolerance : Tolerance{0, 0};
  // Numbers beyond 2^53 are compared as they are stored.
  bool isStored = !isFloat(got.type) && got.type == expected.type;
  uint64_t bytes = npyTypeBytes(got.type);

  Comparison result;
  result.limit = limit;
  bool misplaced = false; // `worst` is a NaN or infinity.
  for (uint64_t i = 0; i < got.numElements(); ++i) {
    if (group && !compare->data[i / group])
      continue;
    ++result.compared;
    double a = npyElement(got, i), b = npyElement(expected, i);
    bool isSame = isStored
                      ? memcmp(got.data.data() + i * bytes,
                               expected.data.data() + i * bytes, bytes) == 0
                      : (std::isnan(a) && std::isnan(b)) || a == b;
    if (isSame)
      continue;
    double error = std::fabs(a - b);
    bool special = !std::isfinite(a) || !std::isfinite(b);
    bool wrong =
        special || error > limit.absolute + limit.relative * std::fabs(b);
    result.wrong += wrong || isStored;
    if (!special)
      result.maxError = std::max(result.maxError, error);
    if (special ? !misplaced : !misplaced && error >= result.maxError) {
      misplaced = special;
      result.worst = position(i, got.shape);
      result.got = a;
      result.expected = b;
    }
  }
  return result;
}

std::string describe(StringRef name, const Comparison &comparison) {
  std::string text;
  raw_string_ostream stream(text);
  stream << name << ": max abs error " << format("%.3g", comparison.maxError)
         << " in " << comparison.compared << " elements, limit ";
  if (comparison.limit.absolute == 0)
    stream << "0: ";
  else
    stream << format("%g", comparison.limit.absolute) << " + "
           << format("%g", comparison.limit.relative) << " * |expected|: ";
  if (comparison.wrong)
    stream << comparison.wrong << " differ, the worst at "
           << shapeText(comparison.worst) << ": expected "
           << format("%.9g", comparison.expected) << ", got "
           << format("%.9g", comparison.got);
  else
    stream << "ok";
  return text;
}

} // namespace attn::run

//===- Oracle.cpp - what a random attention must give ---------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With u = 2^-24 for f32, an element of row (b, h, i) may be off by
//
//   2 max(plain, ((1 + sqrt(D) / 2) S + sqrt(M) / 2) u) A + 2 ulp(A) +
//   underflow
//
// A is the row's scale, the sum of its weights times the largest element of
// each value; `plain` the largest error of a plain evaluation, each relative to
// the scale of its row, over all rows; S the largest score of the row before
// anything cancels in it. Rounding each step of a sum of D products is worth
// about sqrt(D) / 2 u S, and the result once more u S; sums over M keys are
// alike: where a plain evaluation does better, it is by chance, which must not
// set the limit. A weight below the smallest normal number may be zero, hence
// the last summand, and in rows near that number twice what a plain evaluation
// loses: below it roundings are absolute, and a formula may multiply them, as a
// soft-cap does by its cap.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Oracle.h"

#include "ReferenceRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cfloat>
#include <cmath>

using namespace llvm;

namespace attn::run::fuzz {

static constexpr double hidden = -std::numeric_limits<double>::infinity();

namespace {
/// What a float type can do.
struct Precision {
  /// Half the distance from 1 to the next number.
  double unit;
  /// The smallest normal number, and the largest.
  double smallest, largest;
};

/// Results of the graph for the oracle.
struct Evaluation {
  NpyArray output, lse, weights, scores, product;
};

/// What the limits of a row follow from.
struct Row {
  double largestScore = 0, scale = 0, largestValue = 0;
  /// A weight that f32 may take for zero meets something that is not finite.
  bool isUncertain = false;
};

/// Finds the limits of all rows.
class Limits {
public:
  Limits(const Kernel &kernel, const Case &inputs, const Evaluation &exact,
         const Evaluation &plain, const Evaluation &absolute);

  Expectation output();
  Expectation lse();
  Expectation weights();
  Expectation scores();

private:
  template <typename Scale>
  Expectation make(const NpyArray &exact, const NpyArray &plain, Scale scale);
  void readRows(const Case &inputs);
  double scoreSize(uint64_t i) const;
  /// What the roundings of a row whose scores have that size add up to.
  double rowError(double size) const {
    return scoreError(size) +
           std::sqrt(static_cast<double>(keys)) / 2 * precision.unit;
  }
  /// What those of a score of that size add up to.
  double scoreError(double size) const {
    return (1 + std::sqrt(static_cast<double>(kernel.channels)) / 2) *
           precision.unit * size;
  }
  /// The row (b, h, i) of an element of the output.
  uint64_t rowOfOutput(uint64_t element) const;

  const Kernel &kernel;
  const Evaluation &exact, &plain, &absolute;
  Precision precision;
  int64_t batches, heads, queries, keys;
  std::vector<Row> rows;
};
} // namespace

static Precision precisionOf(StringRef element) {
  if (element == "f64")
    return {0x1p-53, DBL_MIN, DBL_MAX};
  if (element == "f16")
    return {0x1p-11, 0x1p-14, 65504};
  if (element == "bf16")
    return {0x1p-8, FLT_MIN, 0x1.fep127};
  return {0x1p-24, FLT_MIN, FLT_MAX};
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Oracle>> Oracle::create(const Kernel &kernel,
                                                 StringRef path) {
  std::unique_ptr<Oracle> oracle(new Oracle(kernel));
  oracle->model = Model::read(path, {});
  if (!oracle->model)
    return createStringError(inconvertibleErrorCode(),
                             "expected a graph that the evaluator reads");
  Expected<Interface> interface = interfaceOfModule(oracle->model->module());
  if (!interface)
    return interface.takeError();
  oracle->interface = std::move(*interface);
  return oracle;
}

Expected<std::vector<NpyArray>> Oracle::run(const Case &inputs, bool isPlain) {
  return runReference(*model, interface, inputs, isPlain);
}

static Evaluation evaluationOf(std::vector<NpyArray> &&results) {
  return {std::move(results[0]), std::move(results[1]), std::move(results[2]),
          std::move(results[3]), std::move(results[4])};
}

Expected<NpyArray> Oracle::scores(const Case &inputs) {
  Expected<std::vector<NpyArray>> results = run(inputs, /*isPlain=*/false);
  if (!results)
    return results.takeError();
  return std::move((*results)[3]);
}

/// Makes the channels of each pair that rotary positions turn as large as the
/// larger of them.
static void levelPairs(const Kernel &kernel, NpyArray &array) {
  int64_t vectors = array.numElements() / kernel.channels;
  for (int64_t vector = 0; vector < vectors; ++vector)
    for (int64_t pair = 0; pair < kernel.rotaryPairs; ++pair) {
      int64_t first = kernel.isInterleaved ? 2 * pair : pair;
      int64_t second = first + (kernel.isInterleaved ? 1 : kernel.rotaryPairs);
      uint64_t a = vector * kernel.channels + first,
               b = vector * kernel.channels + second;
      // What is not a number decides: fmax would leave it out.
      double x = npyElement(array, a), y = npyElement(array, b);
      double larger = std::isnan(x) || x > y ? x : y;
      setNpyElement(array, a, larger);
      setNpyElement(array, b, larger);
    }
}

/// Rotary positions that turn nothing and grow both channels of a pair by
/// |cos| + |sin|: at least what the terms of a turn come to without signs.
static void growInsteadOfTurning(NpyArray &cosine, NpyArray &sine) {
  for (uint64_t i = 0; i < cosine.numElements(); ++i) {
    setNpyElement(cosine, i,
                  std::fabs(npyElement(cosine, i)) +
                      std::fabs(npyElement(sine, i)));
    setNpyElement(sine, i, 0.0);
  }
}

/// The same inputs without signs, where these are numbers: nothing cancels.
static Case withoutSigns(const Kernel &kernel, const Case &inputs) {
  Case result = inputs;
  NpyArray *cosine = nullptr;
  for (auto [info, array] : zip_equal(inputsOf(kernel), result.inputs))
    switch (info.input.role) {
    case Role::Query:
    case Role::Key:
    case Role::Number:
    case Role::Sink:
    case Role::Bias:
    case Role::Factor:
      for (uint64_t i = 0; i < array.numElements(); ++i)
        setNpyElement(array, i, std::fabs(npyElement(array, i)));
      if (kernel.hasRotary &&
          (info.input.role == Role::Query || info.input.role == Role::Key))
        levelPairs(kernel, array);
      break;
    case Role::Cosine:
      cosine = &array;
      break;
    case Role::Sine: // Behind its cosine.
      growInsteadOfTurning(*cosine, array);
      break;
    default:
      break;
    }
  return result;
}

Expected<std::vector<Expectation>> Oracle::evaluate(const Case &inputs) {
  std::vector<Evaluation> evaluations;
  for (auto [values, isPlain] : {std::pair(inputs, false),
                                 {inputs, true},
                                 {withoutSigns(kernel, inputs), false}}) {
    Expected<std::vector<NpyArray>> results = run(values, isPlain);
    if (!results)
      return results.takeError();
    evaluations.push_back(evaluationOf(std::move(*results)));
  }
  Limits limits(kernel, inputs, evaluations[0], evaluations[1], evaluations[2]);
  std::vector<Expectation> expected;
  expected.push_back(limits.output());
  if (kernel.hasLse)
    expected.push_back(limits.lse());
  if (kernel.keepsWeights)
    expected.push_back(limits.weights());
  if (kernel.keepsScores)
    expected.push_back(limits.scores());
  return expected;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

Limits::Limits(const Kernel &kernel, const Case &inputs,
               const Evaluation &exact, const Evaluation &plain,
               const Evaluation &absolute)
    : kernel(kernel), exact(exact), plain(plain), absolute(absolute),
      precision(precisionOf(kernel.element)), batches(exact.scores.shape[0]),
      heads(exact.scores.shape[1]), queries(exact.scores.shape[2]),
      keys(exact.scores.shape[3]) {
  readRows(inputs);
}

static double finiteSize(double number) {
  return std::isfinite(number) ? std::fabs(number) : 0;
}

double Limits::scoreSize(uint64_t i) const {
  return finiteSize(npyElement(absolute.product, i)) +
         std::max(finiteSize(npyElement(absolute.scores, i)),
                  finiteSize(npyElement(exact.scores, i)));
}

void Limits::readRows(const Case &inputs) {
  const NpyArray &value = inputs.inputs[2];
  int64_t channels = kernel.valueChannels, share = heads / kernel.keyHeads;
  // Strides of (b, s, g) in the value's layout.
  int64_t strides[3] = {};
  int64_t stride = channels;
  for (unsigned dim : {2u, 1u, 0u}) {
    char name = kernel.layout[dim];
    strides[name == 'b' ? 0 : name == 's' ? 1 : 2] = stride;
    stride *= value.shape[dim];
  }
  // The largest element of each value, and whether all are finite.
  double relative = 0;
  if (!kernel.mix.inputs.empty())
    for (auto [info, array] : zip_equal(inputsOf(kernel), inputs.inputs))
      if (info.input.role == Role::Number && info.input.shape.size() == 2 &&
          info.input.shape[1].letter == 'V')
        for (uint64_t i = 0; i < array.numElements(); ++i)
          relative = std::max(relative, finiteSize(npyElement(array, i)));
  auto visit = [&](int64_t b, int64_t g, int64_t j, bool &isFinite) {
    double largest = 0;
    for (int64_t d = 0; d < channels; ++d) {
      double element = npyElement(value, b * strides[0] + j * strides[1] +
                                             g * strides[2] + d);
      isFinite &= std::isfinite(element);
      largest = std::max(largest, finiteSize(element));
    }
    return largest + relative;
  };
  std::vector<double> sizes;
  std::vector<bool> areFinite;
  int64_t groups = kernel.keyHeads;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t j = 0; j < keys; ++j) {
        bool isFinite = true;
        sizes.push_back(visit(b, g, j, isFinite));
        areFinite.push_back(isFinite);
      }

  for (int64_t row = 0; row < batches * heads * queries; ++row) {
    int64_t h = row / queries % heads, b = row / queries / heads;
    Row limits;
    for (int64_t j = 0; j < keys; ++j) {
      uint64_t pair = row * keys + j;
      if (npyElement(exact.scores, pair) == hidden)
        continue;
      uint64_t at = (b * groups + h / share) * keys + j;
      double weight = npyElement(exact.weights, pair);
      limits.largestScore = std::max(limits.largestScore, scoreSize(pair));
      limits.largestValue = std::max(limits.largestValue, sizes[at]);
      limits.scale += finiteSize(weight) * sizes[at];
      limits.isUncertain |= !areFinite[at] && weight < 0x1p-100;
    }
    if (!kernel.softmax.inputs.empty())
      limits.largestScore += finiteSize(npyElement(exact.lse, row));
    rows.push_back(limits);
  }
}

uint64_t Limits::rowOfOutput(uint64_t element) const {
  element /= kernel.valueChannels;
  int64_t at[3]; // b, s, h
  for (unsigned dim : {2u, 1u, 0u}) {
    char name = kernel.layout[dim];
    int64_t size = name == 'b' ? batches : name == 's' ? queries : heads;
    at[name == 'b' ? 0 : name == 's' ? 1 : 2] = element % size;
    element /= size;
  }
  return (at[0] * heads + at[2]) * queries + at[1];
}

/// Limits of an output; `scale` gives for an element its scale, what one
/// rounding of a score does to it relative to that, and what may underflow.
template <typename Scale>
Expectation Limits::make(const NpyArray &exactArray, const NpyArray &plainArray,
                         Scale scale) {
  struct Element {
    double scale, fromScore, underflow;
    bool isUncertain;
  };
  Expectation expected{exactArray, {}};
  std::vector<Element> elements;
  // Below `tiny`, steps of a formula may be below the smallest normal number.
  double tiny = 128 * precision.smallest;
  double plainError = 0, plainLoss = 0;
  for (uint64_t i = 0; i < exactArray.numElements(); ++i) {
    auto [size, row, fromScore, underflow] = scale(i);
    double number = npyElement(exactArray, i);
    bool isUncertain =
        row->isUncertain ||
        (std::isfinite(number) && std::fabs(number) > precision.largest);
    elements.push_back({size, fromScore, underflow, isUncertain});
    double error = std::fabs(npyElement(plainArray, i) - number);
    if (!std::isfinite(error))
      continue;
    if (size > tiny)
      plainError = std::max(plainError, error / size);
    else
      plainLoss = std::max(plainLoss, error);
  }
  // What f64 kernels are compared with is rounded as they are.
  double share = kernel.element == "f64" ? 2 : 1;
  for (const Element &element : elements)
    expected.limits.push_back(
        element.isUncertain
            ? -1
            : share *
                  (2 * std::max(plainError, element.fromScore) * element.scale +
                   4 * precision.unit * element.scale + element.underflow +
                   (element.scale > tiny ? 0 : 2 * plainLoss)));
  return expected;
}

Expectation Limits::output() {
  // What is lost where a product or a weight is too small for the type. Units
  // that multiply bf16 take what is not normal for zero.
  double lost = kernel.element == "bf16"
                    ? precision.smallest
                    : 4 * precision.smallest * precision.unit;
  return make(exact.output, plain.output, [&](uint64_t i) {
    const Row &row = rows[rowOfOutput(i)];
    return std::tuple(row.scale, &row, rowError(row.largestScore),
                      static_cast<double>(keys + 1) *
                          (lost + precision.smallest * row.largestValue));
  });
}

Expectation Limits::lse() {
  return make(exact.lse, plain.lse, [&](uint64_t i) {
    const Row &row = rows[i];
    double size = std::max(1.0, finiteSize(npyElement(exact.lse, i)));
    return std::tuple(size, &row, rowError(row.largestScore) / size, 0.0);
  });
}

Expectation Limits::weights() {
  Expectation expected = make(exact.weights, plain.weights, [&](uint64_t i) {
    const Row &row = rows[keys ? i / keys : 0];
    return std::tuple(1.0, &row, rowError(row.largestScore),
                      precision.smallest);
  });
  // Whether a hidden pair of a row that is NaN is zero or NaN is open.
  for (uint64_t i = 0; i < expected.limits.size(); ++i)
    if (std::isnan(npyElement(exact.lse, i / keys)) &&
        npyElement(exact.scores, i) == hidden)
      expected.limits[i] = -1;
  return expected;
}

Expectation Limits::scores() {
  return make(exact.scores, plain.scores, [&](uint64_t i) {
    double size = scoreSize(i);
    return std::tuple(size, &rows[keys ? i / keys : 0], scoreError(1),
                      static_cast<double>(kernel.channels + 4) *
                          precision.smallest * precision.unit * 4);
  });
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

std::optional<Difference> findDifference(const Expectation &expected,
                                         const NpyArray &got) {
  for (uint64_t i = 0; i < got.numElements(); ++i) {
    double limit = expected.limits[i];
    double a = npyElement(got, i), b = npyElement(expected.exact, i);
    bool isEqual = (std::isnan(a) && std::isnan(b)) || a == b;
    bool areFinite = std::isfinite(a) && std::isfinite(b);
    if (limit < 0 || isEqual || (areFinite && std::fabs(a - b) <= limit))
      continue;
    SmallVector<int64_t, 4> at(got.shape.size());
    uint64_t rest = i;
    for (size_t dim = at.size(); dim-- > 0; rest /= got.shape[dim])
      at[dim] = static_cast<int64_t>(rest % got.shape[dim]);
    std::string text;
    raw_string_ostream stream(text);
    stream << got.name << " at " << shapeText(at) << ": expected "
           << format("%.9g", b);
    if (areFinite)
      stream << " within " << format("%.3g", limit);
    stream << ", got " << format("%.9g", a);
    return Difference{text, areFinite ? limit : 1.0};
  }
  return std::nullopt;
}

} // namespace attn::run::fuzz

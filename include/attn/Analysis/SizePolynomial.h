//===- SizePolynomial.h - sizes as formulas of named dims ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes of tensors, and what is counted from them, are sums of products of the
// model's dims: 768*batch*sequence + 384. Factors are doubles, so that no size
// that a file states makes them wrap around.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SIZEPOLYNOMIAL_H
#define ATTN_ANALYSIS_SIZEPOLYNOMIAL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// A polynomial of named sizes.
///
/// Example: `SizePolynomial::dim("batch") * 2 + 3` prints as `2*batch + 3`.
class SizePolynomial {
public:
  SizePolynomial(double constant = 0.0) { add({}, constant); }
  /// The dim of that name.
  static SizePolynomial dim(llvm::StringRef name);

  friend SizePolynomial operator+(const SizePolynomial &a,
                                  const SizePolynomial &b);
  friend SizePolynomial operator*(const SizePolynomial &a,
                                  const SizePolynomial &b);
  SizePolynomial &operator+=(const SizePolynomial &other) {
    return *this = *this + other;
  }
  SizePolynomial &operator*=(const SizePolynomial &other) {
    return *this = *this * other;
  }
  bool operator==(const SizePolynomial &other) const {
    return terms == other.terms;
  }

  size_t getNumTerms() const { return terms.size(); }
  /// The largest number of dims in a product.
  size_t getDegree() const;
  /// The dims in it, each once.
  std::vector<std::string> getDims() const;
  /// Its value, if no dim is in it.
  std::optional<double> constant() const;
  /// Its value for the values of dims; none if one is missing.
  std::optional<double> evaluate(const llvm::StringMap<int64_t> &dims) const;
  /// Each dim replaced by what `replacement` says.
  SizePolynomial substitute(
      llvm::function_ref<SizePolynomial(llvm::StringRef)> replacement) const;
  /// Whether a term has a negative factor.
  bool hasNegativeFactor() const;
  /// The terms with positive factors, and the others with their signs changed.
  std::pair<SizePolynomial, SizePolynomial> splitBySign() const;
  /// Terms of the highest degree first, `*` and `+` between; a power is a
  /// product, so that the text is an expression of C and of Python.
  std::string str() const;

private:
  using Names = std::vector<std::string>;
  void add(const Names &names, double factor);

  /// The factor of each product of dims, which are sorted; none is zero.
  std::map<Names, double> terms;
};

} // namespace attn

#endif // ATTN_ANALYSIS_SIZEPOLYNOMIAL_H

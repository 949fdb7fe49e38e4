//===- SizePolynomial.cpp - sizes as formulas of named dims ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See SizePolynomial.h.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SizePolynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace attn;

void SizePolynomial::add(const Names &names, double factor) {
  double &sum = terms.try_emplace(names, 0.0).first->second;
  sum += factor;
  if (sum == 0.0)
    terms.erase(names);
}

SizePolynomial SizePolynomial::dim(llvm::StringRef name) {
  SizePolynomial result;
  result.add({name.str()}, 1.0);
  return result;
}

SizePolynomial attn::operator+(const SizePolynomial &a,
                               const SizePolynomial &b) {
  SizePolynomial result = a;
  for (const auto &[names, factor] : b.terms)
    result.add(names, factor);
  return result;
}

SizePolynomial attn::operator*(const SizePolynomial &a,
                               const SizePolynomial &b) {
  SizePolynomial result;
  for (const auto &[namesA, factorA] : a.terms)
    for (const auto &[namesB, factorB] : b.terms) {
      SizePolynomial::Names names(namesA.size() + namesB.size());
      std::merge(namesA.begin(), namesA.end(), namesB.begin(), namesB.end(),
                 names.begin());
      result.add(names, factorA * factorB);
    }
  return result;
}

size_t SizePolynomial::getDegree() const {
  size_t degree = 0;
  for (const auto &[names, factor] : terms)
    degree = std::max(degree, names.size());
  return degree;
}

std::vector<std::string> SizePolynomial::getDims() const {
  std::set<std::string> dims;
  for (const auto &[names, factor] : terms)
    dims.insert(names.begin(), names.end());
  return {dims.begin(), dims.end()};
}

std::optional<double> SizePolynomial::constant() const {
  return evaluate(llvm::StringMap<int64_t>());
}

std::optional<double>
SizePolynomial::evaluate(const llvm::StringMap<int64_t> &dims) const {
  double sum = 0.0;
  for (const auto &[names, factor] : terms) {
    double product = factor;
    for (const std::string &name : names) {
      auto value = dims.find(name);
      if (value == dims.end())
        return std::nullopt;
      product *= static_cast<double>(value->second);
    }
    sum += product;
  }
  return sum;
}

SizePolynomial SizePolynomial::substitute(
    llvm::function_ref<SizePolynomial(llvm::StringRef)> replacement) const {
  SizePolynomial result;
  for (const auto &[names, factor] : terms) {
    SizePolynomial product(factor);
    for (const std::string &name : names)
      product *= replacement(name);
    result += product;
  }
  return result;
}

bool SizePolynomial::hasNegativeFactor() const {
  return llvm::any_of(terms, [](const auto &term) { return term.second < 0; });
}

std::pair<SizePolynomial, SizePolynomial> SizePolynomial::splitBySign() const {
  std::pair<SizePolynomial, SizePolynomial> result;
  for (const auto &[names, factor] : terms)
    (factor > 0 ? result.first : result.second).add(names, std::fabs(factor));
  return result;
}

/// 12 or 0.5: halves are what sums of lines have.
static std::string number(double value) {
  bool isInteger = value == std::floor(value);
  return llvm::formatv(isInteger ? "{0:F0}" : "{0:F1}", value);
}

std::string SizePolynomial::str() const {
  std::vector<std::pair<Names, double>> sorted(terms.begin(), terms.end());
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return std::pair(b.first.size(), a.first) <
           std::pair(a.first.size(), b.first);
  });
  std::string text;
  for (const auto &[names, factor] : sorted) {
    if (!text.empty())
      text += factor < 0 ? " - " : " + ";
    else if (factor < 0)
      text += "-";
    bool showsFactor = names.empty() || std::fabs(factor) != 1.0;
    if (showsFactor)
      text += number(std::fabs(factor));
    if (showsFactor && !names.empty())
      text += "*";
    text += llvm::join(names, "*");
  }
  return text.empty() ? "0" : text;
}

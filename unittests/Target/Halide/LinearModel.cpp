//===- LinearModel.cpp - linear layers and their reference -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LinearModel.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace attn::testing;
using llvm::formatv;

std::string LinearModel::text() const {
  std::string x = formatv("tensor<?x{0}x{1}>", k, element);
  std::string y = formatv("tensor<?x{0}x{1}>", n, element);
  std::string w =
      formatv("tensor<{0}x{1}x{2}x{3}>", panels(), k, panel, element);
  std::string row = formatv("tensor<{0}x{1}>", n, element);
  std::string arguments = "%x: " + x + ", %w: " + w, captures, region,
              normalization;
  // An element of a tensor is computed with as f32.
  auto extract = [&](const std::string &name, const std::string &tensor) {
    if (element == "f32")
      return "  %" + name + " = tensor.extract " + tensor + "\n";
    return "  %stored_" + name + " = tensor.extract " + tensor + "\n  %" +
           name + " = arith.extf %stored_" + name + " : " + element +
           " to f32\n";
  };
  if (epilogue != Epilogue::None) {
    arguments += ", %b: " + row;
    captures = " capture(%b : " + row + ")";
    std::string extra, body = "  %2 = attn.gelu %1<erf> : f32\n";
    if (epilogue == Epilogue::BiasResidual) {
      arguments += ", %r: " + y;
      captures = " capture(%b, %r : " + row + ", " + y + ")";
      extra = ", %residual: " + y;
      body = extract("e", "%residual[%m, %n] : " + y) +
             "  %2 = arith.addf %1, %e : f32\n";
    }
    region =
        " epilogue {\n^bb0(%acc: f32, %m: index, %n: index, %bias: " + row +
        extra + "):\n" + extract("b0", "%bias[%n] : " + row) +
        "  %1 = arith.addf %acc, %b0 : f32\n" + body +
        "  attn.yield %2 : f32\n}";
  }
  if (norm == Norm::Layer) {
    arguments += ", %gamma: " + row + ", %beta: " + row;
    normalization =
        " layer_norm(%gamma, %beta : " + row + ", " + row + ") epsilon(1.0e-5)";
  } else if (norm == Norm::Rms) {
    arguments += ", %gamma: " + row;
    normalization = " rms_norm(%gamma : " + row + ") epsilon(1.0e-5)";
  }
  return formatv("attn.kernel @linear_0({0}) -> {1} attributes {{schedule = "
                 "{2}} {{\n"
                 "  %y = attn.fused_linear %x, %w{3}{4}{5} : {6}, {7} -> "
                 "{1}\n  attn.yield %y : {1}\n}\n",
                 arguments, y, schedule, captures, region, normalization, x, w);
}

LinearCase::LinearCase(const LinearModel &model, int64_t m, Placement placement,
                       int64_t stride)
    : input(makeFloats({m, model.k}, placement, stride)),
      weight(makeFloats({model.n, model.k}, placement)),
      bias(makeFloats({model.n}, placement)),
      residual(makeFloats({m, model.n}, placement)),
      gamma(makeFloats({model.n}, placement)),
      beta(makeFloats({model.n}, placement)) {
  fillRandom(input, 1);
  fillRandom(weight, 2, 2.0f / std::sqrt(static_cast<float>(model.k)));
  fillRandom(bias, 3);
  fillRandom(residual, 4);
  fillRandom(gamma, 5);
  fillRandom(beta, 6);
  for (Tensor *tensor : {&input, &weight, &bias, &residual, &gamma, &beta})
    *tensor = widenFrom(narrowTo(*tensor, model.element, placement),
                        model.element, placement);
}

std::vector<Tensor> LinearCase::arguments(const LinearModel &model,
                                          Placement placement,
                                          const Tensor &output) const {
  std::vector<Tensor> result = {input,
                                packPanels(weight, model.panel, placement)};
  if (model.epilogue != Epilogue::None)
    result.push_back(bias);
  if (model.epilogue == Epilogue::BiasResidual)
    result.push_back(residual);
  if (model.norm != Norm::None)
    result.push_back(gamma);
  if (model.norm == Norm::Layer)
    result.push_back(beta);
  for (Tensor &tensor : result)
    tensor = narrowTo(tensor, model.element, placement);
  result.push_back(output);
  return result;
}

std::vector<double> LinearCase::reference(const LinearModel &model) const {
  int64_t m = input.shape[0], n = model.n;
  std::vector<double> y(m * n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < model.k; ++k)
        sum += double(input.as<float>()[i * input.strides[0] + k]) *
               weight.as<float>()[j * model.k + k];
      if (model.epilogue != Epilogue::None)
        sum += bias.as<float>()[j];
      if (model.epilogue == Epilogue::BiasGelu)
        sum *= 0.5 * (1 + std::erf(sum / std::sqrt(2.0)));
      if (model.epilogue == Epilogue::BiasResidual)
        sum += residual.as<float>()[i * n + j];
      y[i * n + j] = sum;
    }
    if (model.norm == Norm::None)
      continue;
    // The mean and offset of an RMS norm are 0.
    bool isLayer = model.norm == Norm::Layer;
    double mean = 0, variance = 0;
    for (int64_t j = 0; isLayer && j < n; ++j)
      mean += y[i * n + j] / n;
    for (int64_t j = 0; j < n; ++j)
      variance += std::pow(y[i * n + j] - mean, 2) / n;
    for (int64_t j = 0; j < n; ++j)
      y[i * n + j] = (y[i * n + j] - mean) / std::sqrt(variance + 1e-5) *
                         gamma.as<float>()[j] +
                     (isLayer ? beta.as<float>()[j] : 0.0f);
  }
  return y;
}

Tensor attn::testing::takeRow(const Tensor &tensor, int64_t row,
                              Placement placement) {
  int64_t columns = tensor.shape[1];
  Tensor result = makeFloats({1, columns}, placement);
  std::memcpy(result.as<float>(), tensor.as<float>() + row * tensor.strides[0],
              columns * sizeof(float));
  return result;
}

//===- FlashModel.cpp - attention kernels and their reference -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FlashModel.h"

#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::testing;

FlashModel FlashModel::causal(int64_t headSize) {
  FlashModel model;
  model.headSize = model.valueSize = headSize;
  model.lse = true;
  model.captures = "%n, %m";
  model.captureTypes = "index, index";
  model.mask = R"(
      %shift = arith.subi %x1, %x0 : index
      %last = arith.addi %i, %shift : index
      %visible = arith.cmpi sle, %j, %last : index
      attn.yield %visible : i1)";
  return model;
}

static std::string sizeText(int64_t size) {
  return size < 0 ? "?" : std::to_string(size);
}

static std::string tensorType(const FlashModel &model, int64_t heads,
                              int64_t channels, int64_t positions) {
  return llvm::formatv(
      model.layout == Layout::BHSD   ? "tensor<{0}x{1}x{2}x{3}x{4}>"
      : model.layout == Layout::SBHD ? "tensor<{2}x{0}x{1}x{3}x{4}>"
                                     : "tensor<{0}x{2}x{1}x{3}x{4}>",
      sizeText(model.batch), heads, sizeText(positions), channels,
      model.element);
}

std::string FlashModel::tiled(const std::string &target) const {
  std::string q = tensorType(*this, heads, headSize, queries),
              k = tensorType(*this, keyHeads, headSize, keys),
              v = tensorType(*this, keyHeads, valueSize, keys),
              o = tensorType(*this, heads, valueSize, queries);
  std::string l = llvm::formatv("tensor<{0}x{1}x{2}xf32>", sizeText(batch),
                                heads, sizeText(queries));
  std::string sinksType = llvm::formatv("tensor<{0}xf32>", heads);
  std::string captured, blockArguments;
  llvm::SmallVector<llvm::StringRef> types;
  if (!captures.empty()) {
    captured = " capture(" + captures + " : " + captureTypes + ")";
    llvm::StringRef(captureTypes).split(types, ", ");
    for (auto [number, type] : llvm::enumerate(types))
      blockArguments += llvm::formatv(", %x{0}: {1}", number, type);
  }
  auto region = [&](const char *name, const char *first,
                    const std::string &body,
                    const char *channel = "") -> std::string {
    return body.empty() ? ""
                        : std::string(name) + " {\n^bb0(" + first +
                              "%b: index, %h: index, %i: index, %j: index" +
                              channel + blockArguments + "):" + body + "\n}";
  };
  std::string text = llvm::formatv(
      R"(attn.kernel @k(%q: {0}, %k: {1}, %v: {2}{14}{3}) -> {4} {{
  %scale = arith.constant {5} : f32
  %dim = arith.constant {6} : index
  %n = tensor.dim %q, %dim : {0}
  %m = tensor.dim %k, %dim : {1}
  %o{7} = attn.attention %q, %k, %v scale(%scale : f32){15}{8} layout({9})
    {10} {11} : {0}, {1}, {2} -> {12}{13}
  attn.yield %o{7} : {12}{13}
})",
      q, k, v, arguments.empty() ? "" : ", " + arguments,
      lse ? "(" + o + ", " + l + ")" : o,
      llvm::formatv("{0:e8}", 1.0 / std::sqrt(double(headSize))),
      sequenceDim(layout), lse ? ", %lse" : "", captured,
      stringifyLayout(layout),
      region("combine", "%x: f32, %y: f32, ", combine, ", %d: index") +
          region("score", "%s: f32, ", score),
      region("mask", "", mask) +
          region("value", "%x: f32, ", value, ", %d: index"),
      o, lse ? ", " + l : "", sinks.empty() ? "" : ", %sinks: " + sinksType,
      sinks.empty() ? "" : " sinks(%sinks : " + sinksType + ")");

  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << text;
    return "";
  }
  mlir::PassManager manager(&context);
  FusedToTiledOptions options;
  options.targets.push_back(target);
  buildFusedToTiled(manager, options);
  if (mlir::failed(manager.run(*module))) {
    ADD_FAILURE() << text;
    return "";
  }
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream);
  return result;
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

static Tensor makeHeads(const FlashModel &model, int64_t batch,
                        int64_t positions, int64_t heads, int64_t channels,
                        Placement placement, int64_t padding) {
  std::vector<int64_t> shape(4, channels);
  shape[batchDim(model.layout)] = batch;
  shape[sequenceDim(model.layout)] = positions;
  shape[headDim(model.layout)] = heads;
  return makeTensor(halide_type_of<float>(), shape, placement,
                    padding ? channels + padding : 0);
}

FlashCase::FlashCase(const FlashModel &model, int64_t batch, int64_t n,
                     int64_t m, Placement placement, int64_t padding)
    : model(model), batch(batch), n(n), m(m),
      query(makeHeads(model, batch, n, model.heads, model.headSize, placement,
                      padding)),
      key(makeHeads(model, batch, m, model.keyHeads, model.headSize, placement,
                    padding)),
      value(makeHeads(model, batch, m, model.keyHeads, model.valueSize,
                      placement, padding)),
      result(makeHeads(model, batch, n, model.heads, model.valueSize, placement,
                       padding)),
      lse(makeTensor(halide_type_of<float>(), {batch, model.heads, n},
                     placement)) {
  fillRandom(query, 1, 2.0f);
  fillRandom(key, 2, 2.0f);
  fillRandom(value, 3);
}

float &FlashCase::at(Tensor &tensor, int64_t b, int64_t position, int64_t head,
                     int64_t channel) const {
  return tensor
      .as<float>()[b * tensor.strides[batchDim(model.layout)] +
                   position * tensor.strides[sequenceDim(model.layout)] +
                   head * tensor.strides[headDim(model.layout)] + channel];
}

static const llvm::fltSemantics &semanticsOf(const std::string &element) {
  return element == "f16" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

/// The same numbers in 16 bits; `tensor` has the rounded ones then.
static Tensor narrow(Tensor &tensor, const std::string &element) {
  Tensor result = tensor;
  result.type = halide_type_of<uint16_t>();
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(tensor.shape, tensor.strides))
    last += stride * (size - 1);
  int64_t count = tensor.size() ? last + 1 : 0;
  result.memory = std::make_shared<GuardedBuffer>(
      count * sizeof(uint16_t), GuardedBuffer::Side::Back, sizeof(uint16_t));
  for (int64_t i = 0; i < count; ++i) {
    llvm::APFloat number(tensor.as<float>()[i]);
    bool lost = false;
    number.convert(semanticsOf(element), llvm::APFloat::rmNearestTiesToEven,
                   &lost);
    result.as<uint16_t>()[i] = number.bitcastToAPInt().getZExtValue();
    tensor.as<float>()[i] = number.convertToFloat();
  }
  return result;
}

static void widen(const Tensor &from, Tensor &to, const std::string &element) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(to.shape, to.strides))
    last += stride * (size - 1);
  for (int64_t i = 0, count = to.size() ? last + 1 : 0; i < count; ++i)
    to.as<float>()[i] = llvm::APFloat(semanticsOf(element),
                                      llvm::APInt(16, from.as<uint16_t>()[i]))
                            .convertToFloat();
}

void FlashCase::check(const CompiledKernel &kernel,
                      const std::vector<Tensor> &more, double tolerance,
                      int threads) {
  std::vector<Tensor> arguments = {query, key, value};
  if (!model.sinks.empty()) {
    arguments.push_back(makeFloats({model.heads}, Placement::Back));
    llvm::copy(model.sinks, arguments.back().as<float>());
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.push_back(result);
  bool isHalf = model.element != "f32";
  if (isHalf) {
    arguments.back() = narrow(result, model.element);
    arguments[0] = narrow(query, model.element);
    arguments[1] = narrow(key, model.element);
    arguments[2] = narrow(value, model.element);
  }
  Tensor stored = arguments.back();
  if (model.lse)
    arguments.push_back(lse);
  ASSERT_EQ(kernel.run(arguments, threads), 0);
  if (isHalf)
    widen(stored, result, model.element);

  auto same = [&](double expected, float got, const char *what, int64_t b,
                  int64_t h, int64_t i, int64_t d) {
    if (std::isfinite(expected))
      error = std::max(error, std::abs(expected - got) /
                                  std::max(1.0, std::abs(expected)));
    bool ok = std::isfinite(expected)
                  ? std::abs(expected - got) <=
                        tolerance * std::max(1.0, std::abs(expected))
              : std::isnan(expected) ? std::isnan(got)
                                     : expected == got;
    EXPECT_TRUE(ok) << what << " b = " << b << ", h = " << h << ", i = " << i
                    << ", d = " << d << ", n = " << n << ", m = " << m
                    << ": expected " << expected << ", got " << got;
    return ok;
  };
  const double scale =
      static_cast<float>(1.0 / std::sqrt(double(model.headSize)));
  std::vector<double> weights(m);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < model.heads; ++h)
      for (int64_t i = 0; i < n; ++i) {
        int64_t g = h / (model.heads / model.keyHeads);
        double sink = model.sinks.empty() ? -INFINITY : model.sinks[h];
        double maximum = sink;
        std::vector<int64_t> seen;
        for (int64_t j = 0; j < m; ++j) {
          if (model.visible && !model.visible(b, h, i, j))
            continue;
          double s = 0;
          for (int64_t d = 0; d < model.headSize; ++d)
            s += double(at(query, b, i, h, d)) * at(key, b, j, g, d);
          s *= scale;
          weights[j] = model.changed ? model.changed(s, b, h, i, j) : s;
          maximum =
              std::isnan(weights[j]) ? NAN : std::max(maximum, weights[j]);
          seen.push_back(j);
        }
        double sum = sink == -INFINITY ? 0.0
                     : sink == maximum
                         ? 1.0
                         : std::exp2((sink - maximum) * model.exponent);
        for (int64_t j : seen)
          sum += weights[j] =
              std::exp2((weights[j] - maximum) * model.exponent);
        for (int64_t d = 0; d < model.valueSize; ++d) {
          double o = 0;
          for (int64_t j : seen)
            o += weights[j] * at(value, b, j, g, d);
          if (!same(sum == 0.0 ? 0.0 : o / sum, at(result, b, i, h, d),
                    "result", b, h, i, d))
            return;
        }
        if (model.lse &&
            !same(sum == 0.0 ? -INFINITY
                             : maximum * model.exponent * std::log(2.0) +
                                   std::log(sum),
                  lse.as<float>()[(b * model.heads + h) * n + i], "lse", b, h,
                  i, 0))
          return;
      }
}

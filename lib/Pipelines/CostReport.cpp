//===- CostReport.cpp - what each kernel call costs ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Collects for each call what the cost model, the mask analysis and the time
// model say. CostText.cpp writes it.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TimeModel.h"
#include "attn/Pipelines/Cost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

/// Dims without a limit take the analysis of masks to this size.
static constexpr int64_t sampleSize = 4096;
/// What a range ends with that nobody has limited.
static constexpr int64_t noLimit = INT32_MAX;

namespace {

/// Builds the report of one module.
class Reporter {
public:
  Reporter(ModuleOp module, const llvm::StringMap<int64_t> &given,
           CostReport &report)
      : module(module), given(given), report(report) {}

  LogicalResult readDims();
  LogicalResult checkLevel();
  void addLines();

private:
  CostLine makeLine(CallCost &call);

  ModuleOp module;
  const llvm::StringMap<int64_t> &given;
  CostReport &report;
  llvm::StringMap<DimBounds> ranges;
  /// Values for numbers, and for deciding about masks where there is none.
  llvm::StringMap<int64_t> values, samples;
};

} // namespace

LogicalResult Reporter::readDims() {
  SmallVector<StringRef> names;
  bool ok = true;
  for (auto dim : module.getOps<DimOp>()) {
    StringRef name = dim.getSymName();
    auto min = int64_t(dim.getMin()), max = int64_t(dim.getMax());
    names.push_back(name);
    ranges[name] = {min, max};
    CostReport::Dim value{name.str(), std::nullopt, false};
    if (auto chosen = given.find(name); chosen != given.end()) {
      value.value = chosen->second;
      if (chosen->second < min || chosen->second > max) {
        dim.emitError("expected --dim ") << name << " of " << min << " to "
                                         << max << ", got " << chosen->second;
        ok = false;
      }
    } else if (max < noLimit) {
      value.value = max;
      value.isLimit = min != max;
    }
    samples[name] =
        value.value.value_or(std::clamp<int64_t>(sampleSize, min, max));
    if (value.value)
      values[name] = *value.value;
    report.dims.push_back(std::move(value));
  }
  SmallVector<StringRef> unknown;
  for (const auto &value : given)
    if (!ranges.contains(value.getKey()))
      unknown.push_back(value.getKey());
  llvm::sort(unknown);
  for (StringRef name : unknown) {
    module.emitError("expected --dim with the name of a dimension (")
        << (names.empty() ? "this model has none" : llvm::join(names, ", "))
        << "), got '" << name << "'";
    ok = false;
  }
  return success(ok);
}

LogicalResult Reporter::checkLevel() {
  WalkResult result = module.walk([&](KernelOp kernel) {
    if (!kernel.getScheduleAttr())
      return WalkResult::advance();
    kernel.emitOpError("expected a model of the graph or fused level (because "
                       "the work of tiled loops is not counted), got a kernel "
                       "with a schedule: give the model that it was made from");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

CostLine Reporter::makeLine(CallCost &call) {
  CostLine line;
  line.kernel = call.kernel.getSymName().str();
  line.calls = call.calls;
  line.flops = call.flops;
  line.bytes = call.bytes;
  line.attention = call.attention;
  auto number = [&](const std::optional<SizePolynomial> &count) {
    return count ? count->evaluate(values) : std::nullopt;
  };
  line.flopCount = number(call.flops);
  line.byteCount = number(call.bytes);
  if (call.attention) {
    const AttentionCost &attention = *call.attention;
    line.pairs = countVisiblePairs(attention.op, attention.queries,
                                   attention.keys, samples, ranges);
    line.flops = std::nullopt;
    if (line.pairs->formula) {
      line.flops = attention.flops(*line.pairs->formula);
      line.flopCount = number(line.flops);
    } else {
      // A number is one for the samples, which may not be what was asked for.
      bool isAsked =
          attention.queries.evaluate(values) && attention.keys.evaluate(values);
      line.flopCount =
          isAsked ? number(attention.flops(SizePolynomial(*line.pairs->number)))
                  : std::nullopt;
    }
  }
  TimeModel model{*report.target, report.machine, values};
  line.seconds = model.seconds(call);
  line.scratchBytes = model.scratchBytes(call);
  return line;
}

void Reporter::addLines() {
  std::vector<CallCost> calls = estimateCalls(module);
  for (CallCost &call : calls)
    report.lines.push_back(makeLine(call));
}

FailureOr<CostReport>
attn::computeCostReport(ModuleOp module, const TargetInfo &target,
                        const Machine &machine,
                        const llvm::StringMap<int64_t> &given) {
  CostReport report;
  report.target = &target;
  report.machine = machine;
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry.isPublic())
      report.model = entry.getName().str();
  Reporter reporter(module, given, report);
  if (failed(reporter.checkLevel()) || failed(reporter.readDims()))
    return failure();
  reporter.addLines();
  if (report.lines.empty())
    return module.emitError("expected a public function that calls kernels, "
                            "got none");
  return report;
}

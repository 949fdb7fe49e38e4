//===- CostText.cpp - what each kernel call costs, as text -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Numbers first, then the formulas that they come from, then what other layers
// would cost in the place of attention.
//
//===----------------------------------------------------------------------===//

#include "CostReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using llvm::formatv;

/// Kernel width of the convolution that attention is compared with.
static constexpr int64_t convolutionWidth = 3;

static std::string text(const std::optional<SizePolynomial> &formula) {
  return formula ? formula->str() : "unknown";
}

/// A count, exactly.
static std::string text(std::optional<double> count) {
  return count ? formatv("{0:F0}", *count).str() : "-";
}

/// A time with four digits that matter.
static std::string milliseconds(std::optional<double> seconds) {
  if (!seconds)
    return "-";
  double ms = *seconds * 1e3;
  return formatv(ms < 10     ? "{0:F4} ms"
                 : ms < 1000 ? "{0:F2} ms"
                             : "{0:F0} ms",
                 ms);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// Writes rows of cells, each as wide as the widest of its column; all but the
/// first are numbers.
static void printTable(llvm::ArrayRef<std::vector<std::string>> rows,
                       llvm::raw_ostream &os) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    os << llvm::left_justify(row.front(), widths.front());
    for (size_t i = 1; i < row.size(); ++i)
      os << "  " << llvm::right_justify(row[i], widths[i]);
    os << "\n";
  }
}

static void printNumbers(const CostReport &report, llvm::raw_ostream &os) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "FLOPs", "bytes", "scratch", "time", "of all calls"}};
  int64_t calls = 0;
  std::optional<double> flops = 0, bytes = 0, seconds = 0;
  auto add = [](std::optional<double> &sum, int64_t calls,
                std::optional<double> count) {
    sum = sum && count ? std::optional(*sum + double(calls) * *count)
                       : std::nullopt;
  };
  auto times = [](int64_t calls, std::optional<double> count) {
    return count ? std::optional(double(calls) * *count) : std::nullopt;
  };
  for (const CostLine &line : report.lines) {
    calls += line.calls;
    add(flops, line.calls, line.flopCount);
    add(bytes, line.calls, line.byteCount);
    add(seconds, line.calls, line.seconds);
    rows.push_back({line.kernel, std::to_string(line.calls),
                    text(line.flopCount), text(line.byteCount),
                    text(line.scratchBytes), milliseconds(line.seconds),
                    milliseconds(times(line.calls, line.seconds))});
  }
  rows.push_back({"total", std::to_string(calls), text(flops), text(bytes), "",
                  "", milliseconds(seconds)});
  printTable(rows, os);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// Where the operations of a masked attention come from.
static void printPairs(const CostLine &line, llvm::raw_ostream &os) {
  const VisiblePairs &pairs = *line.pairs;
  os << "    pairs  " << (pairs.isLimit || pairs.isTooLarge ? "at most " : "");
  if (pairs.formula) {
    os << pairs.formula->str();
    if (!pairs.conditions.empty())
      os << ", for " << llvm::join(pairs.conditions, " and ");
  } else {
    os << text(pairs.number)
       << ", counted for these sizes (because the keys of "
       << "a query are not one range whose ends are lines over the queries)";
  }
  if (pairs.isTooLarge)
    os << " (because there are too many to count those of this mask)";
  else if (pairs.isLimit)
    os << " (because the mask depends on data)";
  os << "\n";
}

static void printFormulas(const CostReport &report, llvm::raw_ostream &os) {
  os << "formulas, of one call\n";
  std::optional<SizePolynomial> flops = SizePolynomial(),
                                bytes = SizePolynomial();
  auto add = [](std::optional<SizePolynomial> &sum, int64_t calls,
                const std::optional<SizePolynomial> &count) {
    sum = sum && count ? std::optional(*sum + *count * double(calls))
                       : std::nullopt;
  };
  for (const CostLine &line : report.lines) {
    add(flops, line.calls, line.flops);
    add(bytes, line.calls, line.bytes);
    os << "  " << line.kernel << "\n    FLOPs  " << text(line.flops)
       << "\n    bytes  " << text(line.bytes) << "\n";
    if (line.pairs)
      printPairs(line, os);
  }
  os << "  total, of all calls\n    FLOPs  " << text(flops) << "\n    bytes  "
     << text(bytes) << "\n";
}

//===----------------------------------------------------------------------===//
// Other layers
//===----------------------------------------------------------------------===//

/// How many layers information passes on its way between two places of a
/// sequence: one, unless each query sees a number of keys that does not grow.
static std::string pathOf(const CostLine &line) {
  const AttentionCost &attention = *line.attention;
  std::vector<std::string> dims = attention.queries.getDims();
  if (!line.pairs->formula || line.pairs->isLimit || line.pairs->isTooLarge ||
      dims.size() != 1)
    return "1";
  // What one query more adds.
  const SizePolynomial &pairs = *line.pairs->formula;
  SizePolynomial longer = pairs.substitute([&](llvm::StringRef dim) {
    return SizePolynomial::dim(dim) + (dim == dims.front() ? 1.0 : 0.0);
  });
  std::optional<double> keys = (longer + pairs * -1).constant();
  if (!keys)
    return "1";
  return formatv("{0} / {1:F0}", attention.queries.str(), *keys);
}

static void printComparison(const CostLine &line, llvm::raw_ostream &os) {
  const AttentionCost &attention = *line.attention;
  int64_t width = attention.heads * attention.valueChannels;
  SizePolynomial positions = attention.batches * attention.queries;
  SizePolynomial recurrent = positions * (2.0 * double(width) * double(width));
  std::string length = attention.queries.str();
  bool isProduct = length.find_first_of(" *") != std::string::npos;
  os << line.kernel << " beside other layers of its width, d = " << width
     << "\n";
  printTable({{"  layer", "operations", "sequential steps", "longest path"},
              {"  attention", text(line.flops), "1", pathOf(line)},
              {"  recurrent", recurrent.str(), length, length},
              {formatv("  convolution of width {0}", convolutionWidth),
               (recurrent * double(convolutionWidth)).str(), "1",
               formatv(isProduct ? "log{0}({1})" : "log{0} {1}",
                       convolutionWidth, length)}},
             os);
}

void attn::printCostReport(const CostReport &report, llvm::raw_ostream &os) {
  os << "cost of " << report.model;
  const char *separator = " for ";
  for (const CostReport::Dim &dim : report.dims) {
    if (!dim.value)
      continue;
    os << separator << dim.name << " = " << *dim.value
       << (dim.isLimit ? " (the end of its range)" : "");
    separator = ", ";
  }
  os << "\n"
     << report.target->name << ", one thread, "
     << formatv("{0:F1} GFLOP/s, {1:F1} GB/s ({2})", report.machine.gflops,
                report.machine.gbytes,
                report.machine.isMeasured
                    ? "--machine"
                    : "assumed: --machine=$(attn-run --measure-machine)")
     << "\n";
  for (const CostReport::Dim &dim : report.dims)
    if (!dim.value)
      os << dim.name << " has no limit: numbers need --dim " << dim.name
         << "=N\n";
  os << "\n";
  printNumbers(report, os);
  os << "\n";
  printFormulas(report, os);
  bool isFirst = true;
  for (const CostLine &line : report.lines) {
    if (!line.attention)
      continue;
    if (isFirst)
      os << "\nother layers: Vaswani et al., Attention Is All You Need (2017), "
            "table 1\n";
    isFirst = false;
    printComparison(line, os);
  }
}

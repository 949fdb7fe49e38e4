//===- Explain.cpp - remarks as text ---------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// "model.mlir:8:12", the name that an importer gave, or "?".
static void printPlace(llvm::raw_ostream &os, Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn();
  else if (auto name = loc->findInstanceOf<NameLoc>())
    os << name.getName().getValue();
  else
    os << "?";
}

/// "HasScoreRegion" as "has score region".
static void printWords(llvm::raw_ostream &os, StringRef key) {
  for (auto [number, letter] : llvm::enumerate(key)) {
    if (llvm::isUpper(letter) && number > 0)
      os << ' ';
    os << llvm::toLower(letter);
  }
}

namespace {

/// Writes a remark as soon as it comes.
class TextStreamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit TextStreamer(llvm::raw_ostream &os) : os(os) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    StringRef reason, fix;
    printPlace(os, remark.getLocation());
    switch (remark.getRemarkType()) {
    case llvm::remarks::Type::Missed:
    case llvm::remarks::Type::Failure:
      os << ": missed: ";
      break;
    case llvm::remarks::Type::Passed:
      os << ": done: ";
      break;
    default:
      os << ": note: ";
    }
    os << remark.getRemarkName();
    const char *separator = ": ";
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (arg.key == "Reason") {
        reason = arg.val;
        continue;
      }
      if (arg.key == "Suggestion") {
        fix = arg.val;
        continue;
      }
      os << separator;
      separator = ", ";
      if (arg.key != "Remark") {
        printWords(os, arg.key);
        os << ' ';
      }
      os << arg.val;
    }
    if (!reason.empty())
      os << ": " << reason;
    if (!fix.empty())
      os << "; to fix it, " << fix;
    os << " [" << remark.getCategoryName() << "]\n";
  }

private:
  llvm::raw_ostream &os;
};

} // namespace

void attn::explainTo(llvm::raw_ostream &os, MLIRContext &context) {
  remark::RemarkCategories all;
  // Each kind has a filter; `all` only extends those that are set.
  all.passed = all.missed = all.analysis = all.failed = ".*";
  // Fails only if remarks are on already, which is as well.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<TextStreamer>(os),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

static void explain(Location loc, StringRef remark, StringRef name,
                    const attn::Cost &cost) {
  auto text = [](const std::optional<attn::SizePolynomial> &count) {
    return count ? count->str() : "unknown";
  };
  remark::analysis(
      loc,
      remark::RemarkOpts::name(remark).category("cost-model").function(name))
      << remark::add("{0}", name) << remark::metric("Calls", cost.calls)
      << remark::metric("Flops", text(cost.flops))
      << remark::metric("Bytes", text(cost.bytes));
}

void attn::explainCost(ModuleOp module, const ModelCost &cost) {
  for (const KernelCost &kernel : cost.kernels) {
    Operation *op = module.lookupSymbol(kernel.kernel);
    explain(op ? op->getLoc() : module.getLoc(), "kernel-cost", kernel.kernel,
            kernel.cost);
  }
  if (!cost.kernels.empty())
    explain(module.getLoc(), "model-cost", "all kernels", cost.total());
}

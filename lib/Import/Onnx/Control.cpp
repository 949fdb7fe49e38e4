//===- Control.cpp - branches and loops that are known --------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A compiled model is straight-line code. An If whose condition is known at
// import is the branch that it takes, a Loop whose steps are known is its body
// that many times.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Importer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

/// More would be no model but a program.
static constexpr int64_t maxSteps = 4096;

static constexpr StringLiteral decidesPath = "decides what is computed";

static LogicalResult importIf(NodeImport &node) {
  const Graph *yes = node.graphAttribute("then_branch");
  const Graph *no = node.graphAttribute("else_branch");
  if (!yes || !no)
    return node.error("expected then_branch and else_branch, got none");
  std::optional<Scalar> condition = node.input(0).splat();
  if (!condition)
    return node.unknown(0, decidesPath);
  FailureOr<std::vector<Datum>> results = node.getImporter().importBody(
      condition->integer ? *yes : *no, {}, node.getPlace());
  if (failed(results))
    return failure();
  if (results->size() < node.numResults())
    return node.error("expected " + Twine(node.numResults()) +
                      " outputs of the branch, got " + Twine(results->size()));
  for (unsigned i = 0; i < node.numResults(); ++i)
    node.setResult(i, (*results)[i]);
  return success();
}

static LogicalResult importLoop(NodeImport &node) {
  const Graph *body = node.graphAttribute("body");
  if (!body)
    return node.error("expected a body, got none");
  auto carriedCount = static_cast<size_t>(
      std::max<int64_t>(0, int64_t(node.getNode().inputs.size()) - 2));
  if (body->inputs.size() != carriedCount + 2 ||
      body->outputs.size() < carriedCount + 1 ||
      node.numResults() > body->outputs.size() - 1)
    return node.error("expected a body with an input for the step, the "
                      "condition and each of " +
                      Twine(carriedCount) +
                      " values, and their outputs, got another");
  int64_t steps = maxSteps + 1;
  if (node.has(0)) {
    std::optional<Scalar> count = node.input(0).splat();
    if (!count)
      return node.unknown(0, decidesPath);
    steps = std::max<int64_t>(0, count->integer);
  }
  std::vector<Datum> carried;
  for (size_t i = 0; i < carriedCount; ++i)
    carried.push_back(node.input(i + 2));
  size_t scanCount = body->outputs.size() - 1 - carriedCount;
  std::vector<SmallVector<Datum>> scans(scanCount);
  Datum condition = makeScalar(ElementType::Bool, 1);
  if (node.has(1))
    condition = node.input(1);
  for (int64_t step = 0; step < steps; ++step) {
    std::optional<Scalar> goesOn = condition.splat();
    if (!goesOn)
      return step == 0 ? node.unknown(1, decidesPath)
                       : node.error("expected the condition of the loop to be "
                                    "known when the model is compiled, got one "
                                    "that depends on data");
    if (!goesOn->integer)
      break;
    if (step >= maxSteps)
      return node.error("expected at most " + Twine(maxSteps) +
                        " steps of a loop (because each is compiled), got "
                        "more");
    std::vector<Datum> inputs = {
        makeScalar(ElementType::Int64, static_cast<double>(step)), condition};
    llvm::append_range(inputs, carried);
    FailureOr<std::vector<Datum>> results = node.getImporter().importBody(
        *body, std::move(inputs), node.getPlace());
    if (failed(results))
      return failure();
    condition = (*results)[0];
    for (size_t i = 0; i < carriedCount; ++i)
      carried[i] = (*results)[i + 1];
    for (size_t i = 0; i < scanCount; ++i) {
      Datum &part = (*results)[carriedCount + 1 + i];
      SmallVector<Size> sizes(part.sizes);
      sizes.insert(sizes.begin(), sizeOf(node, 1));
      scans[i].push_back(reshape(node, part, sizes));
    }
  }
  for (size_t i = 0; i < carriedCount; ++i)
    node.setResult(i, carried[i]);
  for (size_t i = 0; i < scanCount; ++i) {
    auto number = static_cast<unsigned>(carriedCount + i);
    if (!node.wants(number))
      continue;
    if (scans[i].empty())
      return node.error("expected at least one step of a loop whose steps are "
                        "collected, got none");
    node.setResult(number, concatenate(node, scans[i], 0));
  }
  return success();
}

ArrayRef<Operator> controlOperators() {
  static const Operator rows[] = {
      {"If", 1, 1, 1, INT_MAX, importIf, "condition known at import"},
      {"Loop", 1, 2, -1, INT_MAX, importLoop,
       "steps known at import, at most 4096"},
  };
  return rows;
}

} // namespace attn::onnx

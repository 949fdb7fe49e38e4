//===- NodeImport.cpp - what the importer of an operator works with -------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NodeImport.h"
#include "Importer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace attn::onnx {

LogicalResult NodeImport::error(const Twine &message) {
  failed = true;
  importer.problems.add(place + ": " + message);
  return failure();
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

unsigned NodeImport::numInputs() const {
  auto count = static_cast<unsigned>(node.inputs.size());
  while (count > 0 && !has(count - 1))
    --count;
  return count;
}

bool NodeImport::has(unsigned input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty())
    return false;
  const Datum *datum = importer.lookup(node.inputs[input]);
  return datum && !datum->isAbsent();
}

Datum &NodeImport::input(unsigned number) {
  return *importer.lookup(node.inputs[number]);
}

mlir::Value NodeImport::tensor(Datum &datum) {
  return importer.materialize(datum, loc);
}

unsigned NodeImport::numResults() const {
  auto count = static_cast<unsigned>(node.outputs.size());
  while (count > 0 && node.outputs[count - 1].empty())
    --count;
  return count;
}

bool NodeImport::wants(unsigned result) const {
  return result < node.outputs.size() && !node.outputs[result].empty();
}

void NodeImport::setResult(unsigned number, Datum datum) {
  if (wants(number))
    importer.define(node.outputs[number], std::move(datum));
}

std::optional<SmallVector<int64_t>>
NodeImport::statedShape(unsigned result) const {
  const onnx::Type *type =
      wants(result) ? importer.statedType(node.outputs[result]) : nullptr;
  if (!type || type->kind != onnx::Type::Kind::Tensor || !type->hasShape)
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (const Dim &dim : type->dims) {
    if (dim.size < 0)
      return std::nullopt;
    shape.push_back(dim.size);
  }
  return shape;
}

LogicalResult NodeImport::unknown(unsigned input, StringRef why) {
  StringRef name = node.inputs[input];
  std::string sources = importer.describeUnknown(name);
  std::string from = sources.empty()
                         ? "data of the model"
                         : "input " + sources + ": give it with --input-value";
  return error("expected input " + Twine(input) + " '" + name +
               "' to be known when the model is compiled (because it " + why +
               "), got a value that depends on " + from);
}

FailureOr<SmallVector<Size>> NodeImport::sizes(unsigned number, StringRef why) {
  const Datum &datum = input(number);
  if (!datum.known)
    return unknown(number, why);
  SmallVector<Size> result;
  for (const Scalar &scalar : *datum.known)
    switch (scalar.kind) {
    case Scalar::Kind::Integer:
      result.push_back(builder.getIndexAttr(scalar.integer));
      break;
    case Scalar::Kind::Size:
      result.push_back(scalar.size);
      break;
    case Scalar::Kind::Float:
      return error("expected integers in input " + Twine(number) + ", got " +
                   describe(datum));
    }
  return result;
}

FailureOr<SmallVector<int64_t>> NodeImport::integers(unsigned number,
                                                     StringRef why) {
  FailureOr<SmallVector<Size>> values = sizes(number, why);
  if (mlir::failed(values))
    return failure();
  SmallVector<int64_t> result;
  for (Size value : *values) {
    std::optional<int64_t> integer = numberOf(value);
    if (!integer)
      return unknown(number, why);
    result.push_back(*integer);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const Attribute *NodeImport::find(StringRef name) {
  asked.insert(name.str());
  return node.lookup(name);
}

const Attribute *NodeImport::find(StringRef name, Attribute::Kind kind,
                                  StringRef what) {
  const Attribute *attribute = find(name);
  if (!attribute || attribute->kind == kind)
    return attribute;
  (void)error("expected attribute '" + name + "' to be " + what +
              ", got a value of another kind");
  return nullptr;
}

bool NodeImport::hasAttribute(StringRef name) { return find(name) != nullptr; }

int64_t NodeImport::integer(StringRef name, int64_t fallback) {
  const Attribute *attribute = find(name, Attribute::Kind::Int, "an integer");
  return attribute ? attribute->integer : fallback;
}

double NodeImport::number(StringRef name, double fallback) {
  const Attribute *attribute = find(name, Attribute::Kind::Float, "a float");
  return attribute ? attribute->number : fallback;
}

StringRef NodeImport::text(StringRef name, StringRef fallback) {
  const Attribute *attribute = find(name, Attribute::Kind::String, "a string");
  return attribute ? attribute->text : fallback;
}

std::optional<SmallVector<int64_t>> NodeImport::integerList(StringRef name) {
  const Attribute *attribute =
      find(name, Attribute::Kind::Ints, "a list of integers");
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->integers.begin(),
                              attribute->integers.end());
}

std::optional<std::vector<float>> NodeImport::numberList(StringRef name) {
  const Attribute *attribute =
      find(name, Attribute::Kind::Floats, "a list of floats");
  if (!attribute)
    return std::nullopt;
  return attribute->numbers;
}

const Tensor *NodeImport::tensorAttribute(StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Tensor, "a tensor");
  return attribute ? attribute->tensor.get() : nullptr;
}

const Graph *NodeImport::graphAttribute(StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Graph, "a graph");
  return attribute ? attribute->graph.get() : nullptr;
}

void NodeImport::checkAttributes() {
  for (const Attribute &attribute : node.attributes)
    if (!asked.count(attribute.name.str()))
      (void)error("expected attributes that attn-opt knows for this operator, "
                  "got '" +
                  attribute.name + "'");
}

FailureOr<int64_t> NodeImport::axis(int64_t value, int64_t rank) {
  if (value < -rank || value >= rank)
    return error("expected an axis of " + Twine(-rank) + " to " +
                 Twine(rank - 1) + " (because the rank is " + Twine(rank) +
                 "), got " + Twine(value));
  return value < 0 ? value + rank : value;
}

FailureOr<SmallVector<int64_t>> NodeImport::axes(ArrayRef<int64_t> values,
                                                 int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t value : values) {
    FailureOr<int64_t> one = axis(value, rank);
    if (mlir::failed(one))
      return failure();
    if (llvm::is_contained(result, *one))
      return error("expected each axis once, got " + Twine(value) + " twice");
    result.push_back(*one);
  }
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const std::vector<const Operator *> &sortedOperators() {
  static const std::vector<const Operator *> sorted = [] {
    std::vector<const Operator *> rows;
    for (ArrayRef<Operator> family :
         {attentionOperators(), controlOperators(), elementwiseOperators(),
          indexingOperators(), matMulOperators(), normOperators(),
          reduceOperators(), rotaryOperators(), shapeOperators()})
      for (const Operator &row : family)
        rows.push_back(&row);
    llvm::sort(rows, [](const Operator *a, const Operator *b) {
      return std::pair<StringRef, StringRef>(a->domain, a->name) <
             std::pair<StringRef, StringRef>(b->domain, b->name);
    });
    return rows;
  }();
  return sorted;
}

std::vector<const Operator *> allOperators() { return sortedOperators(); }

const Operator *lookupOperator(StringRef domain, StringRef name) {
  for (const Operator *row : sortedOperators())
    if (row->domain == domain && row->name == name)
      return row;
  return nullptr;
}

} // namespace attn::onnx

std::string attn::describeOnnxOperators() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const onnx::Operator *row : onnx::allOperators()) {
    std::string name = row->name.str();
    if (!row->domain.empty())
      name = row->domain.str() + "." + name;
    stream << llvm::left_justify(name, 20) << ' '
           << llvm::right_justify(std::to_string(row->since), 2);
    if (!row->limits.empty())
      stream << "  " << row->limits;
    stream << '\n';
  }
  return text;
}

//===- NodeImport.h - what the importer of an operator works with *- C++
//-*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// To add an operator, write `static LogicalResult importX(NodeImport &node)` in
// the file of its family and add a row to that file's table. The function asks
// for inputs and attributes and sets results; what it does not ask for, or
// cannot take, is an error with the node's name. Helpers that build tensors are
// in Build.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_NODEIMPORT_H
#define ATTN_LIB_IMPORT_ONNX_NODEIMPORT_H

#include "Datum.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace attn::onnx {

class Importer;

/// One node of the graph, while it is imported.
class NodeImport {
public:
  NodeImport(Importer &importer, const Node &node, std::string place,
             int64_t opset, mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), opset(opset), importer(importer),
        node(node), place(std::move(place)) {}

  /// Where operations go.
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// The version of the operator set of the node's domain.
  const int64_t opset;

  mlir::MLIRContext *context() const { return builder.getContext(); }

  //===--------------------------------------------------------------------===//
  // Problems
  //===--------------------------------------------------------------------===//

  /// Reports a problem of this node. The text says what was expected and what
  /// came.
  mlir::LogicalResult error(const llvm::Twine &message);
  /// Whether a problem was reported.
  bool hasFailed() const { return failed; }

  //===--------------------------------------------------------------------===//
  // Inputs and results
  //===--------------------------------------------------------------------===//

  unsigned numInputs() const;
  /// Whether the optional input is there.
  bool has(unsigned input) const;
  Datum &input(unsigned number);
  /// The input as a tensor of the function.
  mlir::Value tensor(unsigned number) { return tensor(input(number)); }
  mlir::Value tensor(Datum &datum);

  unsigned numResults() const;
  bool wants(unsigned result) const;
  void setResult(unsigned number, Datum datum);
  /// The shape that the model states for a result, if it states numbers.
  std::optional<llvm::SmallVector<int64_t>> statedShape(unsigned result) const;

  /// The elements of an input as integers, or as sizes; an error that says why
  /// they must be known ("decides the shape of the result") if they are not.
  mlir::FailureOr<llvm::SmallVector<int64_t>> integers(unsigned input,
                                                       llvm::StringRef why);
  mlir::FailureOr<llvm::SmallVector<Size>> sizes(unsigned input,
                                                 llvm::StringRef why);
  /// The error alone.
  mlir::LogicalResult unknown(unsigned input, llvm::StringRef why);

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name);
  int64_t integer(llvm::StringRef name, int64_t fallback);
  double number(llvm::StringRef name, double fallback);
  llvm::StringRef text(llvm::StringRef name, llvm::StringRef fallback);
  std::optional<llvm::SmallVector<int64_t>> integerList(llvm::StringRef name);
  std::optional<std::vector<float>> numberList(llvm::StringRef name);
  const Tensor *tensorAttribute(llvm::StringRef name);
  const Graph *graphAttribute(llvm::StringRef name);
  /// Says that an attribute changes nothing here.
  void ignore(llvm::StringRef name) { (void)find(name); }
  /// An error for each attribute that was not asked for.
  void checkAttributes();

  /// An axis of -rank to rank - 1 as one of 0 to rank - 1.
  mlir::FailureOr<int64_t> axis(int64_t value, int64_t rank);
  /// The same for a list, which must not name one twice; sorted.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  axes(llvm::ArrayRef<int64_t> values, int64_t rank);

  Importer &getImporter() { return importer; }
  const Node &getNode() const { return node; }
  /// The node in messages.
  llvm::StringRef getPlace() const { return place; }

private:
  const Attribute *find(llvm::StringRef name);
  /// The attribute if it is there and of this kind; else null, after an error
  /// if it is of another.
  const Attribute *find(llvm::StringRef name, Attribute::Kind kind,
                        llvm::StringRef what);

  Importer &importer;
  const Node &node;
  std::string place;
  std::set<std::string> asked;
  bool failed = false;
};

/// A row of the table of operators.
struct Operator {
  llvm::StringLiteral name;
  /// The first version of the operator set in which the operator is what the
  /// function imports.
  int64_t since;
  /// Number of inputs and the most results; -1 for any number of inputs.
  int minInputs, maxInputs, maxResults;
  mlir::LogicalResult (*import)(NodeImport &node);
  /// What is not supported, for the documentation.
  llvm::StringLiteral limits;
  /// The domain, empty for the standard operators.
  llvm::StringLiteral domain = "";
};

/// The row of an operator, or null.
const Operator *lookupOperator(llvm::StringRef domain, llvm::StringRef name);
/// All rows, sorted by domain and name.
std::vector<const Operator *> allOperators();

// The families, each in a file of that name.
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> controlOperators();
llvm::ArrayRef<Operator> elementwiseOperators();
llvm::ArrayRef<Operator> indexingOperators();
llvm::ArrayRef<Operator> matMulOperators();
llvm::ArrayRef<Operator> normOperators();
llvm::ArrayRef<Operator> reduceOperators();
llvm::ArrayRef<Operator> rotaryOperators();
llvm::ArrayRef<Operator> shapeOperators();

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_NODEIMPORT_H

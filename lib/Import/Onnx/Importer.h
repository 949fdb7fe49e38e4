//===- Importer.h - a graph of operators to a function ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Walks the nodes in order. Names have scopes: the body of a function sees only
// its own, a graph in an attribute (If, Loop) also those around it. Everything
// is built into the one block of the entry function.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_IMPORTER_H
#define ATTN_LIB_IMPORT_ONNX_IMPORTER_H

#include "NodeImport.h"
#include "attn/Import/Onnx.h"
#include "attn/Support/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

#include <map>
#include <optional>

namespace attn::onnx {

class Importer {
public:
  Importer(const Model &model, llvm::StringRef path, mlir::MLIRContext *context,
           const OnnxOptions &options);

  /// The module; null if there were problems.
  mlir::OwningOpRef<mlir::ModuleOp> run();
  Problems problems;
  /// Inputs of the model whose values must be known and are not.
  std::vector<std::string> unknownInputs;

  //===--------------------------------------------------------------------===//
  // For NodeImport
  //===--------------------------------------------------------------------===//

  /// The value of that name in the innermost scope that has it, or null.
  Datum *lookup(llvm::StringRef name);
  void define(llvm::StringRef name, Datum datum);
  /// The datum as a tensor of the function.
  mlir::Value materialize(Datum &datum, mlir::Location loc);
  /// A tensor of the file, which stays where it is until it is used.
  Datum makeStored(const Tensor &tensor);
  /// The type that the model states for a value, or null.
  const Type *statedType(llvm::StringRef name) const;
  /// Reports that the value of that name must be known, and notes the inputs of
  /// the model that it comes from.
  std::string describeUnknown(llvm::StringRef name);

  /// Imports the nodes of a graph in an attribute: `inputs` are the values of
  /// its inputs, the result those of its outputs.
  mlir::FailureOr<std::vector<Datum>> importBody(const Graph &graph,
                                                 std::vector<Datum> inputs,
                                                 llvm::StringRef place);

  /// An operation on sizes. The same on the same operands is made once, so that
  /// equal sizes are equal values.
  template <typename Op>
  mlir::Value makeSizeOp(NodeImport &node, mlir::Value a, mlir::Value b) {
    mlir::Value &value =
        sizeOps[{Op::getOperationName(), a.getAsOpaquePointer(),
                 b.getAsOpaquePointer()}];
    if (!value)
      value = Op::create(node.builder, node.loc, a, b);
    return value;
  }

  /// What a tensor was before it was reshaped, or null.
  const Datum *lookupReshape(mlir::Value tensor) const {
    auto found = reshapes.find(tensor);
    return found == reshapes.end() ? nullptr : &found->second;
  }
  void noteReshape(mlir::Value tensor, const Datum &before) {
    const Datum *first = lookupReshape(before.tensor);
    // Of a chain the first: all of it are views of that.
    Datum source = first ? *first : before;
    reshapes.try_emplace(tensor, std::move(source));
  }

private:
  struct Scope {
    llvm::StringMap<Datum> values;
    /// The nodes that make values, to find out what these come from.
    llvm::StringMap<const Node *> producers;
    llvm::StringMap<const Type *> types;
    /// Attributes of the function that is inlined.
    const Node *caller = nullptr;
    const Function *function = nullptr;
    /// Whether names of outer scopes can be seen.
    bool isOpen = false;
    const llvm::StringMap<int64_t> *opsets = nullptr;
  };

  void checkOpsets();
  /// Reports all operators that the table does not have, in all graphs.
  void checkOperators();
  void importInputs();
  void importInput(const ValueInfo &input);
  /// A tensor as an argument of the function.
  Datum addArgument(llvm::StringRef name, const Type &type);
  /// The value of an input that the options give.
  std::optional<Datum> makeInputValue(const ValueInfo &input);
  mlir::Value castToStated(Datum &datum, const ValueInfo &output,
                           mlir::Location loc);
  void declare(const Graph &graph, Scope &scope);
  void importNodes(llvm::ArrayRef<Node> nodes, llvm::StringRef place);
  void importNode(const Node &node, std::string place);
  void inlineFunction(const Function &function, const Node &node,
                      llvm::StringRef place);
  const Function *lookupFunction(const Node &node) const;
  /// A node of a function with the caller's attributes in place of references.
  Node resolve(const Node &node);
  void importOutputs();
  void eraseUnused();

  mlir::Location locationOf(const Node &node, llvm::StringRef place);
  /// A C identifier of its own for an input or output.
  std::string makeName(llvm::StringRef name, llvm::StringSet<> &used);
  /// The attn.dim of a dim_param.
  Size dimSize(llvm::StringRef name);
  mlir::Value makeWeight(const Datum &datum, mlir::Location loc);
  mlir::Value makeConstant(const Datum &datum, mlir::Location loc);

  const Model &model;
  std::string path, fileName;
  const OnnxOptions &options;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::optional<mlir::SymbolTable> symbols;
  std::deque<Scope> scopes;
  llvm::StringMap<Size> dims;
  llvm::StringMap<std::string> dimNames;
  llvm::StringSet<> usedNames;
  std::vector<std::pair<std::string, llvm::SmallVector<std::string>>> arguments;
  std::map<const Tensor *, mlir::Value> weights;
  llvm::DenseMap<mlir::Value, Datum> reshapes;
  std::map<std::tuple<llvm::StringRef, const void *, const void *>, mlir::Value>
      sizeOps;
  /// They live as long as the import: scopes point to them.
  std::deque<Node> resolvedNodes;
  unsigned depth = 0;
};

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_IMPORTER_H

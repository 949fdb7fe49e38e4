//===- Importer.cpp - a graph of operators to a function ------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The walk over nodes, scopes and functions. Inputs and outputs of the model
// are in Interface.cpp, constants in Constants.cpp.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace attn::onnx {

/// The newest operator set whose operators were looked at.
static constexpr int64_t newestOpset = 28;
/// Functions that call functions.
static constexpr unsigned maxInlining = 32;

Importer::Importer(const Model &model, StringRef path, MLIRContext *context,
                   const OnnxOptions &options)
    : problems(path + ": "), model(model), path(path.str()),
      fileName(llvm::sys::path::filename(path).str()), options(options),
      context(context), builder(context) {
  context->loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect,
                       linalg::LinalgDialect, math::MathDialect,
                       scf::SCFDialect, tensor::TensorDialect>();
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

Datum *Importer::lookup(StringRef name) {
  for (Scope &scope : llvm::reverse(scopes)) {
    if (auto found = scope.values.find(name); found != scope.values.end())
      return &found->second;
    if (!scope.isOpen)
      break;
  }
  return nullptr;
}

void Importer::define(StringRef name, Datum datum) {
  if (!name.empty())
    scopes.back().values[name] = std::move(datum);
}

const onnx::Type *Importer::statedType(StringRef name) const {
  auto found = scopes.back().types.find(name);
  return found == scopes.back().types.end() ? nullptr : found->second;
}

void Importer::declare(const Graph &graph, Scope &scope) {
  for (const Node &node : graph.nodes)
    for (StringRef output : node.outputs)
      scope.producers[output] = &node;
  for (const std::vector<ValueInfo> *list : {&graph.values, &graph.outputs})
    for (const ValueInfo &value : *list)
      scope.types[value.name] = &value.type;
}

std::string Importer::describeUnknown(StringRef name) {
  // Back to the inputs, in the scopes that can be seen. Shapes are no values.
  SmallVector<StringRef> pending = {name};
  llvm::StringSet<> seen;
  std::string names;
  while (!pending.empty()) {
    StringRef next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    const Node *producer = nullptr;
    for (const Scope &scope : llvm::reverse(scopes)) {
      producer = scope.producers.lookup(next);
      if (producer || !scope.isOpen)
        break;
    }
    if (producer) {
      if (producer->opType != "Shape" && producer->opType != "Size")
        llvm::append_range(pending, producer->inputs);
      continue;
    }
    if (llvm::none_of(model.graph.inputs, [&](const ValueInfo &input) {
          return input.name == next;
        }))
      continue;
    Datum *datum = lookup(next);
    if (!datum || datum->known)
      continue;
    if (!llvm::is_contained(unknownInputs, next))
      unknownInputs.push_back(next.str());
    names += (names.empty() ? "'" : ", '") + next.str() + "'";
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Checks before the walk
//===----------------------------------------------------------------------===//

void Importer::checkOpsets() {
  auto check = [&](const llvm::StringMap<int64_t> &opsets) {
    auto found = opsets.find("");
    if (found != opsets.end() &&
        (found->second < 1 || found->second > newestOpset))
      problems.add("expected version 1 to " + Twine(newestOpset) +
                   " of the standard operator set (because newer operators may "
                   "mean something else), got " +
                   Twine(found->second));
  };
  check(model.opsets);
  for (const Function &function : model.functions)
    check(function.opsets);
}

const Function *Importer::lookupFunction(const Node &node) const {
  for (const Function &function : model.functions)
    if (function.name == node.opType &&
        (function.domain == node.domain ||
         (function.domain == "ai.onnx" && node.domain.empty())))
      return &function;
  return nullptr;
}

static std::string describeNode(const Node &node, size_t number) {
  std::string text = "node " + std::to_string(number);
  if (!node.name.empty())
    text += " '" + node.name.str() + "'";
  return text + " (" + node.opType.str() + ")";
}

void Importer::checkOperators() {
  struct Unknown {
    unsigned count = 0;
    std::string first;
  };
  llvm::MapVector<std::pair<StringRef, StringRef>, Unknown> unknown;
  std::function<void(ArrayRef<Node>, const Twine &)> walk =
      [&](ArrayRef<Node> nodes, const Twine &place) {
        for (auto [number, node] : llvm::enumerate(nodes)) {
          std::string here = (place + describeNode(node, number)).str();
          if (!lookupFunction(node) &&
              !lookupOperator(node.domain, node.opType)) {
            Unknown &entry = unknown[{node.domain, node.opType}];
            if (entry.count++ == 0)
              entry.first = here;
          }
          for (const Attribute &attribute : node.attributes)
            if (attribute.graph)
              walk(attribute.graph->nodes, here + ", ");
        }
      };
  walk(model.graph.nodes, "");
  for (const Function &function : model.functions)
    walk(function.nodes, "function " + function.name + ", ");
  for (auto &[name, entry] : unknown)
    problems.add("expected operators that attn-opt knows (docs/Onnx.md lists "
                 "them), got " +
                 (name.first.empty() ? "" : name.first + ".") + name.second +
                 " in " + Twine(entry.count) +
                 (entry.count == 1 ? " node: " : " nodes, the first is ") +
                 entry.first);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Location Importer::locationOf(const Node &node, StringRef place) {
  StringRef name = node.name;
  if (name.empty() && !node.outputs.empty())
    name = node.outputs.front();
  return NameLoc::get(StringAttr::get(context, name.empty() ? place : name));
}

Node Importer::resolve(const Node &node) {
  const Scope &scope = scopes.back();
  Node result = node;
  llvm::erase_if(result.attributes, [&](Attribute &attribute) {
    if (attribute.reference.empty())
      return false;
    const Attribute *given =
        scope.caller ? scope.caller->lookup(attribute.reference) : nullptr;
    if (!given && scope.function)
      for (const Attribute &fallback : scope.function->defaults)
        if (fallback.name == attribute.reference)
          given = &fallback;
    if (!given)
      return true;
    StringRef name = attribute.name;
    attribute = *given;
    attribute.name = name;
    return false;
  });
  return result;
}

/// The datum of a result that could not be made.
static Datum makeMissing() {
  Datum datum;
  datum.isMissing = true;
  return datum;
}

void Importer::importNode(const Node &original, std::string place) {
  const Node *node = &original;
  if (llvm::any_of(original.attributes, [](const Attribute &attribute) {
        return !attribute.reference.empty();
      }))
    node = &resolvedNodes.emplace_back(resolve(original));
  auto fail = [&](const Twine &message) {
    problems.add(place + ": " + message);
  };
  bool isMissing = false, isUnknown = false;
  for (StringRef input : node->inputs) {
    if (input.empty())
      continue;
    Datum *datum = lookup(input);
    if (!datum) {
      isUnknown = true;
      fail("expected the name of an input, an initializer or an earlier "
           "node's output, got '" +
           input + "'");
      continue;
    }
    isMissing |= datum->isMissing;
  }
  for (StringRef output : node->outputs) {
    if (!output.empty() && scopes.back().values.count(output)) {
      isUnknown = true;
      fail("expected a new name for each output, got '" + output + "' again");
      continue;
    }
    define(output, makeMissing());
  }
  // Whatever is wrong with an input was reported where it was made.
  if (isMissing || isUnknown)
    return;
  if (const Function *function = lookupFunction(*node))
    return inlineFunction(*function, *node, place);

  const Operator *row = lookupOperator(node->domain, node->opType);
  const auto *opsets =
      scopes.back().opsets ? scopes.back().opsets : &model.opsets;
  auto version = opsets->find(node->domain);
  if (version == opsets->end() && opsets != &model.opsets) {
    opsets = &model.opsets;
    version = opsets->find(node->domain);
  }
  if (version == opsets->end())
    return fail("expected the version of domain '" + node->domain +
                "' in opset_import, got none");
  if (version->second < row->since)
    return fail("expected version " + Twine(row->since) +
                " or later of the operator set (because the operator was "
                "another before), got " +
                Twine(version->second));
  NodeImport import(*this, *node, place, version->second, builder,
                    locationOf(*node, place));
  auto given = static_cast<int>(import.numInputs());
  if (given < row->minInputs ||
      (row->maxInputs >= 0 && given > row->maxInputs)) {
    std::string wanted = row->maxInputs < 0
                             ? std::to_string(row->minInputs) + " or more"
                         : row->minInputs == row->maxInputs
                             ? std::to_string(row->minInputs)
                             : std::to_string(row->minInputs) + " to " +
                                   std::to_string(row->maxInputs);
    return fail("expected " + wanted +
                (wanted == "1" ? " input, got " : " inputs, got ") +
                Twine(given));
  }
  for (int i = 0; i < row->minInputs; ++i)
    if (!import.has(i))
      return fail("expected input " + Twine(i) + ", got none");
  if (static_cast<int>(import.numResults()) > row->maxResults)
    return fail("expected at most " + Twine(row->maxResults) +
                (row->maxResults == 1 ? " output, got " : " outputs, got ") +
                Twine(import.numResults()));
  if (succeeded(row->import(import)) && !import.hasFailed())
    import.checkAttributes();
}

void Importer::importNodes(ArrayRef<Node> nodes, StringRef place) {
  for (auto [number, node] : llvm::enumerate(nodes))
    importNode(node, place.str() + describeNode(node, number));
}

void Importer::inlineFunction(const Function &function, const Node &node,
                              StringRef place) {
  if (depth >= maxInlining) {
    problems.add(place + ": expected at most " + Twine(maxInlining) +
                 " levels of functions, got more (because function '" +
                 function.name + "' calls itself?)");
    return;
  }
  Scope scope;
  scope.caller = &node;
  scope.function = &function;
  scope.opsets = &function.opsets;
  for (auto [i, name] : llvm::enumerate(function.inputs))
    if (i < node.inputs.size() && !node.inputs[i].empty())
      scope.values[name] = *lookup(node.inputs[i]);
    else
      scope.values[name] = Datum(); // Left out.
  for (const Node &inner : function.nodes)
    for (StringRef output : inner.outputs)
      scope.producers[output] = &inner;
  ++depth;
  scopes.push_back(std::move(scope));
  importNodes(function.nodes, (place + ", ").str());
  std::vector<Datum> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Datum *datum =
        i < function.outputs.size() ? lookup(function.outputs[i]) : nullptr;
    if (!datum)
      problems.add(place + ": expected the function to give output " +
                   Twine(i) + ", got none");
    results.push_back(datum ? *datum : makeMissing());
  }
  scopes.pop_back();
  --depth;
  for (auto [name, datum] : llvm::zip_equal(node.outputs, results))
    define(name, datum);
}

FailureOr<std::vector<Datum>> Importer::importBody(const Graph &graph,
                                                   std::vector<Datum> inputs,
                                                   StringRef place) {
  scopes.emplace_back();
  Scope &scope = scopes.back();
  const Scope &outer = scopes[scopes.size() - 2];
  scope.isOpen = true;
  scope.caller = outer.caller;
  scope.function = outer.function;
  scope.opsets = outer.opsets;
  declare(graph, scope);
  for (const Tensor &tensor : graph.initializers)
    define(tensor.name, makeStored(tensor));
  for (auto [info, datum] : llvm::zip(graph.inputs, inputs))
    define(info.name, datum);
  importNodes(graph.nodes, (place + ", ").str());
  std::vector<Datum> results;
  bool isMissing = false;
  for (const ValueInfo &output : graph.outputs) {
    Datum *datum = lookup(output.name);
    if (!datum)
      problems.add(place + ": expected the graph to give output '" +
                   output.name + "', got none");
    isMissing |= !datum || datum->isMissing;
    results.push_back(datum ? *datum : makeMissing());
  }
  scopes.pop_back();
  if (isMissing)
    return failure();
  return results;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

void Importer::eraseUnused() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::StringSet<> used;
  function.walk([&](WeightRefOp ref) { used.insert(ref.getWeight()); });
  for (auto weight : llvm::make_early_inc_range(module->getOps<WeightOp>()))
    if (!used.contains(weight.getSymName()))
      weight.erase();
}

OwningOpRef<ModuleOp> Importer::run() {
  checkOpsets();
  checkOperators();
  if (!problems.empty())
    return nullptr;
  Location loc = NameLoc::get(StringAttr::get(context, fileName));
  module = ModuleOp::create(loc);
  llvm::StringSet<> none;
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(
      builder, loc, makeName(llvm::sys::path::stem(fileName), none),
      builder.getFunctionType({}, {}));
  symbols.emplace(*module);
  builder.setInsertionPointToEnd(function.addEntryBlock());

  scopes.emplace_back();
  declare(model.graph, scopes.back());
  for (const Tensor &tensor : model.graph.initializers)
    define(tensor.name, makeStored(tensor));
  importInputs();
  if (!problems.empty())
    return nullptr;
  importNodes(model.graph.nodes, "");
  if (problems.empty())
    importOutputs();
  if (!problems.empty())
    return nullptr;
  eraseUnused();
  // What we built is valid; if it is not, that is said and nothing is compiled.
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    problems.add("expected a valid module from the importer, got: " +
                 diagnostic.str());
    return success();
  });
  if (failed(verify(*module)))
    return nullptr;
  return std::move(module);
}

} // namespace attn::onnx

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp>
attn::importOnnx(const onnx::Model &model, StringRef path, MLIRContext *context,
                 llvm::function_ref<void(StringRef)> report,
                 const OnnxOptions &options,
                 std::vector<std::string> *unknownInputs) {
  onnx::Importer importer(model, path, context, options);
  OwningOpRef<ModuleOp> module = importer.run();
  if (unknownInputs)
    *unknownInputs = importer.unknownInputs;
  forEachProblem(importer.problems.take(), report);
  return module;
}

OwningOpRef<ModuleOp>
attn::importOnnx(StringRef path, MLIRContext *context,
                 llvm::function_ref<void(StringRef)> report,
                 const OnnxOptions &options) {
  llvm::Expected<std::unique_ptr<onnx::Model>> model = onnx::readModel(path);
  if (!model) {
    forEachProblem(model.takeError(), report);
    return nullptr;
  }
  return importOnnx(**model, path, context, report, options);
}

//===- ModelReader.cpp - ModelProto to plain structures -------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a message. A damaged node or tensor does not hide the problems
// of the others: its error is collected with its place. Fields that say nothing
// about what a model computes are skipped.
//
//===----------------------------------------------------------------------===//

#include "TensorReader.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace attn::onnx {

/// Graphs in attributes of nodes of graphs, and types in types. Deeper is no
/// model that anybody wrote, and would be as much stack.
static constexpr unsigned maxDepth = 16;

Storage::Storage() = default;
Storage::~Storage() = default;

const Attribute *Node::lookup(StringRef name) const {
  auto found =
      find_if(attributes, [&](const Attribute &a) { return a.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

namespace {

class ModelReader {
public:
  ModelReader(Storage &storage, StringRef folder, Problems &problems)
      : tensors(storage, folder), problems(problems) {}

  Error read(Span message, Model &model);
  Error read(Span message, Type &type);
  Error read(Span message, Tensor &tensor) {
    return tensors.read(message, tensor);
  }

private:
  Error read(Span message, Graph &graph);
  Error read(Span message, Node &node);
  Error read(Span message, Attribute &attribute);
  Error read(Span message, ValueInfo &value);
  Error read(Span message, Function &function);
  Error readOpset(Span message, StringMap<int64_t> &opsets);
  Error readTensorType(Span message, Type &type);
  Error readShape(Span message, Type &type);

  /// Reads the next element of a list; collects its problems.
  template <typename Element>
  Error readElement(const Field &field, const Twine &name,
                    std::vector<Element> &list) {
    Span message;
    if (Error error = field.get(message))
      return error;
    list.emplace_back();
    std::string at = (name + " " + Twine(list.size() - 1)).str();
    place.push_back(at);
    report(read(message, list.back()), list.back().name);
    place.pop_back();
    return Error::success();
  }

  /// Adds an error to the problems, with the place and the name of the element.
  void report(Error error, StringRef name) {
    if (!error)
      return;
    std::string text;
    for (auto [i, part] : enumerate(place)) {
      text += part;
      if (i + 1 == place.size() && !name.empty())
        text += " '" + name.str() + "'";
      text += ": ";
    }
    problems.add(text + toString(std::move(error)));
  }

  /// Counts the levels of a recursion.
  struct Level {
    unsigned &depth;
    explicit Level(unsigned &depth) : depth(depth) { ++depth; }
    ~Level() { --depth; }
    Error check() const {
      if (depth <= maxDepth)
        return Error::success();
      return makeWireError("expected at most " + Twine(maxDepth) +
                           " levels of graphs or types, got more");
    }
  };

  TensorReader tensors;
  Problems &problems;
  std::vector<std::string> place;
  unsigned depth = 0;
};

} // namespace

/// A field that must be there once.
template <typename Fn> static Error readMessage(const Field &field, Fn read) {
  Span message;
  if (Error error = field.get(message))
    return error;
  return read(message);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Error ModelReader::readShape(Span message, Type &type) {
  return forEachField(message, [&](const Field &field) -> Error {
    if (field.number != 1)
      return Error::success();
    return readMessage(field, [&](Span dimension) {
      Dim &dim = type.dims.emplace_back();
      return forEachField(dimension, [&](const Field &part) -> Error {
        if (part.number == 1)
          return part.get(dim.size);
        if (part.number == 2)
          return part.get(dim.name);
        return Error::success();
      });
    });
  });
}

Error ModelReader::readTensorType(Span message, Type &type) {
  return forEachField(message, [&](const Field &field) -> Error {
    if (field.number == 1) {
      int64_t number = 0;
      Error error = field.get(number);
      type.element = isInt<32>(number) ? static_cast<ElementType>(number)
                                       : ElementType::Undefined;
      return error;
    }
    if (field.number != 2)
      return Error::success();
    type.hasShape = true;
    type.dims.clear();
    return readMessage(field,
                       [&](Span shape) { return readShape(shape, type); });
  });
}

Error ModelReader::read(Span message, Type &type) {
  Level level(depth);
  if (Error error = level.check())
    return error;
  return forEachField(message, [&](const Field &field) -> Error {
    auto readInner = [&](Type::Kind kind) {
      type.kind = kind;
      auto inner = std::make_shared<Type>();
      type.inner = inner;
      return readMessage(field, [&](Span sequence) {
        return forEachField(sequence, [&](const Field &part) -> Error {
          if (part.number != 1)
            return Error::success();
          return readMessage(part,
                             [&](Span type) { return read(type, *inner); });
        });
      });
    };
    switch (field.number) {
    case 1:
      type.kind = Type::Kind::Tensor;
      return readMessage(
          field, [&](Span tensor) { return readTensorType(tensor, type); });
    case 4:
      return readInner(Type::Kind::Sequence);
    case 9:
      return readInner(Type::Kind::Optional);
    case 5:
    case 7:
    case 8:
      type.kind = Type::Kind::Other;
      return Error::success();
    default:
      return Error::success();
    }
  });
}

Error ModelReader::read(Span message, ValueInfo &value) {
  return forEachField(message, [&](const Field &field) -> Error {
    if (field.number == 1)
      return field.get(value.name);
    if (field.number == 2)
      return readMessage(field,
                         [&](Span type) { return read(type, value.type); });
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Nodes and graphs
//===----------------------------------------------------------------------===//

Error ModelReader::read(Span message, Attribute &attribute) {
  Attribute::Kind found = Attribute::Kind::Undefined;
  int64_t stated = 0;
  Error error = forEachField(message, [&](const Field &field) -> Error {
    using Kind = Attribute::Kind;
    auto is = [&](Kind kind) { found = kind; };
    switch (field.number) {
    case 1:
      return field.get(attribute.name);
    case 2:
      is(Kind::Float);
      return field.get(attribute.number);
    case 3:
      is(Kind::Int);
      return field.get(attribute.integer);
    case 4:
      is(Kind::String);
      return field.get(attribute.text);
    case 5: {
      is(Kind::Tensor);
      auto tensor = std::make_shared<Tensor>();
      attribute.tensor = tensor;
      return readMessage(field,
                         [&](Span bytes) { return read(bytes, *tensor); });
    }
    case 6: {
      is(Kind::Graph);
      auto graph = std::make_shared<Graph>();
      attribute.graph = graph;
      return readMessage(field,
                         [&](Span bytes) { return read(bytes, *graph); });
    }
    case 7:
      is(Kind::Floats);
      return field.append(attribute.numbers);
    case 8:
      is(Kind::Ints);
      return field.append(attribute.integers);
    case 9:
      is(Kind::Strings);
      return field.append(attribute.texts);
    case 10:
    case 11:
    case 14:
    case 15:
    case 22:
    case 23:
      is(Kind::Other);
      return Error::success();
    case 20:
      return field.get(stated);
    case 21:
      return field.get(attribute.reference);
    default:
      return Error::success();
    }
  });
  if (error)
    return error;
  // Writers leave out what is zero or empty; the stated kind says what it is.
  attribute.kind = stated > 0 && stated < 9
                       ? static_cast<Attribute::Kind>(stated)
                   : stated ? Attribute::Kind::Other
                            : found;
  bool isKind = found == Attribute::Kind::Undefined || found == attribute.kind;
  if (!isKind ||
      (attribute.kind == Attribute::Kind::Tensor && !attribute.tensor &&
       attribute.reference.empty()) ||
      (attribute.kind == Attribute::Kind::Graph && !attribute.graph &&
       attribute.reference.empty()))
    return makeWireError("expected an attribute with a value of its type " +
                         Twine(stated) + ", got another or none");
  return Error::success();
}

Error ModelReader::read(Span message, Node &node) {
  return forEachField(message, [&](const Field &field) -> Error {
    switch (field.number) {
    case 1:
      return field.append(node.inputs);
    case 2:
      return field.append(node.outputs);
    case 3:
      return field.get(node.name);
    case 4:
      return field.get(node.opType);
    case 5:
      return readElement(field, "attribute", node.attributes);
    case 7:
      if (Error error = field.get(node.domain))
        return error;
      if (node.domain == "ai.onnx")
        node.domain = "";
      return Error::success();
    default:
      return Error::success();
    }
  });
}

Error ModelReader::read(Span message, Graph &graph) {
  Level level(depth);
  if (Error error = level.check())
    return error;
  return forEachField(message, [&](const Field &field) -> Error {
    switch (field.number) {
    case 1:
      return readElement(field, "node", graph.nodes);
    case 2:
      return field.get(graph.name);
    case 5:
      return readElement(field, "initializer", graph.initializers);
    case 11:
      return readElement(field, "input", graph.inputs);
    case 12:
      return readElement(field, "output", graph.outputs);
    case 13:
      return readElement(field, "value", graph.values);
    case 15:
      return makeWireError(
          "expected dense initializers, got a sparse one: convert the model");
    default:
      return Error::success();
    }
  });
}

Error ModelReader::readOpset(Span message, StringMap<int64_t> &opsets) {
  StringRef domain;
  int64_t version = 0;
  Error error = forEachField(message, [&](const Field &field) -> Error {
    if (field.number == 1)
      return field.get(domain);
    if (field.number == 2)
      return field.get(version);
    return Error::success();
  });
  opsets[domain == "ai.onnx" ? "" : domain] = version;
  return error;
}

Error ModelReader::read(Span message, Function &function) {
  return forEachField(message, [&](const Field &field) -> Error {
    switch (field.number) {
    case 1:
      return field.get(function.name);
    case 4:
      return field.append(function.inputs);
    case 5:
      return field.append(function.outputs);
    case 7:
      return readElement(field, "node", function.nodes);
    case 9:
      return readMessage(
          field, [&](Span opset) { return readOpset(opset, function.opsets); });
    case 10:
      return field.get(function.domain);
    case 11:
      return readElement(field, "attribute", function.defaults);
    default:
      return Error::success();
    }
  });
}

Error ModelReader::read(Span message, Model &model) {
  bool hasGraph = false;
  Error error = forEachField(message, [&](const Field &field) -> Error {
    switch (field.number) {
    case 1:
      return field.get(model.irVersion);
    case 2:
      return field.get(model.producer);
    case 7: {
      if (hasGraph)
        return makeWireError("expected one graph, got another at byte " +
                             Twine(field.offset));
      hasGraph = true;
      return within("graph", readMessage(field, [&](Span graph) {
                      return read(graph, model.graph);
                    }));
    }
    case 8:
      return within("opset_import", readMessage(field, [&](Span opset) {
                      return readOpset(opset, model.opsets);
                    }));
    case 25:
      return readElement(field, "function", model.functions);
    default:
      return Error::success();
    }
  });
  if (!error && problems.empty() && (!hasGraph || model.opsets.empty()))
    return makeWireError(
        "expected an ONNX model with a graph and its opset, got a message "
        "without " +
        Twine(hasGraph ? "opset_import" : "graph"));
  return error;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<MemoryBuffer>> openFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeWireError(
        Twine(path) + ": cannot read the file: " + buffer.getError().message());
  return std::move(*buffer);
}

Expected<std::unique_ptr<Model>>
parseModel(std::unique_ptr<MemoryBuffer> buffer, StringRef folder) {
  auto model = std::make_unique<Model>();
  model->storage.buffer = std::move(buffer);
  StringRef text = model->storage.buffer->getBuffer();
  Problems problems(model->storage.buffer->getBufferIdentifier() + ": ");
  if (text.starts_with("version https://git-lfs"))
    problems.add("expected an ONNX model, got a pointer to one in Git LFS: "
                 "fetch it with 'git lfs pull'");
  else if (Error error = ModelReader(model->storage, folder, problems)
                             .read(Span{text}, *model))
    problems.add(toString(std::move(error)));
  if (!problems.empty())
    return problems.take();
  return model;
}

Expected<std::unique_ptr<Model>> readModel(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = openFile(path);
  if (!buffer)
    return buffer.takeError();
  return parseModel(std::move(*buffer), sys::path::parent_path(path));
}

//===----------------------------------------------------------------------===//
// Test data
//===----------------------------------------------------------------------===//

/// SequenceProto and OptionalProto hold messages of the inner type; their
/// fields are numbered by what these are.
static Error readValue(Span message, const Type &type, ModelReader &reader,
                       std::vector<Tensor> &tensors) {
  if (type.kind == Type::Kind::Tensor)
    return reader.read(message, tensors.emplace_back());
  if (!type.inner ||
      (type.kind != Type::Kind::Sequence && type.kind != Type::Kind::Optional))
    return makeWireError("expected the data of a tensor, a sequence of tensors "
                         "or an optional of these, got those of another type");
  uint32_t number = type.inner->kind == Type::Kind::Tensor     ? 3
                    : type.inner->kind == Type::Kind::Sequence ? 5
                                                               : 7;
  return forEachField(message, [&](const Field &field) -> Error {
    if (field.number != number)
      return Error::success();
    return readMessage(field, [&](Span inner) {
      return readValue(inner, *type.inner, reader, tensors);
    });
  });
}

Expected<std::unique_ptr<TestValue>> readTestValue(StringRef path,
                                                   const Type &type) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = openFile(path);
  if (!buffer)
    return buffer.takeError();
  auto value = std::make_unique<TestValue>();
  value->storage.buffer = std::move(*buffer);
  Problems problems;
  ModelReader reader(value->storage, sys::path::parent_path(path), problems);
  if (Error error = readValue(Span{value->storage.buffer->getBuffer()}, type,
                              reader, value->tensors))
    return within(path, std::move(error));
  return value;
}

} // namespace attn::onnx

//===- OnnxModel.h - ONNX files as plain structures ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a `.onnx` file (ModelProto) or the `.pb` file of one tensor
// (TensorProto) says, without MLIR. The file is mapped into memory; names and
// tensor data are views of it, so weights are never copied. Nothing in a file
// is trusted: every length, offset, depth and size is checked before it is
// used. Data in other files are mapped too, if these lie in the model's folder.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_IMPORT_ONNXMODEL_H
#define ATTN_IMPORT_ONNXMODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace attn::onnx {

/// TensorProto.DataType, with its numbers.
enum class ElementType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23
};

/// The name that ONNX uses, such as `FLOAT16`; `type 99` for one without.
std::string elementTypeName(ElementType type);
/// Bits of one element in a file; 0 where elements have no fixed size.
unsigned elementTypeBits(ElementType type);

/// A tensor whose data were checked: `data` has the bytes of the shape and
/// type.
struct Tensor {
  llvm::StringRef name;
  ElementType type = ElementType::Undefined;
  llvm::SmallVector<int64_t, 4> shape;
  /// Dense, row-major, little-endian, unaligned; two elements of 4 bits a byte.
  llvm::ArrayRef<uint8_t> data;
  /// Where `data` lie: the file, relative to the model's folder, and the offset
  /// in it. Empty where they do not lie in a file in this form.
  llvm::StringRef file;
  uint64_t offset = 0;

  /// Cannot overflow.
  uint64_t numElements() const {
    uint64_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<uint64_t>(size);
    return count;
  }
};

/// `FLOAT (2, 3)`, for messages.
std::string describe(ElementType type, llvm::ArrayRef<int64_t> shape);

/// A size: a number, a name (dim_param), or neither.
struct Dim {
  int64_t size = -1;
  llvm::StringRef name;
};

/// TypeProto.
struct Type {
  enum class Kind : uint8_t { None, Tensor, Sequence, Optional, Other };
  Kind kind = Kind::None;
  ElementType element = ElementType::Undefined; // Tensor
  bool hasShape = false;                        // Tensor
  llvm::SmallVector<Dim, 4> dims;               // Tensor
  std::shared_ptr<const Type> inner;            // Sequence, Optional
};

struct ValueInfo {
  llvm::StringRef name;
  Type type;
};

struct Graph;

/// AttributeProto. `type` says which of the fields holds the value.
struct Attribute {
  enum class Kind : int32_t {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Other = 9 // One of the kinds that no operator here takes.
  };
  llvm::StringRef name;
  Kind kind = Kind::Undefined;
  /// In the body of a function: the attribute of the caller that is meant.
  llvm::StringRef reference;
  float number = 0;
  int64_t integer = 0;
  llvm::StringRef text;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<llvm::StringRef> texts;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const Graph> graph;
};

/// NodeProto. An input or output that is left out has an empty name.
struct Node {
  llvm::StringRef name, opType, domain;
  std::vector<llvm::StringRef> inputs, outputs;
  std::vector<Attribute> attributes;

  /// The attribute of that name, or null.
  const Attribute *lookup(llvm::StringRef name) const;
};

/// GraphProto.
struct Graph {
  llvm::StringRef name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
};

/// FunctionProto: a node of its name stands for its nodes.
struct Function {
  llvm::StringRef name, domain;
  std::vector<llvm::StringRef> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  llvm::StringMap<int64_t> opsets;
};

/// Owns what the views in the structures above point to.
class Storage {
public:
  Storage();
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  /// The file that is read; messages call it by its buffer identifier.
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  /// Other files by their names in the model.
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> external;
  /// Data that a file holds in another form.
  std::deque<std::vector<uint8_t>> converted;
};

/// ModelProto.
struct Model {
  Storage storage;
  int64_t irVersion = 0;
  llvm::StringRef producer;
  /// Version of each domain; the standard operators have the domain "".
  llvm::StringMap<int64_t> opsets;
  Graph graph;
  std::vector<Function> functions;
};

/// Reads the model in the file at `path`. The error holds every problem that
/// was found, one message each.
llvm::Expected<std::unique_ptr<Model>> readModel(llvm::StringRef path);
/// The same for bytes in memory, with the folder for data in other files.
llvm::Expected<std::unique_ptr<Model>>
parseModel(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef folder);

/// The value in a `.pb` file of test data: a tensor, or, for inputs and outputs
/// that are no tensors, a sequence of tensors or an optional of these.
struct TestValue {
  Storage storage;
  /// Of a tensor, this one; an optional without a value has none.
  std::vector<Tensor> tensors;
};

/// Reads a file of test data as what the model says that it is.
llvm::Expected<std::unique_ptr<TestValue>> readTestValue(llvm::StringRef path,
                                                         const Type &type);

} // namespace attn::onnx

#endif // ATTN_IMPORT_ONNXMODEL_H

//===- OnnxWriter.h - ONNX messages for tests ------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Writes protobuf by hand, so that a test can write what no writer would. A
// message is a string; fields are appended to it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_IMPORT_ONNXWRITER_H
#define ATTN_UNITTESTS_IMPORT_ONNXWRITER_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace attn::onnx::test {

inline std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}

/// A field with bytes: a string or a message.
inline std::string bytes(uint32_t number, const std::string &contents) {
  return varint(number << 3 | 2) + varint(contents.size()) + contents;
}

inline std::string number(uint32_t number, int64_t value) {
  return varint(number << 3) + varint(static_cast<uint64_t>(value));
}

inline std::string number(uint32_t number, float value) {
  std::string text(4, '\0');
  memcpy(text.data(), &value, 4);
  return varint(number << 3 | 5) + text;
}

template <typename Number> std::string raw(const std::vector<Number> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Number)};
}

/// TensorProto without data.
inline std::string tensor(const std::string &name, int64_t type,
                          const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += number(1, size);
  return text + number(2, type) + bytes(8, name);
}

/// A tensor of FLOAT with raw_data.
inline std::string floats(const std::string &name,
                          const std::vector<int64_t> &shape,
                          const std::vector<float> &values) {
  return tensor(name, 1, shape) + bytes(9, raw(values));
}

/// ValueInfoProto of a tensor. A size is a number, or -1 for `dim_param` "n".
inline std::string value(const std::string &name, int64_t type,
                         const std::vector<int64_t> &shape) {
  std::string dims;
  for (int64_t size : shape)
    dims += bytes(1, size < 0 ? bytes(2, "n") : number(1, size));
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, dims)));
}

inline std::string node(const std::string &type,
                        const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs,
                        const std::string &attributes = "") {
  std::string text;
  for (const std::string &input : inputs)
    text += bytes(1, input);
  for (const std::string &output : outputs)
    text += bytes(2, output);
  return text + bytes(4, type) + attributes;
}

/// AttributeProto of an integer, as a field of a node.
inline std::string attribute(const std::string &name, int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value) + number(20, int64_t(2)));
}

/// ModelProto around a GraphProto.
inline std::string model(const std::string &graph, int64_t opset = 23) {
  return number(1, int64_t(10)) + bytes(7, graph) +
         bytes(8, bytes(1, "") + number(2, opset));
}

} // namespace attn::onnx::test

#endif // ATTN_UNITTESTS_IMPORT_ONNXWRITER_H

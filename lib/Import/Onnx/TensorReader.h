//===- TensorReader.h - TensorProto and where its data are -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_TENSORREADER_H
#define ATTN_LIB_IMPORT_ONNX_TENSORREADER_H

#include "Wire.h"
#include "attn/Import/OnnxModel.h"

namespace attn::onnx {

/// Reads tensors of one file. Data in other files are looked up in `folder` and
/// nowhere else.
class TensorReader {
public:
  TensorReader(Storage &storage, llvm::StringRef folder)
      : storage(storage), folder(folder.str()) {}

  /// Reads the message and checks that it has the data of its shape.
  llvm::Error read(Span message, Tensor &tensor);

private:
  /// The fields of a TensorProto that can hold data, and where others do.
  struct Parts {
    bool hasRaw = false, isExternal = false, hasSegment = false;
    Span raw;
    std::vector<Span> packed; // float_data and double_data, as they are
    std::vector<int64_t> integers;
    uint32_t typedField = 0; // the one that is there, 0 for none
    bool hasOtherField = false;
    std::vector<std::pair<llvm::StringRef, llvm::StringRef>> externalEntries;
  };

  llvm::Error readFields(Span message, Tensor &tensor, Parts &parts);
  llvm::Error readTyped(Tensor &tensor, const Parts &parts, uint64_t count);
  llvm::Error readExternal(Tensor &tensor, const Parts &parts, uint64_t bytes);
  llvm::Expected<llvm::MemoryBuffer *> openExternal(llvm::StringRef location);

  Storage &storage;
  std::string folder;
};

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_TENSORREADER_H

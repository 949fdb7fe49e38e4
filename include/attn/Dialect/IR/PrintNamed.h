//===- PrintNamed.h - IR with names for its values --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_PRINTNAMED_H
#define ATTN_DIALECT_IR_PRINTNAMED_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Prints IR for a reader, as the last thing that is done with it. Arguments of
/// a model are called as in its C API. Other values are called as the pass that
/// made them says, by a name around the place in the source:
/// NameLoc("i0", "model.mlir":3:4). A name without a place is a place itself
/// (the layer that an importer read), common to all that was made for it, and
/// names nothing. Reading the text again loses the names, and nothing depends
/// on them.
void printNamed(mlir::Operation *op, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_DIALECT_IR_PRINTNAMED_H

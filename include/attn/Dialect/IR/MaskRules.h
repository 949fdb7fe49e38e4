//===- MaskRules.h - what the rules of attn.mask read -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of attn.mask in C++: the operands of each rule, in order. Whoever
// walks over a composition takes the operands of its rules one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_MASKRULES_H
#define ATTN_DIALECT_IR_MASKRULES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

/// Whether an attribute is a rule of attn.mask.
bool isMaskRule(mlir::Attribute attribute);

/// The parts of any_of, all_of and not; none of other rules.
llvm::ArrayRef<mlir::Attribute> getMaskParts(mlir::Attribute rule);

/// The alignment of a rule that has one; top_left for all others.
enum class Alignment : uint32_t;
Alignment getMaskAlignment(mlir::Attribute rule);

/// One operand of a rule.
struct MaskInput {
  /// The rule that reads it, never a composition.
  mlir::Attribute rule;
  /// Letters of the operand's dimensions; none for `dense`, which broadcasts.
  llvm::ArrayRef<llvm::StringLiteral> letters;
  /// Whether an element type will do, and the words for those that will.
  bool (*accepts)(mlir::Type);
  llvm::StringLiteral types;
};

/// The operands of a rule and, for a composition, of all its parts.
llvm::SmallVector<MaskInput> getMaskInputs(mlir::Attribute rule);

} // namespace attn

#endif // ATTN_DIALECT_IR_MASKRULES_H

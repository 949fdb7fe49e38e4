//===- AttnAsm.h - custom assembly of the dialect -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_DIALECT_IR_ATTNASM_H
#define ATTN_LIB_DIALECT_IR_ATTNASM_H

#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// `custom<F32>`, `custom<F64>`: a number without its type. Every value keeps
/// its bits: infinities, NaNs and what decimal digits cannot say are printed
/// in hexadecimal.
mlir::ParseResult parseF32(mlir::OpAsmParser &parser,
                           mlir::FloatAttr &attribute);
void printF32(mlir::OpAsmPrinter &printer, mlir::Operation *op,
              mlir::FloatAttr attribute);
mlir::ParseResult parseF64(mlir::OpAsmParser &parser,
                           mlir::FloatAttr &attribute);
void printF64(mlir::OpAsmPrinter &printer, mlir::Operation *op,
              mlir::FloatAttr attribute);

/// `custom<TileScale>`: a number of f32, or of f64 behind the keyword `f64`.
mlir::ParseResult parseTileScale(mlir::OpAsmParser &parser,
                                 mlir::FloatAttr &attribute);
void printTileScale(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::FloatAttr attribute);

/// `custom<Layout>`: `bshd`, `bhsd` or `sbhd`, without the brackets of the
/// attribute.
mlir::ParseResult parseLayout(mlir::OpAsmParser &parser, LayoutAttr &attribute);
void printLayout(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 LayoutAttr attribute);

/// `custom<TypelessAttr>`: an attribute of this dialect without `#attn.`. With
/// the prefix the parser would take a following `: type` for the type of the
/// attribute.
mlir::ParseResult parseTypelessAttr(mlir::OpAsmParser &parser,
                                    mlir::Attribute &attribute);
void printTypelessAttr(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::Attribute attribute);

/// `custom<MaskRules>`: the rules of a composition, each without `#attn.`, in
/// square brackets; `custom<BareMaskRules>`: without brackets.
mlir::ParseResult parseMaskRules(mlir::AsmParser &parser,
                                 llvm::SmallVector<mlir::Attribute> &rules);
void printMaskRules(mlir::AsmPrinter &printer,
                    llvm::ArrayRef<mlir::Attribute> rules);
mlir::ParseResult parseBareMaskRules(mlir::AsmParser &parser,
                                     llvm::SmallVector<mlir::Attribute> &rules);
void printBareMaskRules(mlir::AsmPrinter &printer,
                        llvm::ArrayRef<mlir::Attribute> rules);

/// `custom<Aligned>`: an alignment, and the offsets that `offset` reads.
mlir::ParseResult
parseAligned(mlir::OpAsmParser &parser, AlignmentAttr &alignment,
             std::optional<mlir::OpAsmParser::UnresolvedOperand> &offsets,
             mlir::Type &type);
void printAligned(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  AlignmentAttr alignment, mlir::Value offsets,
                  mlir::Type type);

/// `custom<RowNorm>`: nothing, `layer_norm(gamma, beta : types) epsilon(...)`
/// or `rms_norm(gamma : type) epsilon(...)`.
mlir::ParseResult
parseRowNorm(mlir::OpAsmParser &parser,
             std::optional<mlir::OpAsmParser::UnresolvedOperand> &gamma,
             mlir::Type &gammaType,
             std::optional<mlir::OpAsmParser::UnresolvedOperand> &beta,
             mlir::Type &betaType, mlir::FloatAttr &epsilon);
void printRowNorm(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::Value gamma, mlir::Type gammaType, mlir::Value beta,
                  mlir::Type betaType, mlir::FloatAttr epsilon);

} // namespace attn

#endif // ATTN_LIB_DIALECT_IR_ATTNASM_H

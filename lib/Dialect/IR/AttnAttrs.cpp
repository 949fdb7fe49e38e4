//===- AttnAttrs.cpp - masks, recipes, schedules, key ranges -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Dialect/IR/Attn.h"

#include "AttnAsm.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

#include "attn/Dialect/IR/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/IR/AttnAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Assembly without the `#attn.` prefix
//===----------------------------------------------------------------------===//

ParseResult attn::parseTypelessAttr(OpAsmParser &parser, Attribute &attribute) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  OptionalParseResult known =
      generatedAttributeParser(parser, &mnemonic, Type(), attribute);
  if (known.has_value())
    return *known;
  return parser.emitError(loc)
         << "expected an attribute of the attn dialect without its prefix, "
            "such as causal<top_left>, got '"
         << mnemonic << "'";
}

void attn::printTypelessAttr(OpAsmPrinter &printer, Operation *,
                             Attribute attribute) {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t left, int64_t right, Alignment) {
  for (auto [side, keys] : {std::pair("left", left), {"right", right}})
    if (keys < -1)
      return emitError() << "expected " << side
                         << " >= -1 (because it counts keys, and -1 leaves the "
                            "side unbounded), got "
                         << keys;
  return success();
}

LogicalResult SourceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef file, StringRef tensor) {
  if (file.empty() || tensor.empty())
    return emitError() << "expected a file and a tensor name, got \"" << file
                       << "\" and \"" << tensor << "\"";
  return success();
}

LogicalResult ConcatAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<FlatSymbolRefAttr>, int64_t axis) {
  if (axis < 0)
    return emitError() << "expected axis >= 0, got " << axis;
  return success();
}

LogicalResult PackAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               FlatSymbolRefAttr, int64_t panel) {
  if (panel < 1)
    return emitError() << "expected panel >= 1, got " << panel;
  return success();
}

/// Each of a schedule's factors counts something that must be there.
static LogicalResult
verifyFactors(function_ref<InFlightDiagnostic()> emitError,
              ArrayRef<std::pair<StringRef, int64_t>> factors) {
  for (auto [name, value] : factors)
    if (value < 1)
      return emitError() << "expected " << name << " >= 1, got " << value;
  return success();
}

LogicalResult
FlashScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t vector, int64_t keyUnroll,
                          int64_t valueUnroll) {
  return verifyFactors(emitError, {{"vector", vector},
                                   {"key_unroll", keyUnroll},
                                   {"value_unroll", valueUnroll}});
}

LogicalResult
LinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t vector, int64_t mr, int64_t nr, int64_t kc,
                           int64_t mb) {
  if (failed(verifyFactors(
          emitError, {{"vector", vector}, {"mr", mr}, {"nr", nr}, {"mb", mb}})))
    return failure();
  if (kc < 0)
    return emitError() << "expected kc >= 0 (because 0 stands for a K that is "
                          "not blocked), got "
                       << kc;
  return success();
}

LogicalResult
RowwiseScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            int64_t vector, int64_t rows) {
  return verifyFactors(emitError, {{"vector", vector}, {"rows", rows}});
}

/// Whether a set is affine and over so many dimensions and symbols.
static bool isSetOf(IntegerSetAttr attribute, unsigned dims, unsigned symbols) {
  IntegerSet set = attribute.getValue();
  return set.getNumDims() == dims && set.getNumSymbols() == symbols &&
         llvm::all_of(set.getConstraints(), [](AffineExpr constraint) {
           return constraint.isPureAffine();
         });
}

LogicalResult
KeyRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                     IntegerSetAttr where, AffineMapAttr begin,
                     AffineMapAttr fullBegin, AffineMapAttr fullEnd,
                     AffineMapAttr end) {
  // key_range_c1
  unsigned symbols = begin.getValue().getNumSymbols();
  for (auto [name, attribute] : {std::pair("begin", begin),
                                 {"full_begin", fullBegin},
                                 {"full_end", fullEnd},
                                 {"end", end}}) {
    AffineMap map = attribute.getValue();
    if (map.getNumDims() != 2 || map.getNumSymbols() < 2 ||
        map.getNumSymbols() != symbols)
      return emitError() << "expected a map (i0, i1)[N, M, u...] with the same "
                            "symbols as begin for "
                         << name << ", got " << attribute;
    if (map.getNumResults() == 0)
      return emitError() << "expected at least one bound for " << name
                         << ", got " << attribute;
    if (!llvm::all_of(map.getResults(),
                      [](AffineExpr expr) { return expr.isPureAffine(); }))
      return emitError() << "expected bounds that are affine in i0 and i1 and "
                            "in the symbols for "
                         << name << ", got " << attribute;
  }
  // key_range_c2
  if (where && !isSetOf(where, 2, symbols))
    return emitError() << "expected a set (i0, i1)[N, M, u...] with the same "
                          "symbols as begin for where, got "
                       << where;
  return success();
}

LogicalResult
KeyRangesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<KeyRangeAttr> ranges,
                      ArrayRef<IntegerSetAttr> visible,
                      ArrayRef<IntegerSetAttr> hidden, bool, bool) {
  // key_ranges_c1
  if (ranges.empty())
    return emitError() << "expected at least one range of keys (because one "
                          "that is empty says that nothing is visible), got "
                          "none";
  unsigned symbols = ranges.front().getBegin().getValue().getNumSymbols();
  for (KeyRangeAttr range : ranges.drop_front())
    if (range.getBegin().getValue().getNumSymbols() != symbols)
      return emitError() << "expected ranges with the same symbols as the "
                            "first one, "
                         << symbols << ", got "
                         << range.getBegin().getValue().getNumSymbols();
  // key_ranges_c2
  for (ArrayRef<IntegerSetAttr> sets : {visible, hidden})
    for (IntegerSetAttr set : sets)
      if (!isSetOf(set, 4, symbols))
        return emitError() << "expected a set (i0, i1, j0, j1)[N, M, u...] "
                              "with the symbols of the ranges, got "
                           << set;
  return success();
}

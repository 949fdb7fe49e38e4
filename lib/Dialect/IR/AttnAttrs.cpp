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

static ParseResult parseTypeless(AsmParser &parser, Attribute &attribute) {
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

ParseResult attn::parseTypelessAttr(OpAsmParser &parser, Attribute &attribute) {
  return parseTypeless(parser, attribute);
}

void attn::printTypelessAttr(OpAsmPrinter &printer, Operation *,
                             Attribute attribute) {
  (void)generatedAttributePrinter(attribute, printer);
}

ParseResult attn::parseMaskRules(AsmParser &parser,
                                 SmallVector<Attribute> &rules) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseTypeless(parser, rules.emplace_back());
  });
}

void attn::printMaskRules(AsmPrinter &printer, ArrayRef<Attribute> rules) {
  printer << '[';
  printBareMaskRules(printer, rules);
  printer << ']';
}

ParseResult attn::parseBareMaskRules(AsmParser &parser,
                                     SmallVector<Attribute> &rules) {
  return parser.parseCommaSeparatedList(
      [&] { return parseTypeless(parser, rules.emplace_back()); });
}

void attn::printBareMaskRules(AsmPrinter &printer, ArrayRef<Attribute> rules) {
  llvm::interleaveComma(rules, printer, [&](Attribute rule) {
    (void)generatedAttributePrinter(rule, printer);
  });
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

/// Each of a rule's sizes counts something that must be there.
static LogicalResult verifyAtLeastOne(function_ref<InFlightDiagnostic()> error,
                                      StringRef name, int64_t value) {
  if (value < 1)
    return error() << "expected " << name << " >= 1, got " << value;
  return success();
}

LogicalResult BlocksAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t query, int64_t key) {
  if (failed(verifyAtLeastOne(emitError, "query", query)))
    return failure();
  return verifyAtLeastOne(emitError, "key", key);
}

LogicalResult ChunkedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t size, Alignment) {
  return verifyAtLeastOne(emitError, "size", size);
}

LogicalResult DilatedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t step, Alignment) {
  return verifyAtLeastOne(emitError, "step", step);
}

/// Verifies that a composition has rules and nothing else.
static LogicalResult verifyRules(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Attribute> rules) {
  if (rules.empty())
    return emitError() << "expected a rule of attn.mask, got none";
  for (Attribute rule : rules)
    if (!isMaskRule(rule))
      return emitError() << "expected rules of attn.mask, got " << rule;
  return success();
}

LogicalResult AnyOfAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Attribute> rules) {
  return verifyRules(emitError, rules);
}

LogicalResult AllOfAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Attribute> rules) {
  return verifyRules(emitError, rules);
}

LogicalResult NotAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<Attribute> rules) {
  if (rules.size() > 1)
    return emitError() << "expected one rule (because not turns one around), "
                          "got "
                       << rules.size();
  return verifyRules(emitError, rules);
}

LogicalResult SourceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef file, StringRef tensor) {
  if (file.empty() || tensor.empty())
    return emitError() << "expected a file and a tensor name, got \"" << file
                       << "\" and \"" << tensor << "\"";
  return success();
}

LogicalResult BytesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef file, int64_t offset) {
  if (file.empty() || offset < 0)
    return emitError() << "expected a file and an offset >= 0, got \"" << file
                       << "\" and " << offset;
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

/// Both forms of attention have the same factors.
static LogicalResult
verifyAttentionFactors(function_ref<InFlightDiagnostic()> emitError,
                       int64_t vector, int64_t keyUnroll, int64_t valueUnroll) {
  return verifyFactors(emitError, {{"vector", vector},
                                   {"key_unroll", keyUnroll},
                                   {"value_unroll", valueUnroll}});
}

LogicalResult
FlashScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t vector, int64_t keyUnroll,
                          int64_t valueUnroll) {
  return verifyAttentionFactors(emitError, vector, keyUnroll, valueUnroll);
}

LogicalResult
DecodeScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t vector, int64_t keyUnroll,
                           int64_t valueUnroll) {
  return verifyAttentionFactors(emitError, vector, keyUnroll, valueUnroll);
}

LogicalResult
MatrixScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t vector, int64_t keyUnroll,
                           int64_t valueUnroll) {
  return verifyAttentionFactors(emitError, vector, keyUnroll, valueUnroll);
}

LogicalResult
MatrixLinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t vector, int64_t nb, int64_t mb) {
  return verifyFactors(emitError, {{"vector", vector}, {"nb", nb}, {"mb", mb}});
}

static LogicalResult
verifyInputBlock(function_ref<InFlightDiagnostic()> emitError, int64_t kc) {
  if (kc < 0)
    return emitError() << "expected kc >= 0 (because 0 stands for a K that is "
                          "not blocked), got "
                       << kc;
  return success();
}

LogicalResult
LinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t vector, int64_t mr, int64_t nr, int64_t kc,
                           int64_t mb) {
  if (failed(verifyFactors(
          emitError, {{"vector", vector}, {"mr", mr}, {"nr", nr}, {"mb", mb}})))
    return failure();
  return verifyInputBlock(emitError, kc);
}

LogicalResult
TunedLinearAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        StringRef target, int64_t inputs, int64_t outputs,
                        int64_t mr, int64_t nr, int64_t kc, int64_t mb) {
  // tuned_linear_c1
  if (failed(verifyFactors(emitError, {{"inputs", inputs},
                                       {"outputs", outputs},
                                       {"mr", mr},
                                       {"nr", nr},
                                       {"mb", mb}})))
    return failure();
  // tuned_linear_c2
  return verifyInputBlock(emitError, kc);
}

LogicalResult
TunedAttentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           StringRef target, int64_t headSize,
                           int64_t valueSize, bool isMasked, int64_t queries,
                           int64_t keys, int64_t keyUnroll) {
  // tuned_attention_c1
  if (failed(verifyFactors(emitError, {{"head_size", headSize},
                                       {"value_size", valueSize},
                                       {"queries", queries},
                                       {"keys", keys},
                                       {"key_unroll", keyUnroll}})))
    return failure();
  // tuned_attention_c2
  if (keys % keyUnroll != 0)
    return emitError() << "expected key_unroll to divide keys = " << keys
                       << ", got " << keyUnroll;
  return success();
}

LogicalResult
RowwiseScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            int64_t vector, int64_t rows) {
  return verifyFactors(emitError, {{"vector", vector}, {"rows", rows}});
}

LogicalResult
GpuAttentionScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t x, int64_t y) {
  return verifyFactors(emitError, {{"x", x}, {"y", y}});
}

LogicalResult
GpuLinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t x, int64_t y, int64_t mr, int64_t nr,
                              int64_t kc) {
  return verifyFactors(
      emitError, {{"x", x}, {"y", y}, {"mr", mr}, {"nr", nr}, {"kc", kc}});
}

LogicalResult
GpuRowwiseScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t x) {
  return verifyFactors(emitError, {{"x", x}});
}

/// Whether a set is affine and over so many dimensions and symbols.
static bool isSetOf(IntegerSetAttr attribute, unsigned dims, unsigned symbols) {
  IntegerSet set = attribute.getValue();
  return set.getNumDims() == dims && set.getNumSymbols() == symbols &&
         llvm::all_of(set.getConstraints(), [](AffineExpr constraint) {
           return constraint.isPureAffine();
         });
}

LogicalResult KeyRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   IntegerSetAttr where, AffineMapAttr begin,
                                   AffineMapAttr fullBegin,
                                   AffineMapAttr fullEnd, AffineMapAttr end) {
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

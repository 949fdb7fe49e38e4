//===- MaskRules.cpp - what the rules of attn.mask read ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

bool attn::isMaskRule(Attribute attribute) {
  return isa_and_nonnull<
      CausalAttr, WindowAttr, PrefixAttr, BlocksAttr, ChunkedAttr, DilatedAttr,
      KeyLengthsAttr, QueryLengthsAttr, KeyPaddingAttr, SegmentsAttr,
      GlobalAttr, DenseMaskAttr, AnyOfAttr, AllOfAttr, NotAttr>(attribute);
}

ArrayRef<Attribute> attn::getMaskParts(Attribute rule) {
  if (auto composition = dyn_cast<AnyOfAttr>(rule))
    return composition.getRules();
  if (auto composition = dyn_cast<AllOfAttr>(rule))
    return composition.getRules();
  if (auto negation = dyn_cast<NotAttr>(rule))
    return negation.getRules();
  return {};
}

Alignment attn::getMaskAlignment(Attribute rule) {
  return llvm::TypeSwitch<Attribute, Alignment>(rule)
      .Case<CausalAttr, WindowAttr, ChunkedAttr, DilatedAttr>(
          [](auto rule) { return rule.getAlignment(); })
      .Default([](Attribute) { return Alignment::TopLeft; });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static bool isI64(Type type) { return type.isInteger(64); }
static bool isI32OrI64(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}
static bool isIntOrBool(Type type) {
  return type.isInteger(1) || type.isInteger(8) || isI32OrI64(type);
}
static bool isFloatOrBool(Type type) {
  return type.isInteger(1) || isa<FloatType>(type);
}

static constexpr StringLiteral rowLetters[] = {"B"};
static constexpr StringLiteral queryLetters[] = {"B", "N"};
static constexpr StringLiteral keyLetters[] = {"B", "M"};
static constexpr StringLiteral anyInt = "i1, i8, i32 or i64";
static constexpr StringLiteral wideInt = "i32 or i64";

SmallVector<MaskInput> attn::getMaskInputs(Attribute rule) {
  SmallVector<MaskInput> inputs;
  for (Attribute part : getMaskParts(rule))
    inputs.append(getMaskInputs(part));
  auto add = [&](ArrayRef<StringLiteral> letters, bool (*accepts)(Type),
                 StringLiteral types) {
    inputs.push_back({rule, letters, accepts, types});
  };
  if (getMaskAlignment(rule) == Alignment::Offset)
    add(rowLetters, isI64, "i64");
  if (isa<PrefixAttr, KeyLengthsAttr, QueryLengthsAttr>(rule))
    add(rowLetters, isI32OrI64, wideInt);
  if (isa<KeyPaddingAttr>(rule))
    add(keyLetters, isIntOrBool, anyInt);
  if (isa<SegmentsAttr>(rule)) {
    add(queryLetters, isI32OrI64, wideInt);
    add(keyLetters, isI32OrI64, wideInt);
  }
  if (isa<GlobalAttr>(rule)) {
    add(queryLetters, isIntOrBool, anyInt);
    add(keyLetters, isIntOrBool, anyInt);
  }
  if (isa<DenseMaskAttr>(rule))
    add({}, isFloatOrBool, "i1 or a float type");
  return inputs;
}

//===- Config.cpp - fields of config.json ---------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Config.h.
//
//===----------------------------------------------------------------------===//

#include "Config.h"

#include "attn/Support/Json.h"

using namespace llvm;

namespace attn::hf {

Config::Config(StringRef path) : problems(path + ": ") {
  Expected<json::Value> value = readJsonFile(path);
  if (!value)
    problems.add(value.takeError());
  else if (json::Object *fields = value->getAsObject())
    object = std::move(*fields);
  else
    problems.add("expected a JSON object, got " + describeJson(*value));
}

const json::Value *Config::get(StringRef field) const {
  const json::Value *value = object.get(field);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

void Config::expected(StringRef field, const Twine &expected) {
  const json::Value *value = get(field);
  problems.add("expected " + field + " " + expected + ", got " +
               (value ? printJson(*value) : "none"));
}

int64_t Config::integer(StringRef field, int64_t fallback, int64_t min,
                        int64_t max) {
  const json::Value *value = get(field);
  if (!value)
    return fallback;
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= min && *number <= max)
    return *number;
  expected(field, "to be an integer of " + Twine(min) + " to " + Twine(max));
  return fallback;
}

double Config::number(StringRef field, double fallback) {
  const json::Value *value = get(field);
  if (!value)
    return fallback;
  if (std::optional<double> number = value->getAsNumber())
    return *number;
  expected(field, "to be a number");
  return fallback;
}

bool Config::boolean(StringRef field, bool fallback) {
  const json::Value *value = get(field);
  if (!value)
    return fallback;
  if (std::optional<bool> boolean = value->getAsBoolean())
    return *boolean;
  expected(field, "to be true or false");
  return fallback;
}

std::string Config::string(StringRef field, StringRef fallback) {
  const json::Value *value = get(field);
  if (!value)
    return fallback.str();
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  expected(field, "to be a string");
  return fallback.str();
}

} // namespace attn::hf

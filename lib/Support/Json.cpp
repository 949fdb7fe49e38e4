//===- Json.cpp - JSON from untrusted files -------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One scan over the text finds nesting that is too deep and equal keys; then
// llvm::json, which checks grammar and UTF-8, does the work.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn {

static constexpr size_t maxDepth = 64;
static constexpr uint64_t maxFileBytes = 100'000'000;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The JSON string literal at `text[at]`, quotes included; empty if it has no
/// end.
static StringRef stringLiteral(StringRef text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return text.slice(at, i + 1);
  }
  return {};
}

/// Checks depth and equal keys. Does not judge the grammar: llvm::json does.
static Error scan(StringRef text, const Twine &where) {
  struct Level {
    bool object;
    StringSet<> keys;
  };
  std::vector<Level> levels;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '{':
    case '[':
      if (levels.size() == maxDepth)
        return makeError(where + ": expected JSON nested at most " +
                         Twine(maxDepth) + " deep, got more at byte " +
                         Twine(i));
      levels.push_back({text[i] == '{', {}});
      break;
    case '}':
    case ']':
      if (!levels.empty())
        levels.pop_back();
      break;
    case '"': {
      StringRef literal = stringLiteral(text, i);
      if (literal.empty())
        return Error::success(); // A grammar error.
      i += literal.size() - 1;
      if (levels.empty() || !levels.back().object ||
          !text.drop_front(i + 1).ltrim(" \t\r\n").starts_with(":"))
        break;
      std::string key = literal.drop_front().drop_back().str();
      if (StringRef(key).contains('\\')) {
        // The same key can be spelled in several ways.
        Expected<json::Value> decoded = json::parse(literal);
        if (!decoded)
          return makeError(where + ": " + toString(decoded.takeError()));
        key = decoded->getAsString()->str();
      }
      if (!levels.back().keys.insert(key).second)
        return makeError(where + ": expected each JSON key once, got " +
                         quoteName(key) + " twice");
      break;
    }
    default:
      break;
    }
  }
  return Error::success();
}

Expected<json::Value> parseJson(StringRef text, const Twine &where) {
  if (Error error = scan(text, where))
    return std::move(error);
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return makeError(where + ": expected JSON: " + toString(value.takeError()));
  return value;
}

Expected<json::Object> parseJsonObject(StringRef text, const Twine &where) {
  Expected<json::Value> value = parseJson(text, where);
  if (!value)
    return value.takeError();
  json::Object *object = value->getAsObject();
  if (!object)
    return makeError(where + ": expected a JSON object, got " +
                     describeJson(*value));
  return std::move(*object);
}

Expected<json::Value> readJsonFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError(Twine(path) +
                     ": cannot read the file: " + buffer.getError().message());
  if ((*buffer)->getBufferSize() > maxFileBytes)
    return makeError(Twine(path) + ": expected at most " + Twine(maxFileBytes) +
                     " bytes of JSON, got " +
                     Twine((*buffer)->getBufferSize()));
  return parseJson((*buffer)->getBuffer(), path);
}

StringRef describeJson(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return "a boolean";
  case json::Value::Number:
    return value.getAsInteger() || value.getAsUINT64() ? "an integer"
                                                       : "a number";
  case json::Value::String:
    return "a string";
  case json::Value::Array:
    return "an array";
  case json::Value::Object:
    return "an object";
  }
  llvm_unreachable("all kinds are listed");
}

std::string printJson(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  if (text.size() > 60) {
    text.resize(57);
    while (!text.empty() && !json::isUTF8(text))
      text.pop_back();
    text += "...";
  }
  return text;
}

std::string quoteName(StringRef name) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '"';
  printEscapedString(name, stream);
  stream << '"';
  return text;
}

} // namespace attn

//===- Json.h - JSON from untrusted files ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// llvm::json parses by recursion without a limit and lets the last of equal
// keys win. Both matter for a file from anywhere, so they are checked before.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_JSON_H
#define ATTN_SUPPORT_JSON_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace attn {

/// Parses `text`, which must be one JSON object nested at most 64 deep and
/// without equal keys in one object. Messages start with `where` (the file).
llvm::Expected<llvm::json::Object> parseJsonObject(llvm::StringRef text,
                                                   const llvm::Twine &where);

/// Parses `text`, one JSON value of any kind, with the same limits.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            const llvm::Twine &where);

/// Reads a file of at most 100 MB and parses it.
llvm::Expected<llvm::json::Value> readJsonFile(llvm::StringRef path);

/// `a string`, `an integer`, ...: what a value is, for messages.
llvm::StringRef describeJson(const llvm::json::Value &value);

/// A value as text on one line, cut after 60 characters, for messages.
std::string printJson(const llvm::json::Value &value);

/// A name from a file as it appears in messages: quoted, with control
/// characters and bytes that are not ASCII escaped.
std::string quoteName(llvm::StringRef name);

} // namespace attn

#endif // ATTN_SUPPORT_JSON_H

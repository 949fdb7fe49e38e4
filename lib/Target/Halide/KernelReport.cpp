//===- KernelReport.cpp - diagnostics of another process --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelReport.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

json::Object attn::toJson(Diagnostic &diagnostic) {
  json::Object object{{"severity", int64_t(diagnostic.getSeverity())},
                      {"message", json::fixUTF8(diagnostic.str())}};
  if (auto where = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    object["file"] = json::fixUTF8(where.getFilename().getValue());
    object["line"] = int64_t(where.getLine());
    object["column"] = int64_t(where.getColumn());
  }
  json::Array notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back(toJson(note));
  object["notes"] = std::move(notes);
  return object;
}

static Location getLocation(const json::Object &object, Location fallback) {
  auto file = object.getString("file");
  auto line = object.getInteger("line"), column = object.getInteger("column");
  if (!file || !line || !column)
    return fallback;
  return FileLineColLoc::get(fallback.getContext(), *file, *line, *column);
}

bool attn::replay(const json::Array &report, KernelOp kernel) {
  bool hasError = false;
  for (const json::Value &value : report) {
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    auto severity = static_cast<DiagnosticSeverity>(
        object->getInteger("severity").value_or(0));
    if (severity != DiagnosticSeverity::Error &&
        severity != DiagnosticSeverity::Warning &&
        severity != DiagnosticSeverity::Remark)
      severity = DiagnosticSeverity::Error;
    hasError |= severity == DiagnosticSeverity::Error;
    Location location = getLocation(*object, kernel.getLoc());
    InFlightDiagnostic diagnostic =
        kernel.getContext()->getDiagEngine().emit(location, severity);
    diagnostic << object->getString("message").value_or("").str();
    if (const json::Array *notes = object->getArray("notes"))
      for (const json::Value &note : *notes)
        if (const json::Object *noteObject = note.getAsObject())
          diagnostic.attachNote(getLocation(*noteObject, location))
              << noteObject->getString("message").value_or("").str();
  }
  return hasError;
}

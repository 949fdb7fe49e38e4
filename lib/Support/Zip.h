//===- Zip.h - archives of stored members ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The part of the zip format that numpy.savez uses: members are stored as they
// are, not compressed.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SUPPORT_ZIP_H
#define ATTN_LIB_SUPPORT_ZIP_H

#include "attn/Support/Problems.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn {

/// Name and data of each member, in the order of the archive's directory; they
/// point into `bytes`. What is wrong is added to `problems`.
std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
readZip(llvm::StringRef bytes, Problems &problems);

/// The bytes of an archive; the same members give the same bytes. None if it
/// would be larger than the format without extensions allows: 4 GiB, 65535
/// members.
std::optional<std::string>
writeZip(llvm::ArrayRef<std::pair<std::string, std::string>> members);

/// Appends the low `size` bytes of a number, little-endian.
void appendLittle(std::string &out, uint64_t value, unsigned size);

} // namespace attn

#endif // ATTN_LIB_SUPPORT_ZIP_H

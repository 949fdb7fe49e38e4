//===- OpaqueLoads.h - loads that bounds inference need not see -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop's bounds may depend on a loaded number, such as the length of a
// sequence. Halide shortens a loop only by conditions that load nothing. So the
// load is written as a call of a pure function of the counters, of which Halide
// knows nothing, and becomes a load again when everything else is lowered. Long
// arithmetic is hidden in the same way where Halide would spend minutes on it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_OPAQUELOADS_H
#define ATTN_LIB_TARGET_HALIDE_OPAQUELOADS_H

#include <Halide.h>

#include <vector>

namespace attn {

class OpaqueLoads {
public:
  /// Stands for `value`, an expression over `counters`, kernel arguments and
  /// what was hidden before, always with the same counters.
  Halide::Expr hide(const Halide::Expr &value,
                    const std::vector<Halide::Var> &counters);
  /// Makes `pipeline` put the values back. Offsets have the width of those that
  /// Halide makes for the target.
  void attach(Halide::Pipeline &pipeline, bool hasWideOffsets = true) const;

private:
  struct Entry {
    Halide::Expr value;
    std::vector<Halide::Var> counters;
  };
  std::vector<Entry> entries;
  friend class RevealLoads;
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_OPAQUELOADS_H

//===- Sizes.cpp - sizes that only a run knows ------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The verifiers compare static sizes. What the types leave open is compared
// here, by the same letters, before an operation is evaluated.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {

/// Sizes by letter; the first value that has a letter says its size.
class Sizes {
public:
  void tie(StringRef value, const Tensor &tensor,
           ArrayRef<const char *> letters) {
    for (auto [letter, size] : llvm::zip(letters, tensor.shape)) {
      if (!*letter)
        continue;
      const auto &[known, owner] =
          sizes.try_emplace(letter, size, value.str()).first->second;
      if (known != size && problem.empty())
        problem = ("expected " + llvm::Twine(letter) + " = " +
                   llvm::Twine(known) + " in " + value + " (because " + owner +
                   " has that), got " + llvm::Twine(size))
                      .str();
    }
  }
  /// The last size of a tensor of any rank.
  void tieLast(StringRef value, const Tensor &tensor, const char *letter) {
    SmallVector<const char *> letters(tensor.rank(), "");
    letters.back() = letter;
    tie(value, tensor, letters);
  }
  void tieHeads(StringRef value, const Tensor &tensor, Layout layout,
                const char *sequence, const char *channels) {
    if (layout == Layout::BSHD)
      tie(value, tensor, {"B", sequence, "", channels});
    else
      tie(value, tensor, {"B", "", sequence, channels});
  }
  llvm::Error takeError(Operation *op) const {
    if (problem.empty())
      return llvm::Error::success();
    return makeError(op, problem);
  }

private:
  llvm::StringMap<std::pair<int64_t, std::string>> sizes;
  std::string problem;
};

} // namespace

static void tieMask(Sizes &sizes, MaskOp op, Operands operands) {
  sizes.tie("scores", *operands[0], {"B", "H", "N", "M"});
  if (operands.size() < 2 || isa<DenseMaskAttr>(op.getRule()))
    return; // Broadcasts are checked where they are made.
  if (isa<KeyPaddingAttr>(op.getRule()))
    sizes.tie("operand", *operands[1], {"B", "M"});
  else
    sizes.tie("operand", *operands[1], {"B"});
}

llvm::Error reference::checkSizes(Operation *op, Operands operands) {
  Sizes sizes;
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScoresOp>([&](ScoresOp op) {
        sizes.tieHeads("query", *operands[0], op.getLayout(), "N", "D");
        sizes.tieHeads("key", *operands[1], op.getLayout(), "M", "D");
      })
      .Case<MaskOp>([&](MaskOp op) { tieMask(sizes, op, operands); })
      .Case<MixOp>([&](MixOp op) {
        sizes.tie("weights", *operands[0], {"B", "H", "N", "M"});
        sizes.tieHeads("value", *operands[1], op.getLayout(), "M", "D");
      })
      .Case<AttentionOp>([&](AttentionOp op) {
        sizes.tieHeads("query", *operands[0], op.getLayout(), "N", "D");
        sizes.tieHeads("key", *operands[1], op.getLayout(), "M", "D");
        sizes.tieHeads("value", *operands[2], op.getLayout(), "M", "Dv");
      })
      .Case<LinearOp>([&](LinearOp op) {
        sizes.tieLast("input", *operands[0], "K");
        sizes.tie("weight", *operands[1], {"N", "K"});
        if (op.getBias())
          sizes.tie("bias", *operands[2], {"N"});
      })
      .Case<LayerNormOp>([&](LayerNormOp) {
        sizes.tieLast("input", *operands[0], "D");
        sizes.tie("gamma", *operands[1], {"D"});
        sizes.tie("beta", *operands[2], {"D"});
      })
      .Case<LearnedPositionsOp>([&](LearnedPositionsOp) {
        sizes.tie("input", *operands[0], {"B", "S", "D"});
        sizes.tie("table", *operands[1], {"P", "D"});
      })
      .Case<PoolOp>([&](PoolOp op) {
        sizes.tie("input", *operands[0], {"B", "S", "D"});
        if (op.getMask())
          sizes.tie("mask", *operands[1], {"B", "S"});
      });
  return sizes.takeError(op);
}

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
    tie(value, tensor,
        inLayout<const char *>(layout, "B", sequence, "", channels));
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
  for (auto [index, input] : llvm::enumerate(getMaskInputs(op.getRule()))) {
    // A dense mask has no letters: broadcasts are checked where they are made.
    SmallVector<const char *> letters;
    for (StringLiteral letter : input.letters)
      letters.push_back(letter.data());
    sizes.tie("input " + std::to_string(index), *operands[1 + index], letters);
  }
}

/// Offsets are the last operand of whatever reads them.
template <typename OpTy>
static void tieOffsets(Sizes &sizes, OpTy op, Operands operands) {
  if constexpr (!std::is_same_v<OpTy, AdditiveScoresOp>)
    if (op.getOffsets())
      sizes.tie("offsets", *operands.back(), {"B"});
}

llvm::Error reference::checkSizes(Operation *op, Operands operands) {
  Sizes sizes;
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScoresOp, AdditiveScoresOp>([&](auto op) {
        sizes.tieHeads("query", *operands[0], op.getLayout(), "N", "D");
        sizes.tieHeads("key", *operands[1], op.getLayout(), "M", "D");
        tieOffsets(sizes, op, operands);
      })
      .Case<AlibiOp, T5BiasOp>([&](auto op) {
        sizes.tie("scores", *operands[0], {"B", "H", "N", "M"});
        tieOffsets(sizes, op, operands);
      })
      .Case<MaskOp>([&](MaskOp op) { tieMask(sizes, op, operands); })
      .Case<MixOp>([&](MixOp op) {
        sizes.tie("weights", *operands[0], {"B", "H", "N", "M"});
        sizes.tieHeads("value", *operands[1], op.getLayout(), "M", "D");
        tieOffsets(sizes, op, operands);
      })
      .Case<AttentionOp>([&](AttentionOp op) {
        sizes.tieHeads("query", *operands[0], op.getLayout(), "N", "D");
        sizes.tieHeads("key", *operands[1], op.getLayout(), "M", "D");
        sizes.tieHeads("value", *operands[2], op.getLayout(), "M", "Dv");
      })
      .Case<RotaryOp>([&](RotaryOp op) {
        sizes.tieHeads("input", *operands[0], op.getLayout(), "S", "D");
        for (auto [name, table] :
             {std::pair("cos", &operands[1]), {"sin", &operands[2]}}) {
          if (op.getPositions())
            sizes.tie(name, **table, {"P", "R/2"});
          else if ((*table)->rank() == 2)
            sizes.tie(name, **table, {"S", "R/2"});
          else
            sizes.tie(name, **table,
                      {(*table)->size(0) == 1 ? "" : "B", "S", "R/2"});
        }
        if (op.getPositions())
          sizes.tie("positions", *operands[3],
                    {operands[3]->size(0) == 1 ? "" : "B", "S"});
      })
      .Case<CacheAppendOp>([&](CacheAppendOp op) {
        sizes.tieHeads("cache", *operands[0], op.getLayout(), "C", "D");
        sizes.tieHeads("update", *operands[1], op.getLayout(), "S", "D");
        sizes.tie("length", *operands[2], {"B"});
      })
      .Case<MergeAttentionOp>([&](MergeAttentionOp op) {
        sizes.tieHeads("first", *operands[0], op.getLayout(), "N", "Dv");
        sizes.tie("first_lse", *operands[1], {"B", "H", "N"});
        sizes.tieHeads("second", *operands[2], op.getLayout(), "N", "Dv");
        sizes.tie("second_lse", *operands[3], {"B", "H", "N"});
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
      .Case<RmsNormOp>([&](RmsNormOp) {
        sizes.tieLast("input", *operands[0], "D");
        sizes.tie("gamma", *operands[1], {"D"});
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

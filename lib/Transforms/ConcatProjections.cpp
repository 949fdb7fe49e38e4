//===- ConcatProjections.cpp - query, key and value in one layer *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The projections of self-attention read one input; so do those of key and
// value in cross-attention. One product with their weights one below the other
// reads it once. The weight is a recipe (#attn.concat), so nothing is
// computed here; the results are slices of the wide one.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "LinearSteps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attn;

namespace {

/// The linear layer behind one operand of an attention.
struct Projection {
  LinearOp linear;
  char letter; // q, k or v
};

/// Merges the projections of one attention that share an input.
class Concatenation {
public:
  Concatenation(AttentionOp attention, ArrayRef<Projection> parts,
                SymbolTable &symbols)
      : attention(attention), parts(parts), symbols(symbols) {}

  void run() {
    if (const char *reason = obstacle()) {
      remark::missed(attention.getLoc(),
                     options("projections-not-concatenated"))
          << remark::add("{0}", letters()) << remark::reason("{0}", reason);
      return;
    }
    rewrite();
    remark::passed(attention.getLoc(), options("projections-concatenated"))
        << remark::add("{0}", letters())
        << remark::metric("Layers", parts.size());
  }

private:
  const char *obstacle() {
    LinearOp first = parts.front().linear;
    bool hasBias = static_cast<bool>(first.getBias());
    Type type = first.getType().getElementType();
    for (const Projection &part : parts) {
      LinearOp linear = part.linear;
      if (!linear.getWeight().getDefiningOp<WeightRefOp>())
        return "a weight is not an attn.weight";
      if (static_cast<bool>(linear.getBias()) != hasBias)
        return "one layer has a bias and another has none";
      if (hasBias && !linear.getBias().getDefiningOp<WeightRefOp>())
        return "a bias is not an attn.weight";
      if (linear.getType().getElementType() != type)
        return "the layers have different element types";
    }
    return nullptr;
  }

  std::string letters() {
    std::string text;
    for (const Projection &part : parts)
      text += part.letter;
    return text;
  }

  remark::RemarkOpts options(StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("attn-fuse-linear")
        .function(attention->getParentOfType<func::FuncOp>().getSymName());
  }

  void rewrite() {
    LinearOp first = parts.front().linear;
    for (const Projection &part : parts)
      if (part.linear->isBeforeInBlock(first))
        first = part.linear;
    OpBuilder builder(first);
    Location loc = first.getLoc();
    SmallVector<Value> weights, biases;
    int64_t channels = 0;
    for (const Projection &part : parts) {
      LinearOp linear = part.linear;
      weights.push_back(linear.getWeight());
      if (linear.getBias())
        biases.push_back(linear.getBias());
      channels += linear.getWeight().getType().getDimSize(0);
    }
    Value weight = concatenate(builder, loc, weights, "weight");
    Value bias;
    if (!biases.empty())
      bias = concatenate(builder, loc, biases, "bias");

    SmallVector<int64_t> shape(first.getType().getShape());
    shape.back() = channels;
    Value wide = LinearOp::create(builder, loc, first.getType().clone(shape),
                                  first.getInput(), weight, bias);
    int64_t offset = 0;
    for (const Projection &part : parts) {
      LinearOp linear = part.linear;
      SmallVector<OpFoldResult> sizes =
          hostSizes(builder, linear.getLoc(), linear.getResult());
      SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(shape.size(), builder.getIndexAttr(1));
      offsets.back() = builder.getIndexAttr(offset);
      offset += linear.getType().getShape().back();
      linear.getResult().replaceAllUsesWith(tensor::ExtractSliceOp::create(
          builder, linear.getLoc(), linear.getType(), wide, offsets, sizes,
          strides));
    }
    for (const Projection &part : parts)
      part.linear->erase();
  }

  /// A weight that is others one below the other, and the reference to it.
  Value concatenate(OpBuilder &builder, Location loc, ArrayRef<Value> tensors,
                    StringRef what) {
    SmallVector<FlatSymbolRefAttr> names;
    Operation *last = nullptr;
    int64_t rows = 0;
    for (Value tensor : tensors) {
      auto ref = tensor.getDefiningOp<WeightRefOp>();
      names.push_back(ref.getWeightAttr());
      Operation *weight = symbols.lookup(ref.getWeight());
      if (!last || last->isBeforeInBlock(weight))
        last = weight;
      rows += ref.getType().getDimSize(0);
    }
    auto part = cast<RankedTensorType>(tensors.front().getType());
    SmallVector<int64_t> shape(part.getShape());
    shape.front() = rows;
    std::string name;
    unsigned number = 0;
    do
      name = (letters() + "_" + what + "_" + Twine(number++)).str();
    while (symbols.lookup(name));
    OpBuilder atModule(last->getContext());
    atModule.setInsertionPointAfter(last);
    auto weight = WeightOp::create(
        atModule, loc, builder.getStringAttr(name), StringAttr(),
        ConcatAttr::get(builder.getContext(), names, /*axis=*/0),
        TypeAttr::get(part.clone(shape)));
    symbols.insert(weight);
    return WeightRefOp::create(builder, loc, part.clone(shape),
                               weight.getSymName());
  }

  AttentionOp attention;
  ArrayRef<Projection> parts;
  SymbolTable &symbols;
};

} // namespace

/// The linear layer that computes an operand of an attention and nothing else.
static LinearOp findProjection(Value operand) {
  auto split = operand.getDefiningOp<SplitHeadsOp>();
  if (!split || !split->hasOneUse())
    return nullptr;
  auto linear = split.getInput().getDefiningOp<LinearOp>();
  return linear && linear->hasOneUse() ? linear : LinearOp();
}

void attn::concatProjections(func::FuncOp func, SymbolTable &symbols) {
  SmallVector<AttentionOp> attentions;
  func.walk([&](AttentionOp op) { attentions.push_back(op); });
  for (AttentionOp attention : attentions) {
    llvm::MapVector<Value, SmallVector<Projection>> byInput;
    std::pair<Value, char> operands[] = {{attention.getQuery(), 'q'},
                                         {attention.getKey(), 'k'},
                                         {attention.getValue(), 'v'}};
    for (auto [operand, letter] : operands)
      if (LinearOp linear = findProjection(operand))
        byInput[linear.getInput()].push_back({linear, letter});
    for (auto &[input, parts] : byInput)
      if (parts.size() > 1)
        Concatenation(attention, parts, symbols).run();
  }
}

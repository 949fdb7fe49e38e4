//===- Mutations.cpp - deliberate faults ----------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of faults, and those of the graph level: a rule or a constant is
// taken for another one. MutateFused.cpp and MutateTiled.cpp have the others.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Mutations.h"

#include "Fuzz/MutationSteps.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

#include <cmath>

using namespace llvm;
using namespace mlir;

namespace attn::run::fuzz {

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Replaces attributes of one kind in all masks.
template <typename AttrTy>
static bool changeRules(ModuleOp module,
                        llvm::function_ref<Attribute(AttrTy)> change) {
  bool changed = false;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](AttrTy attribute) -> std::optional<Attribute> {
    Attribute other = change(attribute);
    changed |= other != attribute;
    return other;
  });
  module.walk([&](MaskOp op) { replacer.replaceElementsIn(op); });
  return changed;
}

static bool swapCausalAlignment(ModuleOp module) {
  return changeRules<CausalAttr>(module, [](CausalAttr rule) -> Attribute {
    if (rule.getAlignment() == Alignment::Offset)
      return rule;
    return CausalAttr::get(rule.getContext(),
                           rule.getAlignment() == Alignment::TopLeft
                               ? Alignment::BottomRight
                               : Alignment::TopLeft);
  });
}

static bool widenWindow(ModuleOp module) {
  return changeRules<WindowAttr>(module, [](WindowAttr rule) -> Attribute {
    if (rule.getLeft() < 0)
      return rule;
    return WindowAttr::get(rule.getContext(), rule.getLeft() + 1,
                           rule.getRight(), rule.getAlignment());
  });
}

static bool takeAnyForAll(ModuleOp module) {
  return changeRules<AnyOfAttr>(module, [](AnyOfAttr rule) -> Attribute {
    if (rule.getRules().size() < 2)
      return rule;
    return AllOfAttr::get(rule.getContext(), rule.getRules());
  });
}

/// The channels of values instead of those of keys.
static bool scaleByValueChannels(ModuleOp module) {
  int64_t channels = 0;
  module.walk(
      [&](MixOp op) { channels = op.getValue().getType().getShape().back(); });
  bool changed = false;
  module.walk([&](ScoresOp op) {
    if (op.getScale() || channels == 0)
      return;
    OpBuilder builder(op);
    Value scale = arith::ConstantOp::create(
        builder, op.getLoc(),
        builder.getF32FloatAttr(
            static_cast<float>(1 / std::sqrt(static_cast<double>(channels)))));
    op.getScaleMutable().assign(scale);
    changed = true;
  });
  return changed;
}

/// The geometric series, for any number of heads.
static bool takeGeometricSlopes(ModuleOp module) {
  bool changed = false;
  module.walk([&](AlibiOp op) {
    if (op.getSlopes())
      return;
    OpBuilder builder(op);
    int64_t heads = op.getScores().getType().getDimSize(1);
    SmallVector<float> slopes;
    for (int64_t head = 0; head < heads; ++head)
      slopes.push_back(static_cast<float>(std::exp2(
          -8.0 * static_cast<double>(head + 1) / static_cast<double>(heads))));
    auto type = RankedTensorType::get(heads, builder.getF32Type());
    op.getSlopesMutable().assign(arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(type, ArrayRef<float>(slopes))));
    changed = true;
  });
  return changed;
}

static bool swapAlibiAlignment(ModuleOp module) {
  bool changed = false;
  module.walk([&](AlibiOp op) {
    if (op.getAlignment() == Alignment::Offset)
      return;
    op.setAlignment(op.getAlignment() == Alignment::TopLeft
                        ? Alignment::BottomRight
                        : Alignment::TopLeft);
    changed = true;
  });
  return changed;
}

static bool moveT5Boundaries(ModuleOp module) {
  bool changed = false;
  module.walk([&](T5BiasOp op) {
    op.setMaxDistance(op.getMaxDistance() + 5);
    changed = true;
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Nothing that takes long to compile or hides a fault.
static bool isSmall(const Kernel &kernel) {
  return !kernel.hasRotary && !kernel.keepsWeights && !kernel.keepsScores &&
         kernel.channels <= 32 && kernel.valueChannels <= 32 &&
         kernel.element == "f32" && kernel.scores.feature == "product" &&
         kernel.mix.feature == "mix";
}

/// Small, with one rule, which has the feature.
static bool hasOne(const Kernel &kernel, StringRef feature) {
  return isSmall(kernel) && kernel.rules.size() == 1 && kernel.has(feature);
}

static bool hasMask(const Kernel &kernel) {
  return isSmall(kernel) && kernel.rules.size() == 1 &&
         StringRef(kernel.rules[0].text).contains("attn.mask") &&
         !kernel.has("dense_float") && kernel.channels > 4;
}

/// Enough channels for scores that differ.
static bool isBare(const Kernel &kernel) {
  return isSmall(kernel) && kernel.rules.empty() && kernel.channels > 4 &&
         !kernel.has("sinks");
}

static const Mutation table[] = {
    {"causal-alignment", "top-left and bottom-right are exchanged", Emit::Graph,
     [](const Kernel &kernel) {
       return hasOne(kernel, "causal") && !kernel.has("offset");
     },
     swapCausalAlignment},
    {"window-edge", "a window has one key more", Emit::Graph,
     [](const Kernel &kernel) { return hasOne(kernel, "window"); },
     widenWindow},
    {"any-for-all", "any_of is taken for all_of", Emit::Graph,
     [](const Kernel &kernel) { return hasOne(kernel, "any_of"); },
     takeAnyForAll},
    {"scale-of-values", "the scale is that of the values' channels",
     Emit::Graph,
     [](const Kernel &kernel) {
       return isSmall(kernel) && kernel.channels != kernel.valueChannels &&
              kernel.rules.empty();
     },
     scaleByValueChannels},
    {"alibi-slopes", "slopes are one geometric series for any number of heads",
     Emit::Graph,
     [](const Kernel &kernel) {
       return hasOne(kernel, "alibi") && kernel.has("slopes_of_paper") &&
              (kernel.heads & (kernel.heads - 1)) != 0;
     },
     takeGeometricSlopes},
    {"alibi-alignment", "distances are counted from the other corner",
     Emit::Graph,
     [](const Kernel &kernel) {
       // A shift of the whole row would change nothing but the log-sum-exp.
       return hasOne(kernel, "alibi") && !kernel.has("offset") &&
              StringRef(kernel.rules[0].text).contains("symmetric");
     },
     swapAlibiAlignment},
    {"t5-boundary", "buckets of far distances begin elsewhere", Emit::Graph,
     [](const Kernel &kernel) {
       return hasOne(kernel, "t5_bias") && !kernel.has("offset");
     },
     moveT5Boundaries},
    {"dead-row-nan", "a row that sees nothing is NaN", Emit::Graph,
     [](const Kernel &kernel) {
       return hasMask(kernel) && kernel.hasLse && !kernel.has("sinks");
     },
     makeDeadRowsNan},
    {"chunk-rounding", "a quotient is rounded to zero instead of down",
     Emit::Fused,
     [](const Kernel &kernel) {
       return hasOne(kernel, "chunked") && !kernel.has("top_left");
     },
     truncateQuotients},
    {"length-edge", "a length shows one key more", Emit::Fused,
     [](const Kernel &kernel) { return hasOne(kernel, "key_lengths"); },
     includeLengths},
    {"nan-leak", "a hidden score is -1e30, and its weight of 0 meets a NaN",
     Emit::Fused, hasMask, hideByLargeNumber},
    {"finite-mask", "a hidden score is -1e4 and not left out", Emit::Fused,
     hasMask, hideBySmallNumber},
    {"softcap-after-mask", "a hidden score is capped", Emit::Fused,
     [](const Kernel &kernel) {
       return isSmall(kernel) && kernel.rules.size() == 2 &&
              kernel.rules[0].feature == "softcap" &&
              kernel.rules[0].inputs.empty() &&
              StringRef(kernel.rules[1].text).contains("attn.mask") &&
              !kernel.has("dense_float");
     },
     hideByCap},
    {"bias-before-scale", "a bias is scaled with the product", Emit::Fused,
     [](const Kernel &kernel) {
       return hasOne(kernel, "bias") && kernel.channels > 4;
     },
     scaleBias},
    {"group-modulo", "query head h reads key head h mod G", Emit::Tiled,
     [](const Kernel &kernel) {
       return isBare(kernel) && kernel.has("groups");
     },
     takeGroupModulo},
    {"value-batch", "values of all batch rows are those of the first",
     Emit::Tiled, isBare, readFirstValues},
    {"stale-sum", "the sum stays relative to the maximum before the tile",
     Emit::Tiled, isBare, keepSum},
    {"stale-accumulator", "the accumulator stays relative to that maximum",
     Emit::Tiled, isBare, keepAccumulator},
    {"tail-keys", "the last tile of keys counts as whole", Emit::Tiled, isBare,
     countTailKeys},
    {"lse-base-2", "the log-sum-exp is to base 2", Emit::Tiled,
     [](const Kernel &kernel) { return isBare(kernel) && kernel.hasLse; },
     scaleLse},
    {"sink-dropped", "a sink is not in the maximum", Emit::Tiled,
     [](const Kernel &kernel) {
       return isSmall(kernel) && kernel.rules.empty() && kernel.has("sinks");
     },
     dropSink},
};

ArrayRef<Mutation> mutations() { return table; }

const Mutation *lookupMutation(StringRef name) {
  for (const Mutation &mutation : table)
    if (mutation.name == name)
      return &mutation;
  return nullptr;
}

} // namespace attn::run::fuzz

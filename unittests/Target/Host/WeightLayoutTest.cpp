//===- WeightLayoutTest.cpp - what the weights file holds -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WeightLayout.h"
#include "WeightTest.h"
#include "mlir/IR/BuiltinOps.h"

using namespace attn;

namespace {

/// Two variants that pack one matrix into panels of 2 and 4 rows.
struct Layout : WeightTest {
  mlir::ModuleOp first, second;

  void SetUp() override {
    parse(R"(
      module @a {
        attn.weight @m value<dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>> : tensor<3x1xf32>
        attn.weight @p pack<@m, panel = 2> : tensor<2x1x2xf32>
        attn.weight @bias value<dense<5.0> : tensor<3xf32>> : tensor<3xf32>
      }
      module @b {
        attn.weight @m value<dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>> : tensor<3x1xf32>
        attn.weight @p pack<@m, panel = 4> : tensor<1x1x4xf32>
        attn.weight @bias value<dense<5.0> : tensor<3xf32>> : tensor<3xf32>
        attn.weight @extra value<dense<6.0> : tensor<1xf32>> : tensor<1xf32>
      })");
    first = module->lookupSymbol<mlir::ModuleOp>("a");
    second = module->lookupSymbol<mlir::ModuleOp>("b");
  }

  WeightLayout compute(std::vector<std::string> a, std::vector<std::string> b) {
    std::vector<VariantWeights> variants = {{first, a}, {second, b}};
    return *computeWeightLayout(variants, "");
  }
};

TEST_F(Layout, StoresThePanelsOfTheFirstVariantAndRepacksForTheOther) {
  WeightLayout layout = compute({"p", "bias"}, {"bias", "p"});
  ASSERT_EQ(layout.stored.size(), 2u);
  EXPECT_EQ(layout.stored[0].name, "p");
  EXPECT_EQ(layout.stored[0].size, 16u);
  EXPECT_EQ(layout.stored[0].offset % 64, 0u);
  EXPECT_EQ(layout.stored[1].offset % 64, 0u);
  EXPECT_EQ(layout.fileSize, layout.stored[1].offset + 12);
  const attn_variant_weight &bias = layout.variants[1][0];
  EXPECT_EQ(bias.stored, 1);
  EXPECT_EQ(bias.from_panel, bias.to_panel);
  const attn_variant_weight &panels = layout.variants[1][1];
  EXPECT_EQ(panels.stored, 0);
  EXPECT_EQ(panels.from_panel, 2);
  EXPECT_EQ(panels.to_panel, 4);
  EXPECT_EQ(panels.n, 3);
  EXPECT_EQ(panels.k, 1);
  EXPECT_EQ(panels.size, 16u);
}

TEST_F(Layout, RepacksToAndFromAMatrixThatIsNotPacked) {
  WeightLayout layout = compute({"m"}, {"p"});
  ASSERT_EQ(layout.stored.size(), 1u);
  EXPECT_EQ(layout.variants[1][0].from_panel, 0);
  EXPECT_EQ(layout.variants[1][0].to_panel, 4);
}

TEST_F(Layout, StoresWhatOnlyALaterVariantReads) {
  WeightLayout layout = compute({"bias"}, {"bias", "extra"});
  ASSERT_EQ(layout.stored.size(), 2u);
  EXPECT_EQ(layout.stored[1].name, "extra");
}

TEST_F(Layout, StoresAWeightThatIsReadTwiceOnce) {
  WeightLayout layout = compute({"bias", "bias"}, {});
  EXPECT_EQ(layout.stored.size(), 1u);
  EXPECT_EQ(layout.variants[0][1].stored, 0);
}

TEST_F(Layout, HashCoversNamesTypesAndRecipes) {
  EXPECT_EQ(compute({"p"}, {"p"}).hash, compute({"p"}, {"p"}).hash);
  EXPECT_NE(compute({"p"}, {"p"}).hash, compute({"m"}, {"m"}).hash);
  auto before = compute({"bias"}, {"bias"}).hash;
  auto bias = first.lookupSymbol<WeightOp>("bias");
  auto type = llvm::cast<mlir::RankedTensorType>(bias.getType());
  bias.setRecipeAttr(
      ValueAttr::get(&context, mlir::DenseElementsAttr::get(type, 5.5f)));
  EXPECT_NE(compute({"bias"}, {}).hash, before);
}

TEST_F(Layout, FileHasHeaderTableAndAlignedData) {
  WeightLayout layout = compute({"p", "bias"}, {});
  std::string file;
  llvm::raw_string_ostream os(file);
  ASSERT_TRUE(succeeded(writeWeights(layout, "model", "", os)));
  ASSERT_EQ(file.size(), layout.fileSize);
  attn_weights_header header;
  memcpy(&header, file.data(), sizeof header);
  EXPECT_STREQ(header.magic, ATTN_WEIGHTS_MAGIC);
  EXPECT_STREQ(header.model, "model");
  EXPECT_EQ(header.file_size, file.size());
  EXPECT_EQ(header.count, 2u);
  attn_weights_entry entry;
  memcpy(&entry, file.data() + header.table, sizeof entry);
  EXPECT_EQ(entry.offset, layout.stored[0].offset);
  EXPECT_EQ(entry.size, layout.stored[0].size);
  std::vector<float> panels(4);
  memcpy(panels.data(), file.data() + entry.offset, 16);
  EXPECT_THAT(panels, testing::ElementsAre(1, 2, 3, 0));
}

TEST_F(Layout, ReportsARecipeThatCannotBeEvaluatedOnce) {
  first.lookupSymbol<WeightOp>("bias").setRecipeAttr(
      SourceAttr::get(&context, "no.safetensors", "t"));
  second.lookupSymbol<WeightOp>("bias").setRecipeAttr(
      SourceAttr::get(&context, "no.safetensors", "t"));
  std::vector<std::string> names = {"bias"};
  std::vector<VariantWeights> variants = {{first, names}, {second, names}};
  EXPECT_TRUE(failed(computeWeightLayout(variants, "")));
  EXPECT_EQ(messages.size(), 1u);
}

} // namespace

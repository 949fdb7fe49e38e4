//===- EvaluatorTest.cpp - edges and operations -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

class Evaluator : public testing::Test {
protected:
  Evaluator() { loadDialects(context); }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context, "model.mlir");
  }

  /// The one result of a function on inputs.
  Tensor run(StringRef text, ArrayRef<Tensor> inputs,
             const EvaluatorOptions &options = {}) {
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module) {
      ADD_FAILURE() << "cannot parse";
      return {};
    }
    auto results = evaluate(*module, inputs, options);
    if (!results) {
      ADD_FAILURE() << llvm::toString(results.takeError());
      return {};
    }
    return results->front();
  }

  MLIRContext context;
};

} // namespace

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

static constexpr char causalFused[] = R"mlir(
  func.func @main(%q: tensor<?x?x1x1xf32>, %k: tensor<?x?x1x1xf32>, %v: tensor<?x?x1x1xf32>)
      -> (tensor<?x?x1x1xf32>, tensor<?x1x?xf32>) {
    %c = arith.constant 1.0 : f32
    %o, %lse = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) mask {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %0 = arith.cmpi ule, %j, %i : index
      attn.yield %0 : i1
    } : tensor<?x?x1x1xf32>, tensor<?x?x1x1xf32>, tensor<?x?x1x1xf32> -> tensor<?x?x1x1xf32>, tensor<?x1x?xf32>
    return %o, %lse : tensor<?x?x1x1xf32>, tensor<?x1x?xf32>
  }
)mlir";

static constexpr char causalGraph[] = R"mlir(
  func.func @main(%q: tensor<?x?x1x1xf32>, %k: tensor<?x?x1x1xf32>, %v: tensor<?x?x1x1xf32>) -> tensor<?x?x1x1xf32> {
    %c = arith.constant 1.0 : f32
    %s = attn.scores %q, %k scale(%c : f32) layout(bshd) : tensor<?x?x1x1xf32>, tensor<?x?x1x1xf32> -> tensor<?x1x?x?xf32>
    %m = attn.mask %s by causal<top_left> : tensor<?x1x?x?xf32>
    %p = attn.softmax %m : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
    %o = attn.mix %p, %v layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x1xf32> -> tensor<?x?x1x1xf32>
    return %o : tensor<?x?x1x1xf32>
  }
)mlir";

TEST_F(Evaluator, hiddenNansChangeNothing) {
  Tensor q = numbers({1, 2, 1, 1}, {1, 1});
  Tensor k = numbers({1, 3, 1, 1}, {1, 2, NAN});
  Tensor v = numbers({1, 3, 1, 1}, {5, 7, INFINITY});
  for (const char *text : {causalFused, causalGraph}) {
    Tensor o = run(text, {q, k, v});
    EXPECT_EQ(o.numbers[0], 5.0);
    EXPECT_NEAR(o.numbers[1], (5 + 7 * std::exp(1)) / (1 + std::exp(1)), 1e-15);
  }
}

TEST_F(Evaluator, visibleNanMakesItsRowNan) {
  Tensor q = numbers({1, 2, 1, 1}, {1, 1});
  Tensor k = numbers({1, 2, 1, 1}, {1, NAN});
  Tensor v = numbers({1, 2, 1, 1}, {5, 7});
  for (const char *text : {causalFused, causalGraph}) {
    Tensor o = run(text, {q, k, v});
    EXPECT_EQ(o.numbers[0], 5.0);
    EXPECT_TRUE(std::isnan(o.numbers[1]));
  }
}

TEST_F(Evaluator, weightOfZeroSkipsItsValue) {
  // exp(-1000) is 0 in f64.
  Tensor q = numbers({1, 2, 1, 1}, {1, 1});
  Tensor k = numbers({1, 2, 1, 1}, {0, -1000});
  Tensor v = numbers({1, 2, 1, 1}, {5, NAN});
  for (const char *text : {causalFused, causalGraph})
    EXPECT_EQ(run(text, {q, k, v}).numbers[1], 5.0);
}

TEST_F(Evaluator, rowThatSeesNothingIsZero) {
  Tensor o = run(R"mlir(
    func.func @main(%s: tensor<1x2xf32>) -> (tensor<1xf32>) {
      %p, %lse = attn.softmax %s : tensor<1x2xf32> -> tensor<1x2xf32>, tensor<1xf32>
      return %lse : tensor<1xf32>
    })mlir",
                 {numbers({1, 2}, {-INFINITY, -INFINITY})});
  EXPECT_EQ(o.numbers[0], -INFINITY);
}

TEST_F(Evaluator, poolSkipsHiddenNans) {
  Tensor y = run(
      R"mlir(
    func.func @main(%x: tensor<2x2x1xf32>, %m: tensor<2x2xi64>) -> tensor<2x1xf32> {
      %0 = attn.pool %x mask(%m : tensor<2x2xi64>)<mean> : tensor<2x2x1xf32> -> tensor<2x1xf32>
      return %0 : tensor<2x1xf32>
    })mlir",
      {numbers({2, 2, 1}, {3, NAN, NAN, NAN}), integers({2, 2}, {1, 0, 0, 0})});
  EXPECT_EQ(y.numbers, (std::vector<double>{3, 0}));
}

//===----------------------------------------------------------------------===//
// Layers that no variant has
//===----------------------------------------------------------------------===//

TEST_F(Evaluator, layersByHand) {
  Tensor y =
      run(R"mlir(
    func.func @main(%i: tensor<1x2xi64>, %t: tensor<3x2xf32>) -> tensor<1x2x2xf32> {
      %0 = attn.embedding %i, %t : tensor<1x2xi64>, tensor<3x2xf32> -> tensor<1x2x2xf32>
      %1 = attn.learned_positions %0, %t first(1) : tensor<1x2x2xf32>, tensor<3x2xf32>
      %2 = attn.l2_normalize %1 epsilon(1.0e-12) : tensor<1x2x2xf32>
      return %2 : tensor<1x2x2xf32>
    })mlir",
          {integers({1, 2}, {2, 0}), numbers({3, 2}, {1, 2, 2, 0, 1, 4})});
  // (1, 4) + (2, 0) and (1, 2) + (1, 4), each by its length.
  expectNear(y,
             numbers({1, 2, 2}, {3 / 5.0, 4 / 5.0, 2 / std::sqrt(40.0),
                                 6 / std::sqrt(40.0)}),
             1e-15, "y");
}

TEST_F(Evaluator, rmsNormByHand) {
  // The weight swaps the two channels.
  for (const char *norm :
       {"attn.rms_norm %x, %g epsilon(0.5) : tensor<2x2xf32>, tensor<2xf32>",
        "attn.fused_linear %x, %w rms_norm(%g : tensor<2xf32>) epsilon(0.5) : "
        "tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>"}) {
    bool isSwapped = StringRef(norm).contains("fused_linear");
    Tensor y = run("func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, "
                   "%g: tensor<2xf32>) -> tensor<2x2xf32> {\n  %y = " +
                       std::string(norm) + "\n  return %y : tensor<2x2xf32>\n}",
                   {numbers({2, 2}, {1, 2, 0, 0}),
                    numbers({2, 2}, {0, 1, 1, 0}), numbers({2}, {3, 10})});
    // (1 + 4) / 2 + 0.5 = 3
    double root = std::sqrt(3.0);
    expectNear(y,
               numbers({2, 2}, {(isSwapped ? 6 : 3) / root,
                                (isSwapped ? 10 : 20) / root, 0, 0}),
               1e-14, norm);
  }
}

TEST_F(Evaluator, geluByItsTable) {
  std::string body = R"mlir(
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = attn.gelu %x<FORM> : tensor<3xf32>
      return %0 : tensor<3xf32>
    })mlir";
  Tensor x = numbers({3}, {-1, 0, 2});
  for (auto [form, expected] :
       {std::pair<std::string, std::vector<double>>(
            "erf", {-0.15865525393145707, 0, 1.9544997361036416}),
        {"tanh", {-0.15880800939172324, 0, 1.9545976940877752}}}) {
    std::string text = body;
    text.replace(text.find("FORM"), 4, form);
    expectNear(run(text, {x}), numbers({3}, expected), 1e-15, form);
  }
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

TEST_F(Evaluator, packedWeightsOfAKernelGiveTheSameAsPlain) {
  std::string head = R"mlir(
    attn.weight @a value<dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>> : tensor<3x2xf32>
    attn.weight @b value<dense<[[7.0, 8.0]]> : tensor<1x2xf32>> : tensor<1x2xf32>
    attn.weight @ab concat<[@a, @b], axis = 0> : tensor<4x2xf32>
    attn.weight @panels pack<@ab, panel = 3> : tensor<2x2x3xf32>
    attn.kernel @linear_0(%x: tensor<?x2xf32>, %w: tensor<2x2x3xf32>, %r: tensor<4xf32>) -> tensor<?x4xf32> {
      %y = attn.fused_linear %x, %w capture(%r : tensor<4xf32>) epilogue {
      ^bb0(%acc: f32, %m: index, %n: index, %bias: tensor<4xf32>):
        %0 = tensor.extract %bias[%n] : tensor<4xf32>
        %1 = arith.addf %acc, %0 : f32
        %2 = attn.relu %1 : f32
        attn.yield %2 : f32
      } layer_norm(%r, %r : tensor<4xf32>, tensor<4xf32>) epsilon(0.5) : tensor<?x2xf32>, tensor<2x2x3xf32> -> tensor<?x4xf32>
      attn.yield %y : tensor<?x4xf32>
    }
    attn.dim @rows range(1, 8)
  )mlir";
  Tensor x = numbers({2, 2}, {1, -1, 0.5, 2}), r = numbers({4}, {1, 2, 3, 4});
  Tensor fused = run(head + R"mlir(
    func.func @main(%x: tensor<?x2xf32> {attn.dims = ["rows", ""]}, %r: tensor<4xf32>) -> tensor<?x4xf32> {
      %w = attn.weight_ref @panels : tensor<2x2x3xf32>
      %rows = attn.dim_size @rows
      %init = tensor.empty(%rows) : tensor<?x4xf32>
      %y = attn.call @linear_0 ins(%x, %w, %r : tensor<?x2xf32>, tensor<2x2x3xf32>, tensor<4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    })mlir",
                     {x, r});
  Tensor graph = run(head + R"mlir(
    func.func @main(%x: tensor<?x2xf32>, %r: tensor<4xf32>) -> tensor<?x4xf32> {
      %w = attn.weight_ref @ab : tensor<4x2xf32>
      %0 = attn.linear %x, %w bias(%r) : tensor<?x2xf32>, tensor<4x2xf32>, tensor<4xf32> -> tensor<?x4xf32>
      %1 = attn.relu %0 : tensor<?x4xf32>
      %2 = attn.layer_norm %1, %r, %r epsilon(0.5) : tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>
      return %2 : tensor<?x4xf32>
    })mlir",
                     {x, r});
  expectNear(fused, graph, 1e-15, "fused");
  // Row 0: 1 - 2 + 1 = 0, 3 - 4 + 2 = 1, 5 - 6 + 3 = 2, 7 - 8 + 4 = 3.
  double deviation = std::sqrt(1.25 + 0.5);
  EXPECT_NEAR(graph.numbers[0], -1.5 / deviation * 1 + 1, 1e-15);
  EXPECT_NEAR(graph.numbers[3], 1.5 / deviation * 4 + 4, 1e-15);
}

TEST_F(Evaluator, upstreamOperations) {
  Tensor y = run(R"mlir(
    #id = affine_map<(i, j) -> (i, j)>
    #row = affine_map<(i, j) -> (i)>
    func.func @main(%x: tensor<2x3xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %half = arith.constant dense<0.5> : tensor<3x2xf32>
      %e = tensor.empty() : tensor<3x2xf32>
      %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
      %h = arith.mulf %t, %half : tensor<3x2xf32>
      %n = tensor.dim %h, %c0 : tensor<3x2xf32>
      %s = tensor.extract_slice %h[%c1, 0] [2, 2] [1, 1] : tensor<3x2xf32> to tensor<2x2xf32>
      %e2 = tensor.empty() : tensor<2xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
      %g = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%s : tensor<2x2xf32>) outs(%f : tensor<2xf32>) {
      ^bb0(%a: f32, %b: f32):
        %i = linalg.index 1 : index
        %i64 = arith.index_cast %i : index to i64
        %fi = arith.sitofp %i64 : i64 to f32
        %0 = arith.addf %a, %b : f32
        %1 = arith.addf %0, %fi : f32
        linalg.yield %1 : f32
      } -> tensor<2xf32>
      %r = tensor.concat dim(0) %g, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
      %c = tensor.cast %r : tensor<4xf32> to tensor<?xf32>
      return %c : tensor<?xf32>
    })mlir",
                 {numbers({2, 3}, {1, 2, 3, 4, 5, 6})});
  // Columns 1 and 2, halved and summed, plus 0 + 1 of the index.
  EXPECT_EQ(y.numbers, (std::vector<double>{4.5, 5.5, 0, 0}));
}

TEST_F(Evaluator, bodiesReadValuesFromOutside) {
  Tensor y = run(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @main(%x: tensor<3xf32>, %table: tensor<2xf32>) -> tensor<3xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %ten = arith.constant 10.0 : f32
      %first = tensor.extract %table[%c0] : tensor<2xf32>
      %e = tensor.empty() : tensor<3xf32>
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
      ^bb0(%a: f32, %b: f32):
        %last = tensor.extract %table[%c1] : tensor<2xf32>
        %0 = arith.mulf %a, %ten : f32
        %1 = arith.addf %0, %first : f32
        %2 = arith.addf %1, %last : f32
        linalg.yield %2 : f32
      } -> tensor<3xf32>
      return %g : tensor<3xf32>
    })mlir",
                 {numbers({3}, {1, 2, 3}), numbers({2}, {0.25, 0.5})});
  EXPECT_EQ(y.numbers, (std::vector<double>{10.75, 20.75, 30.75}));
}

TEST_F(Evaluator, integersWrapToTheirType) {
  Tensor y = run(R"mlir(
    func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = arith.trunci %x : tensor<2xi64> to tensor<2xi8>
      %1 = arith.extsi %0 : tensor<2xi8> to tensor<2xi64>
      %2 = arith.extui %0 : tensor<2xi8> to tensor<2xi64>
      %3 = arith.addi %1, %2 : tensor<2xi64>
      return %3 : tensor<2xi64>
    })mlir",
                 {integers({2}, {200, 100})});
  EXPECT_EQ(y.integers, (std::vector<int64_t>{-56 + 200, 200}));
}

TEST_F(Evaluator, readsSourcesThroughTheCallback) {
  EvaluatorOptions options;
  options.readSource = [](WeightOp weight) -> llvm::Expected<Tensor> {
    EXPECT_EQ(cast<SourceAttr>(weight.getRecipe()).getTensor(), "w");
    return numbers({2}, {1, 2});
  };
  Tensor y = run(R"mlir(
    attn.weight @w source<"a.safetensors", "w"> : tensor<2xf32>
    func.func @main() -> tensor<2xf32> {
      %w = attn.weight_ref @w : tensor<2xf32>
      return %w : tensor<2xf32>
    })mlir",
                 {}, options);
  EXPECT_EQ(y.numbers, (std::vector<double>{1, 2}));
}

TEST_F(Evaluator, roundsLikeAPlainEvaluation) {
  static constexpr char text[] = R"mlir(
    func.func @main(%q: tensor<1x1x1x3xTYPE>, %k: tensor<1x1x1x3xTYPE>) -> tensor<1x1x1x1xTYPE> {
      %c = arith.constant 1.0 : SCALE
      %s = attn.scores %q, %k scale(%c : SCALE) layout(bshd)
          : tensor<1x1x1x3xTYPE>, tensor<1x1x1x3xTYPE> -> tensor<1x1x1x1xTYPE>
      return %s : tensor<1x1x1x1xTYPE>
    })mlir";
  auto sum = [&](StringRef type, std::vector<double> terms, bool isPlain) {
    std::string module = text;
    for (auto [name, word] : {std::pair<StringRef, StringRef>("TYPE", type),
                              {"SCALE", type == "f64" ? "f64" : "f32"}})
      for (size_t at; (at = module.find(name)) != std::string::npos;)
        module.replace(at, name.size(), word);
    EvaluatorOptions options;
    options.isPlain = isPlain;
    return run(module,
               {numbers({1, 1, 1, 3}, {1, 1, 1}),
                numbers({1, 1, 1, 3}, std::move(terms))},
               options)
        .numbers.front();
  };
  // Each step of a sum is rounded to f32, the result to its type.
  EXPECT_EQ(sum("f32", {0x1p24, 1, 1}, false), 0x1p24 + 2);
  EXPECT_EQ(sum("f32", {0x1p24, 1, 1}, true), 0x1p24);
  EXPECT_EQ(sum("f64", {0x1p24, 1, 1}, true), 0x1p24 + 2);
  EXPECT_EQ(sum("f16", {2048, 1, 1}, true), 2050);
  EXPECT_EQ(sum("f16", {2048, 1, 0}, true), 2048);
}

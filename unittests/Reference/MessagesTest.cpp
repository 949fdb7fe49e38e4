//===- MessagesTest.cpp - messages of the evaluator -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gmock/gmock.h"

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

class EvaluatorMessages : public testing::Test {
protected:
  EvaluatorMessages() { loadDialects(context); }

  /// The error of a function on inputs.
  std::string error(StringRef text, ArrayRef<Tensor> inputs,
                    const EvaluatorOptions &options = {}) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &context, "model.mlir");
    if (!module)
      return "cannot parse";
    auto results = evaluate(*module, inputs, options);
    return results ? "no error" : llvm::toString(results.takeError());
  }

  MLIRContext context;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static EvaluatorOptions atMost(uint64_t bytes) {
  EvaluatorOptions options;
  options.maxBytes = bytes;
  return options;
}

TEST_F(EvaluatorMessages, refusesScoresThatNoMemoryHolds) {
  constexpr char text[] = R"mlir(
    attn.dim @n range(1, 100000000)
    func.func @main(%q: tensor<1x?x1x1xf32> {attn.dims = ["", "n", "", ""]}) -> tensor<1x1x?x?xf32> {
      %s = attn.scores %q, %q layout(bshd) : tensor<1x?x1x1xf32>, tensor<1x?x1x1xf32> -> tensor<1x1x?x?xf32>
      return %s : tensor<1x1x?x?xf32>
    }
  )mlir";
  Tensor query = Tensor::zeros(Tensor::Kind::F64, {1, 100000, 1, 1});
  EXPECT_EQ(error(text, {query}),
            "\"model.mlir\":4:12: 'attn.scores' expected at most 4.0 GiB of "
            "values at a time (because the reference evaluator holds whole "
            "tensors, 8 bytes an element), got 74.5 GiB with the result of "
            "this operation: evaluate with smaller sizes than n = 100000");
  EXPECT_EQ(error(text, {Tensor::zeros(Tensor::Kind::F64, {1, 4, 1, 1})},
                  atMost(4 * 8 + 16 * 8)),
            "no error");
}

TEST_F(EvaluatorMessages, countsWhatIsAliveOnly) {
  // The input, the operand and the result of the last operation.
  constexpr char text[] = R"mlir(
    func.func @main(%x: tensor<131072xf32>) -> tensor<131072xf32> {
      %0 = attn.relu %x : tensor<131072xf32>
      %1 = attn.relu %0 : tensor<131072xf32>
      %2 = math.exp %1 : tensor<131072xf32>
      %3 = math.exp %2 : tensor<131072xf32>
      return %3 : tensor<131072xf32>
    }
  )mlir";
  Tensor x = Tensor::zeros(Tensor::Kind::F64, {131072});
  EXPECT_EQ(error(text, {x}, atMost(3 << 20)), "no error");
  EXPECT_EQ(error(text, {x}, atMost((3 << 20) - 1)),
            "\"model.mlir\":4:12: 'attn.relu' expected at most 3.0 MiB of "
            "values at a time (because the reference evaluator holds whole "
            "tensors, 8 bytes an element), got 3.0 MiB with the result of this "
            "operation: evaluate a part of the model");
}

TEST_F(EvaluatorMessages, countsSizesWhoseProductNoIntegerHolds) {
  constexpr char text[] = R"mlir(
    func.func @main(%n: index) -> tensor<?x?xf32> {
      %0 = tensor.empty(%n, %n) : tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }
  )mlir";
  EXPECT_THAT(error(text, {integers({}, {4000000000})}),
              testing::HasSubstr("got 116415321.8 TiB with the result"));
}

TEST_F(EvaluatorMessages, countsTheResultOfEachOperation) {
  auto real = [](ArrayRef<int64_t> shape) {
    return Tensor::zeros(Tensor::Kind::F64, shape);
  };
  struct {
    const char *arguments, *op, *type;
    std::vector<Tensor> inputs;
    int64_t elements; // Of the result, and of copies.
  } cases[] = {
      {"%p: tensor<?x4x?x?xf32>, %v: tensor<?x?x2x3xf32>",
       "attn.mix %p, %v layout(bshd) : tensor<?x4x?x?xf32>, "
       "tensor<?x?x2x3xf32> -> tensor<?x?x4x3xf32>",
       "tensor<?x?x4x3xf32>",
       {real({2, 4, 5, 6}), real({2, 6, 2, 3})},
       2 * 5 * 4 * 3},
      {"%q: tensor<?x?x4x3xf32>, %k: tensor<?x?x2x3xf32>, %c: f32",
       "attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : "
       "tensor<?x?x4x3xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32> -> "
       "tensor<?x?x4x3xf32>",
       "tensor<?x?x4x3xf32>",
       {real({2, 5, 4, 3}), real({2, 6, 2, 3}), real({})},
       2 * 5 * 4 * (3 + 1)},
      {"%x: tensor<?x?x3xf32>, %w: tensor<7x3xf32>",
       "attn.linear %x, %w : tensor<?x?x3xf32>, tensor<7x3xf32> -> "
       "tensor<?x?x7xf32>",
       "tensor<?x?x7xf32>",
       {real({2, 5, 3}), real({7, 3})},
       2 * 5 * 7 + 7 * 3},
      {"%x: tensor<?x3xf32>, %w: tensor<7x3xf32>",
       "attn.fused_linear %x, %w : tensor<?x3xf32>, tensor<7x3xf32> -> "
       "tensor<?x7xf32>",
       "tensor<?x7xf32>",
       {real({5, 3}), real({7, 3})},
       5 * 7 + 2 * 7 * 3},
      {"%i: tensor<?x?xi64>, %t: tensor<9x4xf32>",
       "attn.embedding %i, %t : tensor<?x?xi64>, tensor<9x4xf32> -> "
       "tensor<?x?x4xf32>",
       "tensor<?x?x4xf32>",
       {Tensor::zeros(Tensor::Kind::I64, {2, 3}), real({9, 4})},
       2 * 3 * 4},
      {"%x: f32, %n: index",
       "tensor.splat %x[%n] : tensor<?x4xf32>",
       "tensor<?x4xf32>",
       {real({}), integers({}, {1000})},
       4000},
      {"%n: index, %m: index",
       "tensor.empty(%n, %m) : tensor<?x?xf32>",
       "tensor<?x?xf32>",
       {integers({}, {300}), integers({}, {400})},
       300 * 400},
      {"%x: tensor<?x2xf32>",
       "tensor.concat dim(0) %x, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> "
       "tensor<?x2xf32>",
       "tensor<?x2xf32>",
       {real({3, 2})},
       2 * 3 * 2},
      {"%x: tensor<?x2xf32>",
       "attn.softmax %x : tensor<?x2xf32> -> tensor<?x2xf32>",
       "tensor<?x2xf32>",
       {real({3, 2})},
       3 * 2},
      {"", "attn.weight_ref @w : tensor<5xf32>", "tensor<5xf32>", {}, 2 * 5},
  };
  for (const auto &one : cases) {
    int64_t elements = one.elements;
    for (const Tensor &input : one.inputs)
      elements += input.numElements();
    std::string text =
        "attn.weight @w value<dense<1.0> : tensor<5xf32>> : tensor<5xf32>\n"
        "func.func @main(" +
        std::string(one.arguments) + ") -> " + one.type + " {\n%r = " + one.op +
        "\nreturn %r : " + one.type + "\n}";
    EXPECT_THAT(error(text, one.inputs, atMost(0)),
                testing::HasSubstr("got " + std::to_string(8 * elements) +
                                   " bytes with"))
        << text;
  }
}

//===----------------------------------------------------------------------===//
// Inputs and modules
//===----------------------------------------------------------------------===//

static constexpr char twoInputs[] = R"mlir(
  attn.dim @n range(1, 4)
  func.func @main(%x: tensor<?x2xf32> {attn.dims = ["n", ""]}, %y: tensor<?xi64> {attn.dims = ["n"]}) -> tensor<?x2xf32> {
    return %x : tensor<?x2xf32>
  }
)mlir";

TEST_F(EvaluatorMessages, saysWhatIsWrongWithInputs) {
  Tensor x = numbers({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(error(twoInputs, {x}), "\"model.mlir\":3:3: 'func.func' expected 2 "
                                   "inputs, got 1");
  EXPECT_EQ(
      error(twoInputs, {numbers({1, 3}, {1, 2, 3}), x}),
      "\"model.mlir\":3:3: 'func.func' input 0: expected shape (?, 2), got "
      "(1, 3); input 1: expected shape (?), got (3, 2)");
  EXPECT_EQ(error(twoInputs, {x, numbers({3}, {1, 2, 3})}),
            "\"model.mlir\":3:3: 'func.func' input 1: expected elements of "
            "another kind");
  EXPECT_EQ(
      error(twoInputs, {x, integers({2}, {1, 2})}),
      "\"model.mlir\":3:3: 'func.func' input 1: expected n = 3 (because an "
      "input before has that), got 2");
  EXPECT_EQ(
      error(twoInputs, {Tensor::zeros(Tensor::Kind::F64, {5, 2}),
                        Tensor::zeros(Tensor::Kind::I64, {5})}),
      "\"model.mlir\":3:3: 'func.func' input 0: expected n in the range 1 "
      "to 4, got 5; input 1: expected n in the range 1 to 4, got 5");
}

TEST_F(EvaluatorMessages, saysWhichModuleItWants) {
  EXPECT_EQ(
      error("module { func.func private @f() { return } }", {}),
      "\"model.mlir\":1:1: 'builtin.module' expected one public function, "
      "got none");
  EXPECT_EQ(error("func.func @f() { return }\nfunc.func @g() { return }", {}),
            "\"model.mlir\":2:1: 'func.func' expected one public function, got "
            "this one and @f");
}

TEST_F(EvaluatorMessages, saysWhatItDoesNotEvaluate) {
  EXPECT_EQ(
      error(R"mlir(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = attn.tile_fill 0.0 : !attn.tile<4xf32>
  return %x : tensor<4xf32>
})mlir",
            {numbers({4}, {1, 2, 3, 4})}),
      "\"model.mlir\":2:8: 'attn.tile_fill' is not evaluated: expected the "
      "graph "
      "or the fused level, with operations of attn, arith, math, tensor and "
      "linalg on tensors");
  EXPECT_EQ(error(R"mlir(
attn.weight @w source<"a.safetensors", "w"> : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
  %w = attn.weight_ref @w : tensor<2xf32>
  return %w : tensor<2xf32>
})mlir",
                  {}),
            "\"model.mlir\":2:1: 'attn.weight' expected a way to read files "
            "(because the weight comes from one), got none");
}

TEST_F(EvaluatorMessages, refusesIdsAndIndicesOutOfRange) {
  constexpr char embedding[] =
      R"mlir(func.func @main(%i: tensor<2xi64>, %t: tensor<3x1xf32>) -> tensor<2x1xf32> {
  %0 = attn.embedding %i, %t : tensor<2xi64>, tensor<3x1xf32> -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
})mlir";
  EXPECT_EQ(
      error(embedding, {integers({2}, {0, 3}), numbers({3, 1}, {1, 2, 3})}),
      "\"model.mlir\":2:8: 'attn.embedding' expected 0 <= id < 3 (because "
      "the table has that many rows), got 3 at element 1");
  constexpr char check[] = R"mlir(func.func @main(%i: tensor<2xi64>) {
  attn.check_ids %i below(3) name("ids") : tensor<2xi64>
  return
})mlir";
  EXPECT_EQ(error(check, {integers({2}, {-1, 3})}),
            "\"model.mlir\":2:3: 'attn.check_ids' expected 0 <= id < 3 in ids, "
            "got -1 at element 0");
  constexpr char region[] =
      R"mlir(func.func @main(%x: tensor<1x2xf32>, %w: tensor<1x2xf32>, %t: tensor<1xf32>) -> tensor<1x1xf32> {
  %0 = attn.fused_linear %x, %w capture(%t : tensor<1xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %b: tensor<1xf32>):
    %c1 = arith.constant 1 : index
    %1 = arith.addi %n, %c1 : index
    %2 = tensor.extract %b[%1] : tensor<1xf32>
    attn.yield %2 : f32
  } : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
})mlir";
  EXPECT_EQ(error(region, {numbers({1, 2}, {1, 2}), numbers({1, 2}, {1, 2}),
                           numbers({1}, {1})}),
            "\"model.mlir\":6:10: 'tensor.extract' expected indices inside a "
            "tensor of shape (1), got (1)");
}

TEST_F(EvaluatorMessages, refusesPositionsOutOfRange) {
  auto zeros = [](ArrayRef<int64_t> shape) {
    return Tensor::zeros(Tensor::Kind::F64, shape);
  };
  constexpr char rotary[] =
      R"mlir(func.func @main(%x: tensor<1x2x1x2xf32>, %t: tensor<3x1xf32>, %p: tensor<1x2xi64>) -> tensor<1x2x1x2xf32> {
  %0 = attn.rotary %x, %t, %t positions(%p : tensor<1x2xi64>) layout(bshd)<half> : tensor<1x2x1x2xf32>, tensor<3x1xf32>, tensor<3x1xf32>
  return %0 : tensor<1x2x1x2xf32>
})mlir";
  EXPECT_EQ(error(rotary, {zeros({1, 2, 1, 2}), zeros({3, 1}),
                           integers({1, 2}, {2, 3})}),
            "\"model.mlir\":2:8: 'attn.rotary' expected 0 <= position < 3 "
            "(because the tables have that many rows), got 3");
  constexpr char append[] =
      R"mlir(func.func @main(%c: tensor<2x3x1x1xf32>, %k: tensor<2x2x1x1xf32>, %l: tensor<2xi64>) -> tensor<2x3x1x1xf32> {
  %0 = attn.cache_append %c, %k at(%l : tensor<2xi64>) layout(bshd) : tensor<2x3x1x1xf32>, tensor<2x2x1x1xf32>
  return %0 : tensor<2x3x1x1xf32>
})mlir";
  for (int64_t length : {-1, 2})
    EXPECT_EQ(error(append, {zeros({2, 3, 1, 1}), zeros({2, 2, 1, 1}),
                             integers({2}, {1, length})}),
              "\"model.mlir\":2:8: 'attn.cache_append' expected 0 <= length <= "
              "1 (because the cache has room for 3 positions), got " +
                  std::to_string(length) + " in batch row 1");
}

TEST_F(EvaluatorMessages, refusesControlFlowAndMissingCallees) {
  EXPECT_EQ(error(R"mlir(func.func @main() {
  cf.br ^bb1
^bb1:
  return
})mlir",
                  {}),
            "\"model.mlir\":1:1: 'func.func' expected a body of one block "
            "(because branches are not evaluated)");
  EXPECT_EQ(
      error(R"mlir(func.func private @f()
func.func @main() {
  func.call @f() : () -> ()
  return
})mlir",
            {}),
      "\"model.mlir\":3:3: 'func.call' expected a callee with a body, got "
      "@f");
  EXPECT_EQ(error(R"mlir(attn.dim @n range(1, 4)
func.func @main() -> index {
  %0 = attn.dim_size @n
  return %0 : index
})mlir",
                  {}),
            "\"model.mlir\":3:8: 'attn.dim_size' expected a dimension that an "
            "argument names in attn.dims, got @n");
}

TEST_F(EvaluatorMessages, refusesWhatARegionCannotHold) {
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%x: tensor<1x2xf32>, %w: tensor<1x2xf32>) -> tensor<1x1xf32> {
  %0 = attn.fused_linear %x, %w epilogue {
  ^bb0(%acc: f32, %m: index, %n: index):
    %e = tensor.empty() : tensor<2xf32>
    %1 = tensor.extract %e[%n] : tensor<2xf32>
    attn.yield %1 : f32
  } : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
})mlir",
          {numbers({1, 2}, {1, 2}), numbers({1, 2}, {1, 2})}),
      "\"model.mlir\":4:10: 'tensor.empty' is not evaluated inside a region: "
      "expected element-wise arith, math or attn operations and "
      "tensor.extract");
}

//===----------------------------------------------------------------------===//
// Sizes that are known when the model runs
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorMessages, checksBroadcasts) {
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%s: tensor<1x1x?x?xf32>, %m: tensor<?x?xi1>) -> tensor<1x1x?x?xf32> {
  %0 = attn.mask %s by dense(%m : tensor<?x?xi1>) : tensor<1x1x?x?xf32>
  return %0 : tensor<1x1x?x?xf32>
})mlir",
          {Tensor::zeros(Tensor::Kind::F64, {1, 1, 2, 3}),
           Tensor::zeros(Tensor::Kind::Bool, {2, 4})}),
      "\"model.mlir\":2:8: 'attn.mask' expected an operand that broadcasts "
      "to the scores");
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%s: tensor<1x1x?x?xf32>, %m: tensor<?x?xf32>) -> tensor<1x1x?x?xf32> {
  %0 = attn.bias %s, %m : tensor<1x1x?x?xf32>, tensor<?x?xf32>
  return %0 : tensor<1x1x?x?xf32>
})mlir",
          {Tensor::zeros(Tensor::Kind::F64, {1, 1, 2, 3}),
           Tensor::zeros(Tensor::Kind::F64, {3, 3})}),
      "\"model.mlir\":2:8: 'attn.bias' expected a bias that broadcasts to "
      "the scores");
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
})mlir",
          {numbers({2}, {1, 2}), numbers({3}, {1, 2, 3})}),
      "\"model.mlir\":2:8: 'arith.addf' expected operands of equal sizes");
}

TEST_F(EvaluatorMessages, checksSizesByLetter) {
  auto zeros = [](ArrayRef<int64_t> shape) {
    return Tensor::zeros(Tensor::Kind::F64, shape);
  };
  constexpr char attention[] =
      R"mlir(func.func @main(%q: tensor<?x?x1x1xf32>, %k: tensor<?x?x1x1xf32>, %v: tensor<?x?x1x1xf32>) -> tensor<?x?x1x1xf32> {
  %c = arith.constant 1.0 : f32
  %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x1x1xf32>, tensor<?x?x1x1xf32>, tensor<?x?x1x1xf32> -> tensor<?x?x1x1xf32>
  return %o : tensor<?x?x1x1xf32>
})mlir";
  EXPECT_EQ(error(attention, {zeros({2, 3, 1, 1}), zeros({2, 5, 1, 1}),
                              zeros({2, 4, 1, 1})}),
            "\"model.mlir\":3:8: 'attn.attention' expected M = 5 in value "
            "(because key has that), got 4");
  EXPECT_EQ(
      error(attention,
            {zeros({2, 3, 1, 1}), zeros({1, 5, 1, 1}), zeros({2, 5, 1, 1})}),
      "\"model.mlir\":3:8: 'attn.attention' expected B = 2 in key (because "
      "query has that), got 1");
  constexpr char linear[] =
      R"mlir(func.func @main(%x: tensor<2x?xf32>, %w: tensor<3x?xf32>) -> tensor<2x3xf32> {
  %0 = attn.linear %x, %w : tensor<2x?xf32>, tensor<3x?xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})mlir";
  EXPECT_EQ(
      error(linear, {zeros({2, 4}), zeros({3, 5})}),
      "\"model.mlir\":2:8: 'attn.linear' expected K = 4 in weight (because "
      "input has that), got 5");
  constexpr char padding[] =
      R"mlir(func.func @main(%s: tensor<1x1x2x?xf32>, %m: tensor<1x?xi64>) -> tensor<1x1x2x?xf32> {
  %0 = attn.mask %s by key_padding(%m : tensor<1x?xi64>) : tensor<1x1x2x?xf32>
  return %0 : tensor<1x1x2x?xf32>
})mlir";
  EXPECT_EQ(
      error(padding, {zeros({1, 1, 2, 3}), integers({1, 2}, {1, 1})}),
      "\"model.mlir\":2:8: 'attn.mask' expected M = 3 in input 0 (because "
      "scores has that), got 2");
}

TEST_F(EvaluatorMessages, checksPositions) {
  EXPECT_EQ(
      error(R"mlir(func.func @main(%x: tensor<1x?x1xf32>) -> tensor<1x1xf32> {
  %0 = attn.pool %x<cls> : tensor<1x?x1xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
})mlir",
            {Tensor::zeros(Tensor::Kind::F64, {1, 0, 1})}),
      "\"model.mlir\":2:8: 'attn.pool' expected S > 0 (because cls takes "
      "position 0), got 0");
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%x: tensor<1x?x1xf32>, %t: tensor<4x1xf32>) -> tensor<1x?x1xf32> {
  %0 = attn.learned_positions %x, %t first(2) : tensor<1x?x1xf32>, tensor<4x1xf32>
  return %0 : tensor<1x?x1xf32>
})mlir",
          {Tensor::zeros(Tensor::Kind::F64, {1, 3, 1}),
           Tensor::zeros(Tensor::Kind::F64, {4, 1})}),
      "\"model.mlir\":2:8: 'attn.learned_positions' expected S + first <= P "
      "= 4 (because the table has one row a position), got S = 3 and first "
      "= 2");
}

TEST_F(EvaluatorMessages, checksStructuredOperations) {
  EXPECT_EQ(
      error(
          R"mlir(func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.copy ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
})mlir",
          {numbers({2}, {1, 2}), numbers({3}, {1, 2, 3})}),
      "\"model.mlir\":2:8: 'linalg.copy' expected equal sizes of loop 0, got "
      "2 and 3");
  constexpr char shifted[] = R"mlir(#shift = affine_map<(i) -> (i + 1)>
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#shift, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
})mlir";
  EXPECT_EQ(
      error(shifted, {numbers({2}, {1, 2}), numbers({2}, {1, 2})}),
      "\"model.mlir\":4:8: 'linalg.generic' expected accesses inside operand "
      "0");
}

TEST_F(EvaluatorMessages, checksTensorOperations) {
  Tensor x = numbers({3}, {1, 2, 3});
  auto withIndex = [&](StringRef body, int64_t index) {
    return error(("func.func @main(%x: tensor<?xf32>, %i: index) {\n  " + body +
                  "\n  return\n}")
                     .str(),
                 {x, integers({}, {index})});
  };
  EXPECT_EQ(withIndex("%0 = tensor.empty(%i) : tensor<?xf32>", -1),
            "\"model.mlir\":2:8: 'tensor.empty' expected sizes >= 0, got -1");
  EXPECT_EQ(
      withIndex("%0 = tensor.dim %x, %i : tensor<?xf32>", 1),
      "\"model.mlir\":2:8: 'tensor.dim' expected a dimension below the rank "
      "1, got 1");
  EXPECT_EQ(withIndex("%0 = tensor.extract %x[%i] : tensor<?xf32>", 3),
            "\"model.mlir\":2:8: 'tensor.extract' expected indices inside the "
            "tensor");
  EXPECT_EQ(
      withIndex("%0 = tensor.extract_slice %x[%i] [2] [1] : "
                "tensor<?xf32> to tensor<2xf32>",
                2),
      "\"model.mlir\":2:8: 'tensor.extract_slice' expected a slice inside "
      "size 3 of dimension 0, got elements 2 to 3");
  EXPECT_EQ(
      withIndex("%0 = tensor.expand_shape %x [[0, 1]] output_shape [%i, 2] "
                ": tensor<?xf32> into tensor<?x2xf32>",
                2),
      "\"model.mlir\":2:8: 'tensor.expand_shape' expected as many elements "
      "as before, 3, got 4");
  EXPECT_EQ(
      withIndex("%0 = tensor.insert_slice %x into %x[0] [%i] [1] : "
                "tensor<?xf32> into tensor<?xf32>",
                2),
      "\"model.mlir\":2:8: 'tensor.insert_slice' expected as many elements "
      "as the slice has, 2, got 3");
  EXPECT_EQ(
      withIndex("%0 = tensor.cast %x : tensor<?xf32> to tensor<2xf32>", 0),
      "\"model.mlir\":2:8: 'tensor.cast' expected size 2 in dimension 0, got "
      "3");
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorMessages, checksData) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(attn.weight @w source<"a.safetensors", "w"> : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
  %w = attn.weight_ref @w : tensor<2xf32>
  return %w : tensor<2xf32>
})mlir",
      &context, "model.mlir");
  EvaluatorOptions options;
  options.readSource = [](WeightOp) { return numbers({3}, {1, 2, 3}); };
  auto results = evaluate(*module, {}, options);
  EXPECT_EQ(llvm::toString(results.takeError()),
            "\"model.mlir\":1:1: 'attn.weight' expected data of the weight's "
            "shape");
  auto message = [](llvm::Expected<Tensor> tensor) {
    return tensor ? "no error" : llvm::toString(tensor.takeError());
  };
  Builder builder(&context);
  auto f32 = RankedTensorType::get({2}, builder.getF32Type());
  EXPECT_EQ(message(tensorOf(f32, ArrayRef<char>("1234567", 7))),
            "expected 8 bytes of data, got 7");
  EXPECT_EQ(message(tensorOf(RankedTensorType::get({2}, builder.getIndexType()),
                             ArrayRef<char>())),
            "expected elements of f16, bf16, f32, f64 or an integer type");
  EXPECT_EQ(message(tensorOf(cast<ElementsAttr>(parseAttribute(
                "dense_resource<absent> : tensor<2xf32>", &context)))),
            "expected a constant whose elements can be read, got a resource or "
            "an opaque one");
}

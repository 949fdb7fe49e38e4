//===- KernelErrorsTest.cpp - what the Halide target refuses ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Linear, row-wise and generic kernels that are valid IR but have no Halide
// pipeline, each with the whole text of its message.
//
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace attn::testing;

namespace {

struct Refusal {
  const char *name;
  std::string kernel;
  const char *message;
};

class KernelErrors : public ::testing::TestWithParam<Refusal> {};

TEST_P(KernelErrors, HaveThisText) {
  EXPECT_EQ(compileError(GetParam().kernel), GetParam().message);
}

/// A linear layer of 16 channels to 24: types of the elements and of the
/// weight, and what stands in front, which may define %in.
std::string linearKernel(const char *element, const char *weight,
                         int64_t vector, const char *before = "",
                         const char *input = "%x") {
  return llvm::formatv(
      R"mlir(
attn.kernel @linear_0(%x: tensor<?x16x{0}>, %w: {1}) -> tensor<?x24x{0}>
    attributes {{schedule = #attn.linear_schedule<vector = {2}, mr = 4, nr = 24, kc = 0, mb = 64>} {{
  {3}
  %0 = attn.fused_linear {4}, %w : tensor<?x16x{0}>, {1} -> tensor<?x24x{0}>
  attn.yield %0 : tensor<?x24x{0}>
})mlir",
      element, weight, vector, before, input);
}

/// A conversion of all elements.
std::string castKernel(const char *operation, const char *from,
                       const char *to) {
  return llvm::formatv(R"mlir(
attn.kernel @rowwise_0(%x: tensor<?x8x{1}>) -> tensor<?x8x{2}> {{
  %0 = {0} %x : tensor<?x8x{1}> to tensor<?x8x{2}>
  attn.yield %0 : tensor<?x8x{2}>
})mlir",
                       operation, from, to);
}

TEST(KernelErrorsOfDevices, UnpackedWeight) {
  EXPECT_EQ(
      compileError(R"mlir(
attn.kernel @linear_0(%x: tensor<?x16xf32>, %w: tensor<24x16xf32>) -> tensor<?x24xf32>
    attributes {schedule = #attn.gpu_linear_schedule<x = 8, y = 16, mr = 4, nr = 4, kc = 16>} {
  %0 = attn.fused_linear %x, %w : tensor<?x16xf32>, tensor<24x16xf32> -> tensor<?x24xf32>
  attn.yield %0 : tensor<?x24xf32>
})mlir",
                   "opencl"),
      "'attn.fused_linear' op expected a weight of packed panels (P, K, panel) "
      "of static shape (because a block of threads reads whole panels), got "
      "'tensor<24x16xf32>': run attn-schedule, which inserts attn.pack");
}

const Refusal linear[] = {
    {"ElementType", linearKernel("f64", "tensor<1x16x24xf64>", 8),
     "'attn.fused_linear' op not supported by the Halide target: expected "
     "input, weight and result of f32, f16 or bf16, got element type 'f64'"},
    {"UnpackedWeight", linearKernel("f32", "tensor<24x16xf32>", 8),
     "'attn.fused_linear' op expected a weight of packed panels (P, K, panel) "
     "of static shape (because whole vectors of columns are read), got "
     "'tensor<24x16xf32>': run attn-schedule, which inserts attn.pack"},
    {"VectorDoesNotFillPanel", linearKernel("f32", "tensor<1x16x24xf32>", 16),
     "'attn.kernel' op expected nr to be a multiple of vector (because a panel "
     "is whole vectors), got #attn.linear_schedule<vector = 16, mr = 4, nr = "
     "24, kc = 0, mb = 64>"},
    {"ComputedInput",
     linearKernel("f32", "tensor<1x16x24xf32>", 8,
                  "%in = attn.relu %x : tensor<?x16xf32>", "%in"),
     "'attn.fused_linear' op expected input and weight to be arguments of the "
     "kernel (because it reads them where they lie)"},
};
INSTANTIATE_TEST_SUITE_P(Linear, KernelErrors, ::testing::ValuesIn(linear),
                         [](const auto &info) { return info.param.name; });

const Refusal rowwise[] = {
    {"SeveralResults", R"mlir(
attn.kernel @rowwise_0(%x: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0, %1 = arith.addui_extended %x, %x : tensor<?x8xi32>, tensor<?x8xi1>
  attn.yield %0 : tensor<?x8xi32>
})mlir",
     "'arith.addui_extended' op not supported by the Halide target: expected "
     "one result, got 2"},
    {"ResourceConstant", R"mlir(
attn.kernel @rowwise_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant dense_resource<blob> : tensor<2xf32>
  %1 = arith.addf %x, %0 : tensor<2xf32>
  attn.yield %1 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F00000040" } } #-})mlir",
     "'arith.constant' op not supported by the Halide target: expected a dense "
     "constant"},
    {"ConstantType", R"mlir(
attn.kernel @rowwise_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant dense<1> : tensor<2xi4>
  %1 = arith.sitofp %0 : tensor<2xi4> to tensor<2xf32>
  attn.yield %1 : tensor<2xf32>
})mlir",
     "'arith.constant' op not supported by the Halide target: constant of type "
     "'tensor<2xi4>'"},
    {"BoolConstant", R"mlir(
attn.kernel @rowwise_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant dense<[true, false]> : tensor<2xi1>
  %1 = arith.select %0, %x, %x : tensor<2xi1>, tensor<2xf32>
  attn.yield %1 : tensor<2xf32>
})mlir",
     "'arith.constant' op not supported by the Halide target: a constant of i1 "
     "elements that differ"},
    {"DoublePrecisionNorm", R"mlir(
attn.kernel @norm_0(%x: tensor<?x8xf64>, %g: tensor<8xf64>) -> tensor<?x8xf64> {
  %0 = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>
  attn.yield %0 : tensor<?x8xf64>
})mlir",
     "'attn.layer_norm' op not supported by the Halide target: expected "
     "tensors of f32, f16 or bf16, got result type 'tensor<?x8xf64>'"},
    {"BitsOfHalfPrecision", castKernel("arith.bitcast", "f16", "i16"),
     "'arith.bitcast' op not supported by the Halide target: bits of 16-bit "
     "numbers (because a kernel computes with f32)"},
    {"DoubleToHalfPrecision", castKernel("arith.truncf", "f64", "f16"),
     "'arith.truncf' op not supported by the Halide target: f64 to 16 bits "
     "(because it would be rounded twice)"},
    {"OtherOperation", R"mlir(
attn.kernel @rowwise_0(%x: tensor<?x2x4xf32>) -> tensor<?x8xf32> {
  %0 = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  attn.yield %0 : tensor<?x8xf32>
})mlir",
     "'tensor.collapse_shape' op not supported by the Halide target in a "
     "row-wise kernel"},
    {"ScalarResult", R"mlir(
attn.kernel @rowwise_0(%x: tensor<f32>) -> tensor<f32> {
  %0 = attn.relu %x : tensor<f32>
  attn.yield %0 : tensor<f32>
})mlir",
     "'attn.kernel' op not supported by the Halide target: result of type "
     "'tensor<f32>'"},
    {"PoolOfNorm", R"mlir(
attn.kernel @pool_0(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>
  %1 = attn.pool %0<mean> : tensor<?x?x8xf32> -> tensor<?x8xf32>
  attn.yield %1 : tensor<?x8xf32>
})mlir",
     "'attn.pool' op not supported by the Halide target: expected a pool of an "
     "argument or of element-wise operations, got one of attn.layer_norm"},
};
INSTANTIATE_TEST_SUITE_P(Rowwise, KernelErrors, ::testing::ValuesIn(rowwise),
                         [](const auto &info) { return info.param.name; });

/// A linalg.generic of %x, whose result has 3 elements. The body ends in
/// linalg.yield and may use %a and %o.
std::string genericKernel(const char *input, const char *map,
                          const char *resultMap, const char *loops,
                          const char *body) {
  return llvm::formatv(R"mlir(
attn.kernel @generic_0(%x: {0}) -> tensor<3xf32> {{
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<{1}>, affine_map<{2}>], iterator_types = [{3}]}
      ins(%x : {0}) outs(%e : tensor<3xf32>) {{
  ^bb0(%a: f32, %o: f32):
    {4}
  } -> tensor<3xf32>
  attn.yield %y : tensor<3xf32>
})mlir",
                       input, map, resultMap, loops, body);
}

const char rows[] = "(d0, d1) -> (d0)", all[] = "(d0, d1) -> (d0, d1)";

const Refusal generic[] = {
    {"OutputMisses",
     genericKernel("tensor<3x4xf32>", all, rows, R"("parallel", "parallel")",
                   "linalg.yield %a : f32"),
     "'linalg.generic' op not supported by the Halide target: expected the "
     "output to have each parallel loop as a dimension and no other, got map "
     "affine_map<(d0, d1) -> (d0)>"},
    {"ReadsEmpty",
     genericKernel("tensor<3xf32>", "(d0) -> (d0)", "(d0) -> (d0)",
                   R"("parallel")", R"(%s = arith.addf %a, %o : f32
    linalg.yield %s : f32)"),
     "'linalg.generic' op expected an output with a value (because the body "
     "reads it), got tensor.empty"},
    {"ReductionIgnoresOutput",
     genericKernel("tensor<3x4xf32>", all, rows, R"("parallel", "reduction")",
                   "linalg.yield %a : f32"),
     "'linalg.generic' op not supported by the Halide target: a reduction "
     "whose body does not read its output"},
    {"ResultOfAnotherOperation", R"mlir(
attn.kernel @generic_0(%x: tensor<3x4xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  %z = attn.relu %y : tensor<4x3xf32>
  attn.yield %z : tensor<4x3xf32>
})mlir",
     "'attn.kernel' op not supported by the Halide target: expected results of "
     "linalg operations or attn.pack, got a value of type 'tensor<4x3xf32>'"},
    {"NormInFront", R"mlir(
attn.kernel @generic_0(%x: tensor<3x4xf32>, %g: tensor<4xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %n = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>
  %y = linalg.transpose ins(%n : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  attn.yield %y : tensor<4x3xf32>
})mlir",
     "'attn.kernel' op not supported by the Halide target: a sum along rows in "
     "front of a linalg operation"},
};
INSTANTIATE_TEST_SUITE_P(Generic, KernelErrors, ::testing::ValuesIn(generic),
                         [](const auto &info) { return info.param.name; });

} // namespace

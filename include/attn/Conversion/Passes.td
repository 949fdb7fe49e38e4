//===- Passes.td - passes that leave the attn dialect ------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One def a pass, in the form that attn/Transforms/Passes.td explains.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAttnToLoopsPass : Pass<"convert-attn-to-loops", "::mlir::ModuleOp"> {
  let summary = "turn kernels with a loops schedule into functions of linalg, tensor and scf";
  let description = [{
    The second way from the tiled level to machine code: slow, simple, and after this pass nothing but upstream dialects.
    Each `attn.kernel` with `schedule = #attn.loops_schedule` becomes a private `func.func`, and each `attn.call` of it
    a `func.call`. Kernels with another schedule stay as they are.

    A tile of rank 2 becomes a tensor of its shape and two indices, the rows and columns that are inside the tensor it
    was loaded from; a tile of rank 1 becomes a tensor. The loops stay. A tile operation becomes a `linalg.generic` with
    its region inside:

    | what                                       | how it is kept                                                   |
    |--------------------------------------------|------------------------------------------------------------------|
    | a hidden pair, one past the edge           | a score of -inf, selected and not added                          |
    | a hidden pair has weight 0                 | selected, whatever the maximum is                                |
    | a pair that is seen has a weight above 0   | at least the least normal number, so that a NaN in its value shows |
    | a hidden value adds nothing, NaN included  | selected by the weight                                           |
    | equal maxima rescale by 1, -inf too        | selected                                                         |
    | nothing past the edge is read              | a tile is filled with 0 past its edge                            |
    | a tile that shows no pair is skipped       | `attn.tile_any` asks for one pair after the other                |

    Kernels without tiles become `linalg.generic` as well, with sums in f32, or f64 for f64 tensors. Indices of
    `tensor.extract` are kept inside the tensor, and an integer division without a value gives 0, as in the other way.

    Before:
    ```mlir
    attn.kernel @relu_0(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.loops_schedule} {
      %y = attn.relu %x : tensor<?x8xf32>
      attn.yield %y : tensor<?x8xf32>
    }
    func.func @main(%x: tensor<?x8xf32>, %init: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = attn.call @relu_0 ins(%x : tensor<?x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    ```
    After:
    ```mlir
    func.func private @relu_0(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      ...
      %y = linalg.generic ... ins(%x : tensor<?x8xf32>) outs(%init : tensor<?x8xf32>) {
      ^bb0(%in: f32, %out: f32):
        %zero = arith.constant 0.000000e+00 : f32
        %shown = arith.cmpf ugt, %in, %zero : f32
        %r = arith.select %shown, %in, %zero : f32
        linalg.yield %r : f32
      } -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    func.func @main(%x: tensor<?x8xf32>, %init: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = call @relu_0(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    ```

    - Requires: `attn-tile` and `attn-schedule` have run.
    - Guarantees: no kernel with a loops schedule remains, and no operation of the attn dialect in the functions
      that took their place.
    - Rejects: an `attn.attention` that is not tiled, operations of the graph level that fusion rewrites, and tiles in
      other operations than those of the attn and scf dialects (error at the operation).
    - Place: first step of the host target, which inlines the calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ATTN_CONVERSION_PASSES_TD

//===- AttnFusedOps.td - fused level: one op a kernel ------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNFUSEDOPS_TD
#define ATTN_DIALECT_IR_ATTNFUSEDOPS_TD
include "attn/Dialect/IR/AttnModelOps.td"

def Attn_AttentionOp : Attn_GraphOp<"attention", [IsolatedFromAbove]> {
  let summary = "fused attention: any rule over query, key and position, no score tensor";
  let description = [{
    Four optional regions, each with the captures as trailing arguments. h is the query head, i and j
    index the whole of Q and K.

    | region    | arguments                      | absent means |
    |-----------|--------------------------------|--------------|
    | `combine` | q, k, b, h, i, j, d (summed over d) | q * k    |
    | `score`   | s, b, h, i, j                  | s            |
    | `mask`    | b, h, i, j, to i1              | true         |
    | `value`   | v, b, h, i, j, d               | v            |

    s = score(scale * sum_d combine(q, k)); o = sum_j softmax_j(s where mask) value(v). A row that sees
    nothing is zero and its lse is -inf. `key_ranges` is set by `attn-analyze-masks`.
  }];
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$query, Attn_FloatTensorOfRank<[4]>:$key, Attn_FloatTensorOfRank<[4]>:$value,
                       AnyFloat:$scale, Variadic<AnyType>:$captures, Attn_LayoutAttr:$layout, OptionalAttr<Attn_KeyRangesAttr>:$key_ranges);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result, Optional<Attn_FloatTensorOfRank<[3]>>:$lse);
  let regions = (region AnyRegion:$combine, AnyRegion:$score, AnyRegion:$mask, AnyRegion:$values);
  let assemblyFormat = [{
    $query `,` $key `,` $value `scale` `(` $scale `:` type($scale) `)`
    (`capture` `(` $captures^ `:` type($captures) `)`)? `layout` `(` custom<Layout>($layout) `)` (`key_ranges` $key_ranges^)?
    (`combine` $combine^)? (`score` $score^)? (`mask` $mask^)? (`value` $values^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_FusedLinearOp : Attn_GraphOp<"fused_linear", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "linear layer with an element-wise epilogue and an optional layer norm of each row";
  let description = [{
    acc[m, n] = sum_k input[m, k] weight[n, k]; y[m, n] = epilogue(acc, m, n, captures...); then, if gamma and
    beta are given, layer norm over n. `input` is (M, K); `weight` is (N, K), or packed panels (P, K, panel).
    ```mlir
    %y = attn.fused_linear %x, %w capture(%bias : tensor<1536xf32>) epilogue {
    ^bb0(%acc: f32, %m: index, %n: index, %b: tensor<1536xf32>):
      %0 = tensor.extract %b[%n] : tensor<1536xf32>
      %1 = arith.addf %acc, %0 : f32
      %2 = attn.gelu %1<erf> : f32
      attn.yield %2 : f32
    } : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
    ```
  }];
  let arguments = (ins Attn_FloatTensorOfRank<[2]>:$input, Attn_FloatTensorOfRank<[2, 3]>:$weight, Variadic<AnyType>:$captures,
                       Optional<Attn_FloatTensorOfRank<[1]>>:$gamma, Optional<Attn_FloatTensorOfRank<[1]>>:$beta, OptionalAttr<F64Attr>:$epsilon);
  let results = (outs Attn_FloatTensorOfRank<[2]>:$result);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`capture` `(` $captures^ `:` type($captures) `)`)? (`epilogue` $epilogue^)?
    (`layer_norm` `(` $gamma^ `,` $beta `:` type($gamma) `,` type($beta) `)` `epsilon` `(` custom<F64>($epsilon) `)`)? attr-dict
    `:` type($input) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNFUSEDOPS_TD

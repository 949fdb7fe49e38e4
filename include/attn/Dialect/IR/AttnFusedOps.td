//===- AttnFusedOps.td - fused level: one op a kernel ------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a kernel computes, in one operation: the product at its core is fixed,
// everything element-wise around it is a region.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNFUSEDOPS_TD
#define ATTN_DIALECT_IR_ATTNFUSEDOPS_TD
include "attn/Dialect/IR/AttnModelOps.td"

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

def Attn_AttentionOp : Attn_GraphOp<"attention", [AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "fused attention: any rule over query, key and position, no score tensor";
  let description = [{
    h is the query head, i and j index the whole of the queries and keys, g = h / (H / G).

        s[b, h, i, j] = score(scale * sum_d combine(query[b, h, i, d], key[b, g, j, d]))
        p[b, h, i, :] = softmax of s[b, h, i, :] over the j that mask shows, and the sink of h
        result[b, h, i, d] = sum_j p[b, h, i, j] * value(value[b, g, j, d])
        lse[b, h, i] = log(sum_j exp(s[b, h, i, j]) + exp(sinks[h])) over the j that mask shows

    Shapes are those of layout bshd, and `layout` permutes those of `query`, `key`, `value` and result.

    | value    | shape       | type                       |
    |----------|-------------|----------------------------|
    | `query`  | B, N, H, D  | float                      |
    | `key`    | B, M, G, D  | float                      |
    | `value`  | B, M, G, Dv | float                      |
    | `scale`  |             | f32, f64                   |
    | `sinks`  | H           | float                      |
    | captures | any         | tensors, indices, numbers  |
    | result   | B, N, H, Dv | float                      |
    | `lse`    | B, H, N     | f32, f64                   |

    `sinks` are as in `attn.softmax`: a logit of each head that joins the sum and nothing else.

    With `chunk(S)` the keys are cut into C = ceil(M / S) chunks of S, and the results are those of each
    chunk alone: `result` is C, B, N, H, Dv (the first dimension in front of the layout's), `lse` is C, B, H, N.
    Part c is over the keys with c * S <= j < (c + 1) * S; its positions j are still those of the whole.

    Four optional regions are the algebra that masks, biases and other rules are written in.
    T is f64 for f64 tensors and f32 for all others. The captures follow as arguments of every
    region; a region reads nothing else from outside, and tensors by `tensor.extract`.

    | region    | arguments                      | yields | absent means |
    |-----------|--------------------------------|--------|--------------|
    | `combine` | q: T, k: T, b, h, i, j, d      | T      | q * k        |
    | `score`   | s: T, b, h, i, j               | T      | s            |
    | `mask`    | b, h, i, j                     | i1     | true         |
    | `value`   | v: T, b, h, i, j, d            | T      | v            |

    Numerics: products, maxima and sums in T. A hidden pair is as if its key were not there: a
    NaN or infinity in its score, key or value changes nothing. A score that is -inf without `mask`
    weighs 0, but a NaN or infinity in its value shows: hide pairs by `mask` where values may hold any. A
    row that sees nothing is zero and its `lse` is -inf, or its sink; no other row divides by zero.

    **Constraints**
    - (C1) B, D and M of `query`, `key` and `value` are equal.
    - (C2) H, G, D and Dv are static, and H is a multiple of G.
    - (C3) The result has the layout of `query`, with Dv for D; `lse` is (B, H, N).
    - (C4) `query`, `key`, `value` and result are all f64 or none is; each of the others may be f32, f16 or
      bf16. `scale` and `lse` are of T.
    - (C5) A capture is a ranked tensor, an index, an integer or a float.
    - (C6) A region that is there has one block with the arguments of its row, then the captures.
    - (C7) A region yields one value of its row's type.
    - (C8) `sinks` has H elements.
    - (C9) With `chunk(S)`, S is positive, there is an `lse` (without it parts cannot be merged), and no `sinks`
      (they would count once a chunk). A static C is ceil(M / S).

    Lifetime: made by `attn-fuse-attention`; `attn-split-keys` sets `chunk`; `attn-analyze-masks` sets `key_ranges`; `attn-tile`
    opens it into loops over tiles.

    Example, a causal soft-capped attention:
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%c : f32) capture(%cap : f32) layout(bshd)
    score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %cap_in: f32):
      %0 = arith.divf %s, %cap_in : f32
      %1 = math.tanh %0 : f32
      %2 = arith.mulf %1, %cap_in : f32
      attn.yield %2 : f32
    } mask {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %cap_in: f32):
      %visible = arith.cmpi ule, %j, %i : index
      attn.yield %visible : i1
    } : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>
        -> tensor<?x?x12x32xf32>, tensor<?x12x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Queries.">:$query,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Keys.">:$key,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Values.">:$value,
                       Arg<AnyFloat, "Factor of each product, before `score`.">:$scale,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "A logit of each head, in the sum only.">:$sinks,
                       Arg<Variadic<AnyType>, "What the regions read.">:$captures,
                       Attn_LayoutAttr:$layout, OptionalAttr<I64Attr>:$chunk,
                       OptionalAttr<Attn_KeyRangesAttr>:$key_ranges);
  let results = (outs Res<Attn_FloatTensorOfRank<[4, 5]>, "One mixed value a query and head.">:$result,
                      Res<Optional<Attn_FloatTensorOfRank<[3, 4]>>, "Natural log-sum-exp of each row.">:$lse);
  let regions = (region AnyRegion:$combine, AnyRegion:$score, AnyRegion:$mask, AnyRegion:$values);
  let assemblyFormat = [{
    $query `,` $key `,` $value `scale` `(` $scale `:` type($scale) `)` (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`capture` `(` $captures^ `:` type($captures) `)`)? `layout` `(` custom<Layout>($layout) `)`
    (`chunk` `(` $chunk^ `)`)? (`key_ranges` $key_ranges^)?
    (`combine` $combine^)? (`score` $score^)? (`mask` $mask^)? (`value` $values^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($lse)^)?
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.fused_linear
//===----------------------------------------------------------------------===//

def Attn_FusedLinearOp : Attn_GraphOp<"fused_linear", [AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "linear layer with an element-wise epilogue and an optional norm of each row";
  let description = [{
    `epilogue` is what follows the product element by element: bias, activation, residual. A norm
    over n may follow: `gamma` and `beta` ask for a layer norm, as `attn.layer_norm` defines it,
    `gamma` alone for an RMS norm, as `attn.rms_norm` does.

        acc[m, n] = sum_k input[m, k] * weight[n, k]
        y[m, n] = epilogue(acc[m, n], m, n, captures...)
        result[m, n] = y[m, n], (y[m, n] - mean) / sqrt(variance + epsilon) * gamma[n] + beta[n]
                       or y[m, n] / sqrt(sum_n y[m, n]^2 / N + epsilon) * gamma[n]

    | value           | shape                              | type                      |
    |-----------------|------------------------------------|---------------------------|
    | `input`         | M, K                               | float                     |
    | `weight`        | N, K or ceil(N / panel), K, panel  | float                     |
    | captures        | any                                | tensors, indices, numbers |
    | `gamma`, `beta` | N                                  | float                     |
    | result          | M, N                               | float                     |

    T is f64 for f64 tensors and f32 for all others. The region's arguments are acc: T, m: index,
    n: index and the captures, and it yields a T; absent, y is acc. Packed weights are those of `attn.pack`.

    **Constraints**
    - (C1) K of `input` and `weight` are equal, and K and N are static.
    - (C2) A weight of rank 3 has ceil(N / panel) panels.
    - (C3) `gamma` and `epsilon` are both there or both absent, and `beta` is absent without them;
      `gamma` and `beta` have N elements, and `epsilon` is finite and not negative.
    - (C4) The result is (M, N).
    - (C5) The element types are equal.
    - (C6) A capture is a ranked tensor, an index, an integer or a float.
    - (C7) The region, if there, has one block with the arguments above and yields one T.

    Lifetime: made by `attn-fuse-linear`. At the tiled level its kernel has a schedule and its weight
    is packed.

    Example:
    ```mlir
    %y = attn.fused_linear %x, %w capture(%bias : tensor<1536xf32>) epilogue {
    ^bb0(%acc: f32, %m: index, %n: index, %b: tensor<1536xf32>):
      %0 = tensor.extract %b[%n] : tensor<1536xf32>
      %1 = arith.addf %acc, %0 : f32
      %2 = attn.gelu %1<erf> : f32
      attn.yield %2 : f32
    } : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
    %z = attn.fused_linear %y, %v layer_norm(%gamma, %beta : tensor<384xf32>, tensor<384xf32>) epsilon(1.0e-12)
        : tensor<?x1536xf32>, tensor<384x1536xf32> -> tensor<?x384xf32>
    %r = attn.fused_linear %y, %v rms_norm(%gamma : tensor<384xf32>) epsilon(1.0e-6)
        : tensor<?x1536xf32>, tensor<384x1536xf32> -> tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[2]>, "Rows of K channels.">:$input,
                       Arg<Attn_FloatTensorOfRank<[2, 3]>, "Rows of weights, or panels of them.">:$weight,
                       Arg<Variadic<AnyType>, "What the epilogue reads.">:$captures,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "Gain of each channel.">:$gamma,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "Offset of each channel.">:$beta,
                       OptionalAttr<F64Attr>:$epsilon);
  let results = (outs Res<Attn_FloatTensorOfRank<[2]>, "Rows of N channels.">:$result);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`capture` `(` $captures^ `:` type($captures) `)`)? (`epilogue` $epilogue^)?
    custom<RowNorm>($gamma, type($gamma), $beta, type($beta), $epsilon) attr-dict
    `:` type($input) `,` type($weight) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNFUSEDOPS_TD

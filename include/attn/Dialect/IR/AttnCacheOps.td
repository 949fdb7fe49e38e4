//===- AttnCacheOps.td - positions and earlier keys --------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What decoding adds to attention: rotary positions, a cache that new keys and
// values are written into, and the merge of results over different keys.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNCACHEOPS_TD
#define ATTN_DIALECT_IR_ATTNCACHEOPS_TD
include "attn/Dialect/IR/AttnScoreOps.td"

//===----------------------------------------------------------------------===//
// attn.rotary
//===----------------------------------------------------------------------===//

def Attn_RotaryOp : Attn_GraphOp<"rotary", [AllTypesMatch<["input", "result"]>]> {
  let summary = "turns channel pairs by an angle that grows with the position";
  let description = [{
    The first R of D channels turn in pairs (x, y), those behind stay; R / 2 is the width of `cos`.

        x' = x * cos[p, c] - y * sin[p, c]
        y' = x * sin[p, c] + y * cos[p, c]

        half:         x, y = channels c and c + R / 2
        interleaved:  x, y = channels 2c and 2c + 1

    p is the position of (b, s): `positions[b, s]` or, without `positions`, s. The tables then are read
    at [s, c], or at [b, s, c] where they have rank 3; a batch of 1 serves all rows. Shapes are those
    of layout bshd, and `layout` permutes those of input and result.

    | value           | without `positions`       | with       | type     |
    |-----------------|---------------------------|------------|----------|
    | `input`, result | B, S, H, D                | B, S, H, D | float    |
    | `cos`, `sin`    | S, R/2; B or 1, S, R/2    | P, R/2     | float    |
    | `positions`     |                           | B or 1, S  | i32, i64 |

    A position outside 0 <= p < P is an error of the caller, which a compiled model reports
    (`attn.check_ids`).

    Numerics: in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) H, D and R are static, and R <= D.
    - (C2) `cos` and `sin` have the same shape, that of the table's row; B and S are those of `input`.
    - (C3) `positions` has the shape of the table's row.
    - (C4) The input and the result have the same type.

    Lifetime: graph level. `attn-generalize` turns it into an element-wise kernel.

    Example:
    ```mlir
    %0 = attn.rotary %q, %cos, %sin layout(bshd)<half>
        : tensor<?x?x12x64xf32>, tensor<1x?x32xf32>, tensor<1x?x32xf32>
    %1 = attn.rotary %q, %cosines, %sines positions(%p : tensor<?x?xi64>) layout(bshd)<interleaved>
        : tensor<?x?x12x64xf32>, tensor<4096x16xf32>, tensor<4096x16xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Queries or keys by head.">:$input,
                       Arg<Attn_FloatTensorOfRank<[2, 3]>, "Cosines of the angles.">:$cos,
                       Arg<Attn_FloatTensorOfRank<[2, 3]>, "Sines of the angles.">:$sin,
                       Arg<Optional<TensorRankOf<[I32, I64], [2]>>, "Row of the tables for each position.">:$positions,
                       Attn_LayoutAttr:$layout, Attn_RotaryFormAttr:$form);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "The turned vectors.">:$result);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin (`positions` `(` $positions^ `:` type($positions) `)`)?
    `layout` `(` custom<Layout>($layout) `)` `` $form attr-dict `:` type($input) `,` type($cos) `,` type($sin)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.cache_append
//===----------------------------------------------------------------------===//

def Attn_CacheAppendOp : Attn_GraphOp<"cache_append", [AllTypesMatch<["cache", "result"]>]> {
  let summary = "writes new keys or values behind those that a cache holds";
  let description = [{
    The cache has room for C positions, of which batch row b holds length[b].

        result[b, length[b] + s, g, d] = new[b, s, g, d]     for s < S
        result[b, p, g, d] = cache[b, p, g, d]               elsewhere

    Shapes are those of layout bshd, and `layout` permutes those of `cache`, `new` and result.

    | value           | shape      | type     |
    |-----------------|------------|----------|
    | `cache`, result | B, C, G, D | float    |
    | `new`           | B, S, G, D | float    |
    | `length`        | B          | i32, i64 |

    A length outside 0 <= length <= C - S is an error of the caller, which a compiled model reports
    (`attn.check_ids`); nothing is written then. The cache is written in place: nothing but the new
    rows moves, unless the former cache is read afterwards. In the text of a function afterwards means
    behind the append.

    **Constraints**
    - (C1) B, G and D of `cache` and `new` are equal, and `length` has B elements.
    - (C2) S <= C, where both are static.
    - (C3) The element types are equal.
    - (C4) `cache` and the result have the same type.

    In a compiled model the length is said as `0 <= length[b] < C - S + 1`. A cache that is an input is copied to the
    result that is an output, and stays as it is, as every input does. A caller that needs the former cache no more passes
    its memory as that output too: then nothing is copied, and nothing but the new rows is written. The model's description says
    where that is allowed (`in_place`): where nothing reads the former cache afterwards.

    Lifetime: graph level. `attn-generalize` turns it into stores of slices.

    Example:
    ```mlir
    %0 = attn.cache_append %cache, %k at(%length : tensor<?xi64>) layout(bshd)
        : tensor<?x2048x4x64xf32>, tensor<?x1x4x64xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Room for C positions.">:$cache,
                       Arg<Attn_FloatTensorOfRank<[4]>, "What is written.">:$update,
                       Arg<TensorRankOf<[I32, I64], [1]>, "Number of positions that each row holds.">:$length,
                       Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "The cache with the new positions.">:$result);
  let assemblyFormat = [{
    $cache `,` $update `at` `(` $length `:` type($length) `)` `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($cache) `,` type($update)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.merge_attention
//===----------------------------------------------------------------------===//

def Attn_MergeAttentionOp : Attn_NamedOp<"merge_attention", "merged", [Pure,
    AllTypesMatch<["first", "second", "result"]>, AllTypesMatch<["first_lse", "second_lse", "lse"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForShapedValueDim"]>]> {
  let summary = "one attention over two sets of keys, from the attentions over each";
  let description = [{
    The results over disjoint keys, weighted by their log-sum-exps, are the result over all keys:

        lse = log(exp(first_lse) + exp(second_lse))
        result = exp(first_lse - lse) * first + exp(second_lse - lse) * second

    Shapes are those of layout bshd, and `layout` permutes those of `first`, `second` and result.

    | value                             | shape       | type     |
    |-----------------------------------|-------------|----------|
    | `first`, `second`, result         | B, N, H, Dv | float    |
    | `first_lse`, `second_lse`, `lse`  | B, H, N     | f32, f64 |

    Numerics: in the type of `lse`. A part whose log-sum-exp is -inf has weight exactly 0, and its
    result is not looked at: the other part comes back bit by bit. Both -inf give zero and -inf.

    **Constraints**
    - (C1) B, N and H of `first` and `first_lse` are equal.
    - (C2) `first_lse` is f64 for f64 tensors and f32 for all others.
    - (C3) `first`, `second` and the result have the same type, and so have the log-sum-exps.

    Lifetime: graph level. `attn-generalize` turns it into element-wise kernels.

    Example:
    ```mlir
    %o, %lse = attn.merge_attention (%o1, %lse1), (%o2, %lse2) layout(bshd)
        : tensor<?x?x12x64xf32>, tensor<?x12x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Attention over some keys.">:$first,
                       Arg<Attn_FloatTensorOfRank<[3]>, "Its log-sum-exp.">:$first_lse,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Attention over other keys.">:$second,
                       Arg<Attn_FloatTensorOfRank<[3]>, "Its log-sum-exp.">:$second_lse,
                       Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Attention over all keys.">:$result,
                      Res<Attn_FloatTensorOfRank<[3]>, "Its log-sum-exp.">:$lse);
  let assemblyFormat = [{
    ` ` `(` $first `,` $first_lse `)` `,` `(` $second `,` $second_lse `)` `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($first) `,` type($first_lse)
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNCACHEOPS_TD

//===- AttnOps.td - graph level: attention step by step ----*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operations between a projection and the merged heads, as the literature
// names them. The layers around them are in AttnLayerOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNOPS_TD
#define ATTN_DIALECT_IR_ATTNOPS_TD
include "attn/Dialect/IR/AttnAttrs.td"
include "attn/Dialect/IR/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ValueBoundsOpInterface.td"

def Attn_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
class Attn_FloatTensorOfRank<list<int> ranks> : TensorRankOf<[F16, BF16, F32, F64], ranks>;
def Attn_IntTensor : RankedTensorOf<[I1, I8, I32, I64]>;
def Attn_Offsets : TensorRankOf<[I64], [1]>;
def Attn_OptionalAlignment : DefaultValuedAttr<Attn_AlignmentAttr, "::attn::Alignment::TopLeft">;
def Attn_FloatLike : AnyTypeOf<[F16, BF16, F32, F64, Attn_FloatTensor]>;

// Every graph op is pure and reports the sizes of its results in terms of its
// operands, to the two upstream interfaces that ask for them.
class Attn_GraphOp<string mnemonic, list<Trait> traits = [],
                   list<string> namedParts = ["getAsmResultNames"]>
    : Attn_NamedOp<mnemonic, mnemonic, !listconcat(traits, [Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForShapedValueDim"]>]), namedParts>;

//===----------------------------------------------------------------------===//
// attn.split_heads
//===----------------------------------------------------------------------===//

def Attn_SplitHeadsOp : Attn_GraphOp<"split_heads"> {
  let summary = "cuts the channels of each position into heads";
  let description = [{
    Reads the H * D channels of a position as H heads of D channels.

        bshd:  result[b, s, h, d] = input[b, s, h * D + d]
        bhsd:  result[b, h, s, d] = input[b, s, h * D + d]
        sbhd:  result[s, b, h, d] = input[s, b, h * D + d]

    | value   | shape, bshd | bhsd       | sbhd       | type  |
    |---------|-------------|------------|------------|-------|
    | `input` | B, S, H*D   | B, S, H*D  | S, B, H*D  | float |
    | result  | B, S, H, D  | B, H, S, D | S, B, H, D | float |

    **Constraints**
    - (C1) H of the result is `heads`, and H and D are static.
    - (C2) The input has H * D channels.
    - (C3) B and S of the input and of the result are equal.
    - (C4) The element types are equal.

    Lifetime: graph level. `attn-fuse-linear` turns it into a view.

    Example:
    ```mlir
    %heads = attn.split_heads %x heads(12) layout(bshd) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[3]>, "Positions with all channels.">:$input,
                       ConfinedAttr<I64Attr, [IntPositive]>:$heads, Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Positions with channels by head.">:$result);
  let assemblyFormat = [{
    $input `heads` `(` $heads `)` `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.merge_heads
//===----------------------------------------------------------------------===//

def Attn_MergeHeadsOp : Attn_GraphOp<"merge_heads"> {
  let summary = "puts the heads of each position side by side";
  let description = [{
    The inverse of `attn.split_heads`.

        bshd:  result[b, s, h * D + d] = input[b, s, h, d]
        bhsd:  result[b, s, h * D + d] = input[b, h, s, d]
        sbhd:  result[s, b, h * D + d] = input[s, b, h, d]

    | value   | shape, bshd | bhsd       | sbhd       | type  |
    |---------|-------------|------------|------------|-------|
    | `input` | B, S, H, D  | B, H, S, D | S, B, H, D | float |
    | result  | B, S, H*D   | B, S, H*D  | S, B, H*D  | float |

    **Constraints**
    - (C1) H and D are static, and the result has H * D channels.
    - (C2) B and S of the input and of the result are equal.
    - (C3) The element types are equal.

    Lifetime: graph level. `attn-fuse-linear` turns it into a view.

    Example:
    ```mlir
    %x = attn.merge_heads %heads layout(bshd) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Positions with channels by head.">:$input,
                       Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[3]>, "Positions with all channels.">:$result);
  let assemblyFormat = [{
    $input `layout` `(` custom<Layout>($layout) `)` attr-dict `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.scores
//===----------------------------------------------------------------------===//

def Attn_ScoresOp : Attn_GraphOp<"scores", [AttrSizedOperandSegments]> {
  let summary = "scaled products of queries and keys";
  let description = [{
    How well each key answers each query. Where there are fewer key heads than query
    heads, H / G neighbouring query heads share a key head; keys are never repeated.

        result[b, h, i, j] = scale * sum_d query[b, h, i, d] * (key[b, h / (H / G), j, d] + a[d])
        a[d] = relative[clip(j - i - shift, -C, C) + C, d], or 0 without `relative`

    `relative` holds a learned vector for each distance from -C to C (Shaw et al.); `shift` is as in
    `#attn.causal`. Shapes are those of layout bshd, and `layout` permutes them.

    | value      | shape      | type         |
    |------------|------------|--------------|
    | `query`    | B, N, H, D | float        |
    | `key`      | B, M, G, D | float        |
    | `scale`    |            | f32, f64     |
    | `relative` | 2C + 1, D  | float        |
    | `offsets`  | B          | i64          |
    | result     | B, H, N, M | float        |

    Numerics: summed in f32, in f64 for f64 tensors. `scale` is 1 / sqrt(D) where absent; it may be
    any number, negative ones included.

    **Constraints**
    - (C1) B and D of `query` and `key` are equal, and D is static.
    - (C2) H and G are static, and H is a multiple of G.
    - (C3) The result is (B, H, N, M), for each layout.
    - (C4) `scale` is f64 for f64 tensors and f32 for all others.
    - (C5) `query` and `key` are both f64 or none is; `relative` and the result have the element type
      of `query`.
    - (C6) `relative` has D columns and an odd, static number of rows.
    - (C7) `offsets` is there exactly if `alignment` is `offset`, and `alignment` only with `relative`.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %s = attn.scores %q, %k layout(bshd)
        : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
    %t = attn.scores %q, %k scale(%c : f32) relative(%a : tensor<33x32xf32>) aligned(bottom_right) layout(bshd)
        : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Queries.">:$query,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Keys.">:$key,
                       Arg<Optional<AnyFloat>, "Factor of each product, 1 / sqrt(D) where absent.">:$scale,
                       Arg<Optional<Attn_FloatTensorOfRank<[2]>>, "A vector for each distance.">:$relative,
                       Arg<Optional<Attn_Offsets>, "Shift of each batch row.">:$offsets,
                       Attn_LayoutAttr:$layout, Attn_OptionalAlignment:$alignment);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores before masks and softmax.">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$query, "::mlir::Value":$key,
                                 "::mlir::Value":$scale, "::attn::Layout":$layout)>];
  let assemblyFormat = [{
    $query `,` $key (`scale` `(` $scale^ `:` type($scale) `)`)? (`relative` `(` $relative^ `:` type($relative) `)`)?
    (`aligned` `(` custom<Aligned>($alignment, $offsets, type($offsets))^ `)`)? `layout` `(` custom<Layout>($layout) `)`
    attr-dict `:` type($query) `,` type($key) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Attn_AdditiveScoresOp : Attn_GraphOp<"additive_scores"> {
  let summary = "additive scores of projected queries and keys (Bahdanau)";
  let description = [{
    A small network looks at each pair instead of a product. The projections of queries and keys
    are layers of their own.

        result[b, h, i, j] = sum_d vector[h, d] * tanh(query[b, h, i, d] + key[b, h / (H / G), j, d])

    Shapes are those of layout bshd, and `layout` permutes them.

    | value    | shape      | type  |
    |----------|------------|-------|
    | `query`  | B, N, H, D | float |
    | `key`    | B, M, G, D | float |
    | `vector` | D or H, D  | float |
    | result   | B, H, N, M | float |

    Numerics: summed in f32, in f64 for f64 tensors. There is no 1 / sqrt(D).

    **Constraints**
    - (C1) B and D of `query`, `key` and `vector` are equal, and D is static.
    - (C2) H and G are static, and H is a multiple of G; H of `vector`, if it has one, is that of `query`.
    - (C3) The result is (B, H, N, M), for each layout.
    - (C4) `query` and `key` are both f64 or none is; `vector` and the result have the element type
      of `query`.

    Lifetime: graph level. `attn-fuse-attention` makes it the `combine` region of an `attn.attention`.

    Example:
    ```mlir
    %s = attn.additive_scores %q, %k, %w layout(bshd)
        : tensor<?x?x1x64xf32>, tensor<?x?x1x64xf32>, tensor<64xf32> -> tensor<?x1x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Projected queries.">:$query,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Projected keys.">:$key,
                       Arg<Attn_FloatTensorOfRank<[1, 2]>, "Weight of each channel.">:$vector,
                       Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores before masks and softmax.">:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $vector `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($query) `,` type($key) `,` type($vector) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.mask
//===----------------------------------------------------------------------===//

def Attn_MaskOp : Attn_GraphOp<"mask", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "hides the pairs that a rule does not show";
  let description = [{
    Several masks in a row hide what any of them hides.

        result[b, h, i, j] = rule shows (b, h, i, j) ? scores[b, h, i, j] : -inf

    A float `dense` rule adds its operand to the scores, and hides where that is -inf.

    | rule                                      | `inputs`                  | type                    |
    |-------------------------------------------|---------------------------|-------------------------|
    | `causal`, `window`, `chunked`, `dilated`  | none; B with `offset`     | i64                     |
    | `blocks`                                  | none                      |                         |
    | `prefix`, `key_lengths`, `query_lengths`  | B                         | i32, i64                |
    | `key_padding`                             | B, M                      | i1, i8, i32, i64        |
    | `segments`                                | B, N and B, M             | i32, i64                |
    | `global`                                  | B, N and B, M             | i1, i8, i32, i64        |
    | `dense`                                   | broadcasts to B, H, N, M  | i1, float               |
    | `any_of`, `all_of`, `not`                 | those of their rules      | those of their rules    |

    A hidden pair takes no part in anything that follows, even if its score or its value
    is NaN. A query that sees nothing has all scores -inf and its result is zero.

    **Constraints**
    - (C1) There are as many `inputs` as the rule's row names.
    - (C2) Each input has the shape of the rule's row.
    - (C3) Each input has a type of the rule's row; the two of `segments` have the same.
    - (C4) `scores` and the result have the same type.
    - (C5) A `dense` rule inside a composition reads an i1 tensor.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %0 = attn.mask %s by causal<top_left> : tensor<?x12x?x?xf32>
    %1 = attn.mask %0 by key_padding(%attention_mask : tensor<?x?xi64>) : tensor<?x12x?x?xf32>
    %2 = attn.mask %s by any_of<[causal<offset>, prefix]>(%past, %prefix : tensor<?xi64>, tensor<?xi32>)
        : tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       Attn_MaskRule:$rule,
                       Arg<Variadic<AnyRankedTensor>, "What the rule reads.">:$inputs);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores, -inf where hidden.">:$result);
  let assemblyFormat = [{
    $scores `by` custom<TypelessAttr>($rule) (`(` $inputs^ `:` type($inputs) `)`)? attr-dict
    `:` type($scores)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.softmax
//===----------------------------------------------------------------------===//

def Attn_SoftmaxOp : Attn_GraphOp<"softmax"> {
  let summary = "softmax over the last dimension, zero for a row of -inf";
  let description = [{
    The optional second result is the natural logarithm of each row's sum of exponentials. A
    *sink* is a learned logit of each head that takes part in the sum and has no value: the
    weights of a row then add up to less than 1.

        result[..., j] = exp(input[..., j] - m) / sum
        lse[...]       = m + log(sum)
        sum = sum_k exp(input[..., k] - m) + exp(sinks[h] - m)      with m = max(max_k input[..., k], sinks[h])

    | value   | shape  | type     |
    |---------|--------|----------|
    | `input` | ..., M | float    |
    | `sinks` | H      | float    |
    | result  | ..., M | float    |
    | `lse`   | ...    | f32, f64 |

    Numerics: an element of -inf has weight exactly 0. A row without any other element, or
    without elements, gives zeros and an `lse` of -inf, or of its sink. A NaN makes its row NaN.
    Summed in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) The input has rank 1 or more, and the result has its shape.
    - (C2) `lse` has the shape of the input without the last dimension.
    - (C3) The element types of input and result are equal; that of `lse` is f64 for f64
      tensors and f32 for all others.
    - (C4) With `sinks` the input is (B, H, N, M), and `sinks` has H elements.

    Lifetime: graph level. After scores, `attn-fuse-attention` makes it a part of
    `attn.attention`; elsewhere it becomes a row-wise kernel.

    Example:
    ```mlir
    %p = attn.softmax %s : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>
    %q, %lse = attn.softmax %s sinks(%t : tensor<12xf32>)
        : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows of scores.">:$input,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "A logit of each head, in the sum only.">:$sinks);
  let results = (outs Res<Attn_FloatTensor, "Weights that add up to 1, or to 0.">:$result,
                      Res<Optional<Attn_FloatTensor>, "Natural log-sum-exp of each row.">:$lse);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Type":$lse, "::mlir::Value":$input)>];
  let assemblyFormat = [{
    $input (`sinks` `(` $sinks^ `:` type($sinks) `)`)? attr-dict `:` type($input) `->` type($result) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.mix
//===----------------------------------------------------------------------===//

def Attn_MixOp : Attn_GraphOp<"mix", [AttrSizedOperandSegments]> {
  let summary = "mixes values by weights";
  let description = [{
    H / G neighbouring query heads share a value head.

        result[b, h, i, d] = sum_j weights[b, h, i, j] * (value[b, h / (H / G), j, d] + a[d])
        a[d] = relative[clip(j - i - shift, -C, C) + C, d], or 0 without `relative`

    `relative` is as in `attn.scores`. Shapes are those of layout bshd, and `layout` permutes those
    of `value` and result.

    | value      | shape      | type  |
    |------------|------------|-------|
    | `weights`  | B, H, N, M | float |
    | `value`    | B, M, G, D | float |
    | `relative` | 2C + 1, D  | float |
    | `offsets`  | B          | i64   |
    | result     | B, N, H, D | float |

    Numerics: a weight of exactly zero contributes nothing, even if the value is NaN or
    infinite. Summed in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) B and M of `weights` and `value` are equal.
    - (C2) H, G and D are static, and H is a multiple of G.
    - (C3) The result has the layout of `value`, with N for M and H for G.
    - (C4) `weights` and `value` are both f64 or none is; `relative` and the result have the element
      type of `weights`.
    - (C5) `relative` has D columns and an odd, static number of rows.
    - (C6) `offsets` is there exactly if `alignment` is `offset`, and `alignment` only with `relative`.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %o = attn.mix %p, %v layout(bshd)
        : tensor<?x12x?x?xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Weight of each value for each query.">:$weights,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Values.">:$value,
                       Arg<Optional<Attn_FloatTensorOfRank<[2]>>, "A vector for each distance.">:$relative,
                       Arg<Optional<Attn_Offsets>, "Shift of each batch row.">:$offsets,
                       Attn_LayoutAttr:$layout, Attn_OptionalAlignment:$alignment);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "One mixed value a query and head.">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$weights, "::mlir::Value":$value,
                                 "::attn::Layout":$layout)>];
  let assemblyFormat = [{
    $weights `,` $value (`relative` `(` $relative^ `:` type($relative) `)`)?
    (`aligned` `(` custom<Aligned>($alignment, $offsets, type($offsets))^ `)`)? `layout` `(` custom<Layout>($layout) `)`
    attr-dict `:` type($weights) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNOPS_TD

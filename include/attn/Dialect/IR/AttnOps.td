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

    | value   | shape                    | type  |
    |---------|--------------------------|-------|
    | `input` | B, S, H*D                | float |
    | result  | B, S, H, D or B, H, S, D | float |

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

    | value   | shape                    | type  |
    |---------|--------------------------|-------|
    | `input` | B, S, H, D or B, H, S, D | float |
    | result  | B, S, H*D                | float |

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

def Attn_ScoresOp : Attn_GraphOp<"scores"> {
  let summary = "scaled products of queries and keys";
  let description = [{
    How well each key answers each query. Where there are fewer key heads than query
    heads, H / G neighbouring query heads share a key head; keys are never repeated.

        result[b, h, i, j] = scale * sum_d query[b, h, i, d] * key[b, h / (H / G), j, d]

    | value   | shape                    | type           |
    |---------|--------------------------|----------------|
    | `query` | B, N, H, D or B, H, N, D | float          |
    | `key`   | B, M, G, D or B, G, M, D | float          |
    | `scale` |                          | f32, f64       |
    | result  | B, H, N, M               | float          |

    Numerics: summed in f32, in f64 for f64 tensors. `scale` is 1 / sqrt(D) where absent.

    **Constraints**
    - (C1) B and D of `query` and `key` are equal, and D is static.
    - (C2) H and G are static, and H is a multiple of G.
    - (C3) The result is (B, H, N, M), for either layout.
    - (C4) `scale` is f64 for f64 tensors and f32 for all others.
    - (C5) The element types are equal.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %s = attn.scores %q, %k layout(bshd)
        : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Queries.">:$query,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Keys.">:$key,
                       Arg<Optional<AnyFloat>, "Factor of each product, 1 / sqrt(D) where absent.">:$scale,
                       Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores before masks and softmax.">:$result);
  let assemblyFormat = [{
    $query `,` $key (`scale` `(` $scale^ `:` type($scale) `)`)? `layout` `(` custom<Layout>($layout) `)`
    attr-dict `:` type($query) `,` type($key) `->` type($result)
  }];
  let hasCanonicalizer = 1;
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

    | rule                                | `operand`                     | type                    |
    |-------------------------------------|-------------------------------|-------------------------|
    | `causal<top_left>`, `<bottom_right>`| none                          |                         |
    | `causal<offset>`                    | B                             | i64                     |
    | `window<left = l, right = r>`       | none; B with `offset`         | i64                     |
    | `key_lengths`                       | B                             | i32, i64                |
    | `key_padding`                       | B, M                          | i1, i8, i32, i64        |
    | `dense`                             | broadcasts to B, H, N, M      | i1, or that of `scores` |

    A hidden pair takes no part in anything that follows, even if its score or its value
    is NaN. A query that sees nothing has all scores -inf and its result is zero.

    **Constraints**
    - (C1) `operand` is there exactly if the rule's row names one.
    - (C2) `operand` has the shape of the rule's row.
    - (C3) `operand` has the type of the rule's row.
    - (C4) `scores` and the result have the same type.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %0 = attn.mask %s by causal<top_left> : tensor<?x12x?x?xf32>
    %1 = attn.mask %0 by key_padding(%attention_mask : tensor<?x?xi64>) : tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       AnyAttrOf<[Attn_CausalAttr, Attn_WindowAttr, Attn_KeyLengthsAttr,
                                  Attn_KeyPaddingAttr, Attn_DenseMaskAttr]>:$rule,
                       Arg<Optional<AnyRankedTensor>, "What the rule reads.">:$operand);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores, -inf where hidden.">:$result);
  let assemblyFormat = [{
    $scores `by` custom<TypelessAttr>($rule) (`(` $operand^ `:` type($operand) `)`)? attr-dict
    `:` type($scores)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.bias
//===----------------------------------------------------------------------===//

def Attn_BiasOp : Attn_GraphOp<"bias", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a tensor to the scores";
  let description = [{
    The bias broadcasts by NumPy's rule: its dimensions are those of the scores from the
    last one on, and a size of 1 repeats. A dynamic size is the size that it meets.

        result[b, h, i, j] = scores[b, h, i, j] + bias[b or 0, h or 0, i or 0, j or 0]

    | value    | shape                    | type  |
    |----------|--------------------------|-------|
    | `scores` | B, H, N, M               | float |
    | `bias`   | broadcasts to B, H, N, M | float |
    | result   | B, H, N, M               | float |

    **Constraints**
    - (C1) `bias` broadcasts to the shape of `scores`.
    - (C2) The element types are equal.
    - (C3) `scores` and the result have the same type.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %0 = attn.bias %s, %relative : tensor<?x12x?x?xf32>, tensor<12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       Arg<Attn_FloatTensor, "What is added.">:$bias);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores with the bias.">:$result);
  let assemblyFormat = "$scores `,` $bias attr-dict `:` type($scores) `,` type($bias)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.softmax
//===----------------------------------------------------------------------===//

def Attn_SoftmaxOp : Attn_GraphOp<"softmax"> {
  let summary = "softmax over the last dimension, zero for a row of -inf";
  let description = [{
    The optional second result is the natural logarithm of each row's sum of exponentials.

        result[..., j] = exp(input[..., j] - m) / sum_k exp(input[..., k] - m)
        lse[...]       = m + log(sum_k exp(input[..., k] - m))          with m = max_k input[..., k]

    | value   | shape  | type     |
    |---------|--------|----------|
    | `input` | ..., M | float    |
    | result  | ..., M | float    |
    | `lse`   | ...    | f32, f64 |

    Numerics: an element of -inf has weight exactly 0. A row without any other element, or
    without elements, gives zeros and an `lse` of -inf. A NaN makes its row NaN. Summed in f32, in
    f64 for f64 tensors.

    **Constraints**
    - (C1) The input has rank 1 or more, and the result has its shape.
    - (C2) `lse` has the shape of the input without the last dimension.
    - (C3) The element types of input and result are equal; that of `lse` is f64 for f64
      tensors and f32 for all others.

    Lifetime: graph level. After scores, `attn-fuse-attention` makes it a part of
    `attn.attention`; elsewhere it becomes a row-wise kernel.

    Example:
    ```mlir
    %p = attn.softmax %s : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>
    %q, %lse = attn.softmax %s : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows of scores.">:$input);
  let results = (outs Res<Attn_FloatTensor, "Weights that add up to 1, or to 0.">:$result,
                      Res<Optional<Attn_FloatTensor>, "Natural log-sum-exp of each row.">:$lse);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result) (`,` type($lse)^)?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.mix
//===----------------------------------------------------------------------===//

def Attn_MixOp : Attn_GraphOp<"mix"> {
  let summary = "mixes values by weights";
  let description = [{
    H / G neighbouring query heads share a value head.

        result[b, h, i, d] = sum_j weights[b, h, i, j] * value[b, h / (H / G), j, d]

    | value     | shape                    | type  |
    |-----------|--------------------------|-------|
    | `weights` | B, H, N, M               | float |
    | `value`   | B, M, G, D or B, G, M, D | float |
    | result    | B, N, H, D or B, H, N, D | float |

    Numerics: a weight of exactly zero contributes nothing, even if the value is NaN or
    infinite. Summed in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) B and M of `weights` and `value` are equal.
    - (C2) H, G and D are static, and H is a multiple of G.
    - (C3) The result has the layout of `value`, with N for M and H for G.
    - (C4) The element types are equal.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %o = attn.mix %p, %v layout(bshd)
        : tensor<?x12x?x?xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Weight of each value for each query.">:$weights,
                       Arg<Attn_FloatTensorOfRank<[4]>, "Values.">:$value, Attn_LayoutAttr:$layout);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "One mixed value a query and head.">:$result);
  let assemblyFormat = [{
    $weights `,` $value `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($weights) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNOPS_TD

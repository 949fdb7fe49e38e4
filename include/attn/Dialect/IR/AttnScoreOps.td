//===- AttnScoreOps.td - rules that change scores ----------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Between attn.scores and attn.softmax: formulas of a score, its head and its
// position. A score that a mask has hidden stays hidden under each of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNSCOREOPS_TD
#define ATTN_DIALECT_IR_ATTNSCOREOPS_TD
include "attn/Dialect/IR/AttnOps.td"

//===----------------------------------------------------------------------===//
// attn.bias
//===----------------------------------------------------------------------===//

def Attn_BiasOp : Attn_GraphOp<"bias", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a tensor to the scores";
  let description = [{
    The bias broadcasts by NumPy's rule: its dimensions are those of the scores from the
    last one on, and a size of 1 repeats. A dynamic size without a name in `attn.dims` is
    taken for the size that it meets.

        result[b, h, i, j] = scores[b, h, i, j] + bias[b or 0, h or 0, i or 0, j or 0]

    | value    | shape                    | type  |
    |----------|--------------------------|-------|
    | `scores` | B, H, N, M               | float |
    | `bias`   | broadcasts to B, H, N, M | float |
    | result   | B, H, N, M               | float |

    A score of -inf stays -inf, whatever is added.

    **Constraints**
    - (C1) `bias` broadcasts to the shape of `scores`.
    - (C2) `scores` and `bias` are both f64 or none is.
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
// attn.softcap
//===----------------------------------------------------------------------===//

def Attn_SoftcapOp : Attn_GraphOp<"softcap", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "squeezes scores smoothly into (-cap, cap)";
  let description = [{
        result[b, h, i, j] = cap * tanh(scores[b, h, i, j] / cap)

    | value            | shape      | type     |
    |------------------|------------|----------|
    | `scores`, result | B, H, N, M | float    |
    | `cap`            |            | f32, f64 |

    A score of -inf stays -inf: what a mask hid does not come back as -cap. A large score gives cap,
    not NaN.

    **Constraints**
    - (C1) `cap` is f64 for f64 tensors and f32 for all others.
    - (C2) A constant `cap` is finite and positive.
    - (C3) `scores` and the result have the same type.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %cap = arith.constant 5.000000e+01 : f32
    %0 = attn.softcap %s cap(%cap : f32) : tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       Arg<AnyFloat, "The bound.">:$cap);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores inside the bounds.">:$result);
  let assemblyFormat = "$scores `cap` `(` $cap `:` type($cap) `)` attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.alibi
//===----------------------------------------------------------------------===//

def Attn_AlibiOp : Attn_GraphOp<"alibi", [AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments]> {
  let summary = "biases scores by the distance of query and key, each head with its slope";
  let description = [{
        result[b, h, i, j] = scores[b, h, i, j] + slope[h] * (j - i - shift)
        symmetric:           scores[b, h, i, j] - slope[h] * abs(j - i - shift)

    Without `slopes` they are those of the paper. P is the largest power of two that is not above H:

        slope[h] = 2^(-8 (h + 1) / P)                for h < P
        slope[h] = 2^(-4 (2 (h - P) + 1) / P)        for h >= P, every second slope of 2 P heads

    `shift` is as in `#attn.causal`; under a causal mask of the same alignment each summand is 0 or less.

    | value            | shape      | type  |
    |------------------|------------|-------|
    | `scores`, result | B, H, N, M | float |
    | `slopes`         | H          | float |
    | `offsets`        | B          | i64   |

    A score of -inf stays -inf.

    **Constraints**
    - (C1) H is static, and `slopes` has H elements.
    - (C2) `offsets` is there exactly if `alignment` is `offset`, and has B elements.
    - (C3) `scores` and the result have the same type.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %0 = attn.alibi %s : tensor<?x12x?x?xf32>
    %1 = attn.alibi %s slopes(%m : tensor<12xf32>) symmetric aligned(bottom_right) : tensor<?x12x?x?xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "A slope of each head.">:$slopes,
                       Arg<Optional<Attn_Offsets>, "Shift of each batch row.">:$offsets,
                       UnitAttr:$symmetric, Attn_OptionalAlignment:$alignment);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores with the bias.">:$result);
  let assemblyFormat = [{
    $scores (`slopes` `(` $slopes^ `:` type($slopes) `)`)? (`symmetric` $symmetric^)?
    (`aligned` `(` custom<Aligned>($alignment, $offsets, type($offsets))^ `)`)? attr-dict `:` type($scores)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.t5_bias
//===----------------------------------------------------------------------===//

def Attn_T5BiasOp : Attn_GraphOp<"t5_bias", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a learned bias of the bucket that the distance falls into (T5)";
  let description = [{
        result[b, h, i, j] = scores[b, h, i, j] + table[bucket(j - i - shift), h]

    Near distances have a bucket each, far ones share buckets that grow with the logarithm of the
    distance, and all from `max_distance` on share the last. With K buckets a side (K = buckets / 2 with
    `bidirectional`, all buckets otherwise) and E = K / 2, rounded down:

        bucket(r) = near(r) + (bidirectional and r > 0 ? K : 0)
        near(r) = n                                                               for n < E
                  min(K - 1, E + floor(log(n / E) / log(max_distance / E) * (K - E)))    otherwise
        n = bidirectional ? abs(r) : max(-r, 0)

    | value            | shape      | type  |
    |------------------|------------|-------|
    | `scores`, result | B, H, N, M | float |
    | `table`          | buckets, H | float |
    | `offsets`        | B          | i64   |

    Numerics: the floor is that of the exact quotient, not of rounded logarithms. A score of -inf
    stays -inf.

    **Constraints**
    - (C1) The number of buckets is static, from 2 to 1024, and with `bidirectional` at least 4 and even.
    - (C2) H of `scores` and `table` are equal and static.
    - (C3) `max_distance` is above E, and 65536 at most.
    - (C4) The element types are equal.
    - (C5) `offsets` is there exactly if `alignment` is `offset`, and has B elements.
    - (C6) `scores` and the result have the same type.

    Lifetime: graph level. `attn-fuse-attention` makes it a part of `attn.attention`.

    Example:
    ```mlir
    %0 = attn.t5_bias %s, %table bidirectional : tensor<?x12x?x?xf32>, tensor<32x12xf32>
    %1 = attn.t5_bias %s, %table max_distance(20) aligned(bottom_right) : tensor<?x12x?x?xf32>, tensor<32x12xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[4]>, "Scores (B, H, N, M).">:$scores,
                       Arg<Attn_FloatTensorOfRank<[2]>, "A bias of each bucket and head.">:$table,
                       Arg<Optional<Attn_Offsets>, "Shift of each batch row.">:$offsets,
                       UnitAttr:$bidirectional, DefaultValuedAttr<I64Attr, "128">:$max_distance,
                       Attn_OptionalAlignment:$alignment);
  let results = (outs Res<Attn_FloatTensorOfRank<[4]>, "Scores with the bias.">:$result);
  let assemblyFormat = [{
    $scores `,` $table (`bidirectional` $bidirectional^)? (`max_distance` `(` $max_distance^ `)`)?
    (`aligned` `(` custom<Aligned>($alignment, $offsets, type($offsets))^ `)`)? attr-dict
    `:` type($scores) `,` type($table)
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNSCOREOPS_TD

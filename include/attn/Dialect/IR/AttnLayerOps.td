//===- AttnLayerOps.td - graph level: layers around attention *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Linear layers, norms, activations, embeddings, positions and pooling.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNLAYEROPS_TD
#define ATTN_DIALECT_IR_ATTNLAYEROPS_TD
include "attn/Dialect/IR/AttnCacheOps.td"

//===----------------------------------------------------------------------===//
// attn.linear
//===----------------------------------------------------------------------===//

def Attn_LinearOp : Attn_GraphOp<"linear"> {
  let summary = "linear layer, y = x W^T + b";
  let description = [{
        result[..., n] = sum_k input[..., k] * weight[n, k] + bias[n]

    | value    | shape  | type  |
    |----------|--------|-------|
    | `input`  | ..., K | float |
    | `weight` | N, K   | float |
    | `bias`   | N      | float |
    | result   | ..., N | float |

    Numerics: summed in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) The input has rank 1 or more, and its last size is K of `weight`.
    - (C2) `bias` has N elements.
    - (C3) The result has the shape of the input with N for K.
    - (C4) The element types are equal.

    Lifetime: graph level. `attn-fuse-linear` turns it into `attn.fused_linear`.

    Example:
    ```mlir
    %y = attn.linear %x, %w bias(%b)
        : tensor<?x?x384xf32>, tensor<1536x384xf32>, tensor<1536xf32> -> tensor<?x?x1536xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows of K channels.">:$input,
                       Arg<Attn_FloatTensorOfRank<[2]>, "One row of K weights an output channel.">:$weight,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "Added to every row.">:$bias);
  let results = (outs Res<Attn_FloatTensor, "Rows of N channels.">:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? attr-dict
    `:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.layer_norm
//===----------------------------------------------------------------------===//

def Attn_LayerNormOp : Attn_GraphOp<"layer_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "layer normalisation over the last dimension";
  let description = [{
    The variance is the mean of squared deviations, divided by D and not by D - 1.

        result[..., d] = (input[..., d] - mean) / sqrt(variance + epsilon) * gamma[d] + beta[d]

    | value           | shape  | type  |
    |-----------------|--------|-------|
    | `input`, result | ..., D | float |
    | `gamma`, `beta` | D      | float |

    Numerics: mean and variance in f32, in f64 for f64 tensors; deviations first, squares after.

    **Constraints**
    - (C1) The input has rank 1 or more, and `gamma` and `beta` have D elements.
    - (C2) `epsilon` is finite and not negative.
    - (C3) The element types are equal.
    - (C4) The input and the result have the same type.

    Lifetime: graph level. `attn-fuse-linear` makes it the end of an `attn.fused_linear`;
    elsewhere it becomes a row-wise kernel.

    Example:
    ```mlir
    %y = attn.layer_norm %x, %gamma, %beta epsilon(1.0e-12)
        : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows to normalise.">:$input,
                       Arg<Attn_FloatTensorOfRank<[1]>, "Gain of each channel.">:$gamma,
                       Arg<Attn_FloatTensorOfRank<[1]>, "Offset of each channel.">:$beta,
                       F64Attr:$epsilon);
  let results = (outs Res<Attn_FloatTensor, "Normalised rows.">:$result);
  let assemblyFormat = [{
    $input `,` $gamma `,` $beta `epsilon` `(` custom<F64>($epsilon) `)` attr-dict
    `:` type($input) `,` type($gamma) `,` type($beta)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.rms_norm
//===----------------------------------------------------------------------===//

def Attn_RmsNormOp : Attn_GraphOp<"rms_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "root mean square normalisation over the last dimension";
  let description = [{
    Layer normalisation without its mean and offset (Zhang and Sennrich, "Root Mean Square
    Layer Normalization", 2019).

        result[..., d] = input[..., d] / sqrt(sum_d input[..., d]^2 / D + epsilon) * gamma[d]

    | value           | shape  | type  |
    |-----------------|--------|-------|
    | `input`, result | ..., D | float |
    | `gamma`         | D      | float |

    Numerics: the mean of squares in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) The input has rank 1 or more, and `gamma` has D elements.
    - (C2) `epsilon` is finite and not negative.
    - (C3) The element types are equal.
    - (C4) The input and the result have the same type.

    Lifetime: graph level. `attn-fuse-linear` makes it the end of an `attn.fused_linear`;
    elsewhere it becomes a row-wise kernel.

    Example:
    ```mlir
    %y = attn.rms_norm %x, %gamma epsilon(1.0e-6) : tensor<?x?x4096xf32>, tensor<4096xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows to normalise.">:$input,
                       Arg<Attn_FloatTensorOfRank<[1]>, "Gain of each channel.">:$gamma,
                       F64Attr:$epsilon);
  let results = (outs Res<Attn_FloatTensor, "Normalised rows.">:$result);
  let assemblyFormat = [{
    $input `,` $gamma `epsilon` `(` custom<F64>($epsilon) `)` attr-dict
    `:` type($input) `,` type($gamma)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.gelu, attn.relu
//===----------------------------------------------------------------------===//

def Attn_GeluOp : Attn_Op<"gelu", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "Gaussian error linear unit of a tensor or a scalar";
  let description = [{
        erf:   result = 0.5 * x * (1 + erf(x / sqrt(2)))
        tanh:  result = 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))

    | value           | shape | type  |
    |-----------------|-------|-------|
    | `input`, result | any   | float |

    Lifetime: all levels. On tensors at graph level; `attn-fuse-linear` moves it into the
    epilogue of an `attn.fused_linear`, where it is a scalar.

    Example:
    ```mlir
    %y = attn.gelu %x<erf> : tensor<?x1536xf32>
    %z = attn.gelu %acc<tanh> : f32
    ```
  }];
  let arguments = (ins Arg<Attn_FloatLike, "x.">:$input, Attn_GeluFormAttr:$form);
  let results = (outs Res<Attn_FloatLike, "The unit's value.">:$result);
  let assemblyFormat = "$input `` $form attr-dict `:` type($input)";
}

def Attn_ReluOp : Attn_Op<"relu", [Pure, SameOperandsAndResultType, Elementwise, Idempotent]> {
  let summary = "rectified linear unit of a tensor or a scalar";
  let description = [{
        result = x > 0 ? x : 0, and NaN for NaN

    | value           | shape | type  |
    |-----------------|-------|-------|
    | `input`, result | any   | float |

    Lifetime: all levels, as `attn.gelu`.

    Example:
    ```mlir
    %y = attn.relu %x : tensor<?x2048xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatLike, "x.">:$input);
  let results = (outs Res<Attn_FloatLike, "The unit's value.">:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// attn.embedding
//===----------------------------------------------------------------------===//

def Attn_EmbeddingOp : Attn_GraphOp<"embedding"> {
  let summary = "rows of a table, selected by ids";
  let description = [{
        result[..., d] = table[ids[...], d]

    | value   | shape  | type     |
    |---------|--------|----------|
    | `ids`   | ...    | i32, i64 |
    | `table` | V, D   | float    |
    | result  | ..., D | float    |

    An id outside 0 <= id < V is an error of the caller, which a compiled model reports
    (`attn.check_ids`).

    **Constraints**
    - (C1) The result has the shape of `ids` with D behind it.
    - (C2) The element types of `table` and result are equal.

    Lifetime: graph level, then inside a row-wise kernel.

    Example:
    ```mlir
    %x = attn.embedding %ids, %words
        : tensor<?x?xi64>, tensor<30522x384xf32> -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins Arg<RankedTensorOf<[I32, I64]>, "Row numbers.">:$ids,
                       Arg<Attn_FloatTensorOfRank<[2]>, "One row an id.">:$table);
  let results = (outs Res<Attn_FloatTensor, "The selected rows.">:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.learned_positions, attn.sinusoidal
//===----------------------------------------------------------------------===//

def Attn_LearnedPositionsOp
    : Attn_GraphOp<"learned_positions", [AllTypesMatch<["input", "result"]>]> {
  let summary = "adds a learned vector to each position";
  let description = [{
        result[b, s, d] = input[b, s, d] + table[s + first, d]

    | value           | shape   | type  |
    |-----------------|---------|-------|
    | `input`, result | B, S, D | float |
    | `table`         | P, D    | float |

    `first` is the table's row of position 0. S + `first` must not pass P: a sequence that
    may be longer is an error when the range of its size is known.

    **Constraints**
    - (C1) D of `input` and `table` are equal.
    - (C2) `first` >= 0, and S + `first` <= P where both are static.
    - (C3) The element types are equal.
    - (C4) The input and the result have the same type.

    Lifetime: graph level, then inside a row-wise kernel.

    Example:
    ```mlir
    %y = attn.learned_positions %x, %table first(2) : tensor<?x?x384xf32>, tensor<514x384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[3]>, "Vectors by position.">:$input,
                       Arg<Attn_FloatTensorOfRank<[2]>, "One vector a position.">:$table,
                       DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs Res<Attn_FloatTensorOfRank<[3]>, "Vectors that know their position.">:$result);
  let assemblyFormat = [{
    $input `,` $table (`first` `(` $first^ `)`)? attr-dict `:` type($input) `,` type($table)
  }];
  let hasVerifier = 1;
}

def Attn_SinusoidalOp : Attn_GraphOp<"sinusoidal", [AllTypesMatch<["input", "result"]>]> {
  let summary = "adds sines and cosines of the position";
  let description = [{
    Channel pair c of D / 2 turns with the frequency base^(-2c / D).

        interleaved:  result[b, s, 2c]     = input[b, s, 2c]     + sin(s * base^(-2c / D))
                      result[b, s, 2c + 1] = input[b, s, 2c + 1] + cos(s * base^(-2c / D))
        halves:       result[b, s, c]         = input[b, s, c]         + sin(s * base^(-2c / D))
                      result[b, s, D / 2 + c] = input[b, s, D / 2 + c] + cos(s * base^(-2c / D))

    | value           | shape   | type  |
    |-----------------|---------|-------|
    | `input`, result | B, S, D | float |

    **Constraints**
    - (C1) D is static and even.
    - (C2) `base` is finite and positive.
    - (C3) The input and the result have the same type.

    Lifetime: graph level, then inside a row-wise kernel.

    Example:
    ```mlir
    %y = attn.sinusoidal %x<interleaved> : tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[3]>, "Vectors by position.">:$input,
                       Attn_SinusoidFormAttr:$form, DefaultValuedAttr<F64Attr, "10000.0">:$base);
  let results = (outs Res<Attn_FloatTensorOfRank<[3]>, "Vectors that know their position.">:$result);
  let assemblyFormat = "$input `` $form (`base` `(` custom<F64>($base)^ `)`)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.pool, attn.l2_normalize
//===----------------------------------------------------------------------===//

def Attn_PoolOp : Attn_GraphOp<"pool"> {
  let summary = "one vector a sequence";
  let description = [{
        mean:  result[b, d] = sum_s (mask[b, s] != 0) * input[b, s, d] / max(count_s(mask[b, s] != 0), 1e-9)
        cls:   result[b, d] = input[b, 0, d]

    Without a mask all positions count. A position that the mask hides adds nothing, NaN
    included, so that a sequence of hidden positions gives zeros.

    | value   | shape   | type             |
    |---------|---------|------------------|
    | `input` | B, S, D | float            |
    | `mask`  | B, S    | i1, i8, i32, i64 |
    | result  | B, D    | float            |

    **Constraints**
    - (C1) B and S of `input` and `mask` are equal.
    - (C2) The result is (B, D).
    - (C3) The element types of `input` and result are equal.

    Lifetime: graph level, then inside a row-wise kernel.

    Example:
    ```mlir
    %y = attn.pool %x mask(%attention_mask : tensor<?x?xi64>)<mean> : tensor<?x?x384xf32> -> tensor<?x384xf32>
    %z = attn.pool %x<cls> : tensor<?x?x384xf32> -> tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[3]>, "Vectors by position.">:$input,
                       Arg<Optional<Attn_IntTensor>, "Not zero where a position counts.">:$mask,
                       Attn_PoolKindAttr:$kind);
  let results = (outs Res<Attn_FloatTensorOfRank<[2]>, "One vector a sequence.">:$result);
  let assemblyFormat = [{
    $input (`mask` `(` $mask^ `:` type($mask) `)`)? `` $kind attr-dict `:` type($input) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Attn_L2NormalizeOp : Attn_GraphOp<"l2_normalize", [AllTypesMatch<["input", "result"]>]> {
  let summary = "scales rows to length 1";
  let description = [{
        result[..., d] = input[..., d] / max(sqrt(sum_k input[..., k]^2), epsilon)

    | value           | shape  | type  |
    |-----------------|--------|-------|
    | `input`, result | ..., D | float |

    Numerics: summed in f32, in f64 for f64 tensors.

    **Constraints**
    - (C1) The input has rank 1 or more.
    - (C2) `epsilon` is finite and not negative.
    - (C3) The input and the result have the same type.

    Lifetime: graph level, then inside a row-wise kernel.

    Example:
    ```mlir
    %y = attn.l2_normalize %x epsilon(1.0e-12) : tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "Rows.">:$input, F64Attr:$epsilon);
  let results = (outs Res<Attn_FloatTensor, "Rows of length 1.">:$result);
  let assemblyFormat = "$input `epsilon` `(` custom<F64>($epsilon) `)` attr-dict `:` type($input)";
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNLAYEROPS_TD

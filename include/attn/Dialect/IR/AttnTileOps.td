//===- AttnTileOps.td - tiled level: the FlashAttention recurrence *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of the recurrence over key tiles, taken apart into operations that
// a reader can check against the paper and a hand can edit. R is the number of
// query rows of a tile, C the number of keys, D and Dv channels. Tiles hold T:
// f32, or f64 where the tensors do.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNTILEOPS_TD
#define ATTN_DIALECT_IR_ATTNTILEOPS_TD
include "attn/Dialect/IR/AttnFusedOps.td"

/// A factor of exponents: a number of the tiles' element type. f32 goes without saying.
def Attn_TileScaleAttr : Attr<And<[CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">,
    CPred<"::llvm::isa<::mlir::Float32Type, ::mlir::Float64Type>(::llvm::cast<::mlir::FloatAttr>($_self).getType())">]>,
    "number of f32 or f64"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "::llvm::APFloat";
  let convertFromStorage = "$_self.getValue()";
}

class Attn_TileOp<string mnemonic, string resultName, list<Trait> traits = [],
                  list<string> namedParts = ["getAsmResultNames"]>
    : Attn_NamedOp<mnemonic, resultName, !listconcat(traits, [Pure]), namedParts>;

//===----------------------------------------------------------------------===//
// attn.tile_load, attn.tile_fill
//===----------------------------------------------------------------------===//

def Attn_TileLoadOp : Attn_TileOp<"tile_load", "tile"> {
  let summary = "a block of a tensor";
  let description = [{
    Row and column of the tile are added to the indices of the two tensor dimensions `dims`.

        result[r, c] = tensor[indices + r along dims[0] + c along dims[1]]     for r < rows

    | value     | shape | type  |
    |-----------|-------|-------|
    | `tensor`  | any   | float |
    | `indices` |       | index, one a dimension |
    | `rows`    |       | index, at most R |
    | result    | R, C  | T     |

    Rows from `rows` on, and columns past the edge of the tensor, hold nothing.

    **Constraints**
    - (C1) There is one index a dimension of `tensor`.
    - (C2) `dims` are two different dimensions of `tensor`.
    - (C3) The element type of `tensor` is a float type.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %kt = attn.tile_load %key[%b, %j0, %g, %c0] dims [1, 3] rows(%valid)
        : tensor<?x?x12x32xf32> -> !attn.tile<128x32xf32>
    ```
  }];
  let arguments = (ins Arg<AnyRankedTensor, "What is read.">:$tensor,
                       Arg<Variadic<Index>, "Position of row 0 and column 0.">:$indices,
                       Arg<Index, "Number of valid rows.">:$rows, DenseI64ArrayAttr:$dims);
  let results = (outs Res<Attn_Tile2D, "The block.">:$result);
  let assemblyFormat = [{
    $tensor `[` $indices `]` `dims` $dims `rows` `(` $rows `)` attr-dict
    `:` type($tensor) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Attn_TileFillOp : Attn_TileOp<"tile_fill", "start"> {
  let summary = "a tile of one value";
  let description = [{
    The start of a running maximum (-inf, written 0xFF800000), sum or accumulator (0.0).

        result[...] = value

    `value` is written as an f32, also for a tile of f64.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %m = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
    ```
  }];
  let arguments = (ins F32Attr:$value);
  let results = (outs Res<Attn_AnyTile, "The tile.">:$result);
  let assemblyFormat = "custom<F32>($value) attr-dict `:` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// attn.tile_scores, attn.tile_score, attn.tile_mask
//===----------------------------------------------------------------------===//

def Attn_TileScoresOp : Attn_TileOp<"tile_scores", "scores", [AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "scaled products of a tile of queries and a tile of keys";
  let description = [{
        result[i, j] = scale * sum_d combine(query[i, d], key[j, d])

    | value    | shape | type                            |
    |----------|-------|---------------------------------|
    | `query`  | R, D  | T                               |
    | `key`    | C, D  | T                               |
    | `scale`  |       | T                               |
    | `at`     |       | b, h, i of row 0, j of column 0 |
    | result   | R, C  | T                               |

    The region has the arguments q: T, k: T, b, h, i, j, d and the captures, with i and j counted
    from the start of the sequence; absent, it is the product.

    **Constraints**
    - (C1) D of `query` and `key` are equal, and the result is (R, C).
    - (C2) `at` is four indices, and is there if the region is.
    - (C3) Captures are there only if the region is.
    - (C4) The region, if there, has one block with the arguments above and yields one T.
    - (C5) `query`, `key`, `scale` and the result have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %s = attn.tile_scores %qt, %kt scale(%c : f32)
        : !attn.tile<24x32xf32>, !attn.tile<128x32xf32> -> !attn.tile<24x128xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Queries.">:$query, Arg<Attn_Tile2D, "Keys.">:$key,
                       Arg<AnyTypeOf<[F32, F64]>, "Factor of each product.">:$scale,
                       Arg<Variadic<Index>, "b, h, i of row 0, j of column 0.">:$position,
                       Arg<Variadic<AnyType>, "What the region reads.">:$captures);
  let results = (outs Res<Attn_Tile2D, "Scores.">:$result);
  let regions = (region AnyRegion:$combine);
  let assemblyFormat = [{
    $query `,` $key `scale` `(` $scale `:` type($scale) `)` (`at` `(` $position^ `)`)? (`capture` `(` $captures^ `:` type($captures) `)`)?
    (`combine` $combine^)? attr-dict `:` qualified(type($query)) `,` qualified(type($key)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TileScoreOp : Attn_TileOp<"tile_score", "score", [AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "a formula of each score and its position";
  let description = [{
        result[i, j] = body(scores[i, j], b, h, i, j, captures...)

    | value              | shape | type                            |
    |--------------------|-------|---------------------------------|
    | `scores`, result   | R, C  | T                               |
    | `at`               |       | b, h, i of row 0, j of column 0 |

    **Constraints**
    - (C1) `at` is four indices.
    - (C2) The region has one block with the arguments s: T, b, h, i, j and the captures, and
      yields one T.
    - (C3) `scores` and the result have the same type.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %s1 = attn.tile_score %s0 at(%b, %h, %i0, %j0) capture(%cap : f32) {
    ^bb0(%x: f32, %bb: index, %hh: index, %i: index, %j: index, %c: f32):
      %0 = arith.divf %x, %c : f32
      %1 = math.tanh %0 : f32
      %2 = arith.mulf %1, %c : f32
      attn.yield %2 : f32
    } : !attn.tile<24x128xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Scores.">:$scores,
                       Arg<Variadic<Index>, "b, h, i of row 0, j of column 0.">:$position,
                       Arg<Variadic<AnyType>, "What the region reads.">:$captures);
  let results = (outs Res<Attn_Tile2D, "New scores.">:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $scores `at` `(` $position `)` (`capture` `(` $captures^ `:` type($captures) `)`)? $body attr-dict
    `:` qualified(type($scores))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TileMaskOp : Attn_TileOp<"tile_mask", "visible", [AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "hides the pairs of a tile that a predicate does not show";
  let description = [{
        result[i, j] = body(b, h, i, j, captures...) ? scores[i, j] : hidden

    | value              | shape | type                            |
    |--------------------|-------|---------------------------------|
    | `scores`, result   | R, C  | T                               |
    | `at`               |       | b, h, i of row 0, j of column 0 |

    A hidden pair adds nothing to maxima, sums and mixes, whatever its score and value are.

    **Constraints**
    - (C1) `at` is four indices.
    - (C2) The region has one block with the arguments b, h, i, j and the captures, and yields one i1.
    - (C3) `scores` and the result have the same type.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %s1 = attn.tile_mask %s0 at(%b, %h, %i0, %j0) {
    ^bb0(%bb: index, %hh: index, %i: index, %j: index):
      %visible = arith.cmpi ule, %j, %i : index
      attn.yield %visible : i1
    } : !attn.tile<24x128xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Scores.">:$scores,
                       Arg<Variadic<Index>, "b, h, i of row 0, j of column 0.">:$position,
                       Arg<Variadic<AnyType>, "What the region reads.">:$captures);
  let results = (outs Res<Attn_Tile2D, "Scores with hidden pairs.">:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $scores `at` `(` $position `)` (`capture` `(` $captures^ `:` type($captures) `)`)? $body attr-dict
    `:` qualified(type($scores))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TileAnyOp : Attn_TileOp<"tile_any", "any", [AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "whether a predicate shows any pair of a tile";
  let description = [{
        result = exists i < rows, j < keys: body(b, h, at_i + i, at_j + j, captures...)

    | value    | shape | type                            |
    |----------|-------|---------------------------------|
    | `at`     |       | b, h, i of row 0, j of column 0 |
    | `rows`   |       | index, at most R                |
    | `keys`   |       | index, at most C                |
    | result   |       | i1                              |

    R and C are `sizes`. A loop over key tiles goes around a tile for which the result is false, because nothing in
    it adds anything: this is how a mask is skipped that is known only when the kernel runs.

    **Constraints**
    - (C1) `at` is four indices.
    - (C2) The region has one block with the arguments b, h, i, j and the captures, and yields one i1.
    - (C3) `sizes` are two positive numbers.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target. Example:
    ```mlir
    %any = attn.tile_any at(%b, %h, %i0, %j0) rows(%rows) keys(%valid) sizes [24, 128] capture(%ids : tensor<?x?xi64>) {
    ^bb0(%bb: index, %hh: index, %i: index, %j: index, %s: tensor<?x?xi64>):
      %0 = tensor.extract %s[%bb, %i] : tensor<?x?xi64>
      %1 = tensor.extract %s[%bb, %j] : tensor<?x?xi64>
      %same = arith.cmpi eq, %0, %1 : i64
      attn.yield %same : i1
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Index>, "b, h, i of row 0, j of column 0.">:$position,
                       Arg<Index, "Number of rows of the tile.">:$rows,
                       Arg<Index, "Number of keys of the tile.">:$keys,
                       Arg<Variadic<AnyType>, "What the region reads.">:$captures,
                       DenseI64ArrayAttr:$sizes);
  let results = (outs Res<I1, "Whether there is such a pair.">:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    `at` `(` $position `)` `rows` `(` $rows `)` `keys` `(` $keys `)` `sizes` $sizes
    (`capture` `(` $captures^ `:` type($captures) `)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.tile_max, attn.tile_exp, attn.tile_rescale, attn.tile_sum
//===----------------------------------------------------------------------===//

def Attn_TileMaxOp : Attn_TileOp<"tile_max", "maximum", [AllTypesMatch<["carry", "result"]>]> {
  let summary = "running maximum of each row";
  let description = [{
        result[i] = max(carry[i], max_j scores[i, j])

    | value           | shape | type |
    |-----------------|-------|------|
    | `scores`        | R, C  | T    |
    | `carry`, result | R     | T    |

    Hidden pairs are left out; a row of hidden pairs keeps `carry`.

    **Constraints**
    - (C1) R of `scores` and `carry` are equal.
    - (C2) `carry` and the result have the same type.
    - (C3) `scores` and `carry` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %m1 = attn.tile_max %s, %m0 : !attn.tile<24x128xf32>, !attn.tile<24xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Scores.">:$scores, Arg<Attn_Tile1D, "Maximum of earlier tiles.">:$carry);
  let results = (outs Res<Attn_Tile1D, "Maximum with this tile.">:$result);
  let assemblyFormat = [{
    $scores `,` $carry attr-dict `:` qualified(type($scores)) `,` qualified(type($carry))
  }];
  let hasVerifier = 1;
}

def Attn_TileExpOp : Attn_TileOp<"tile_exp", "weights", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "weights of a tile, before the division by their sum";
  let description = [{
        result[i, j] = 2^((scores[i, j] - maximum[i]) * scale)

    | value              | shape | type |
    |--------------------|-------|------|
    | `scores`, result   | R, C  | T    |
    | `maximum`          | R     | T    |

    `scale` is log2(e) for a softmax: 1.442695, or `f64 1.4426950408889634`. A hidden pair has weight exactly 0.

    **Constraints**
    - (C1) R of `scores` and `maximum` are equal.
    - (C2) `scores` and the result have the same type.
    - (C3) `scores`, `maximum` and `scale` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %p = attn.tile_exp %s, %m1 scale(1.442695) : !attn.tile<24x128xf32>, !attn.tile<24xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Scores.">:$scores, Arg<Attn_Tile1D, "Maximum so far.">:$maximum,
                       Attn_TileScaleAttr:$scale);
  let results = (outs Res<Attn_Tile2D, "Weights.">:$result);
  let assemblyFormat = [{
    $scores `,` $maximum `scale` `(` custom<TileScale>($scale) `)` attr-dict
    `:` qualified(type($scores)) `,` qualified(type($maximum))
  }];
  let hasVerifier = 1;
}

def Attn_TileRescaleOp : Attn_TileOp<"tile_rescale", "rescaled", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["before", "after"]>]> {
  let summary = "carries a sum or an accumulator over to a new maximum";
  let description = [{
        result[i, ...] = input[i, ...] * 2^((before[i] - after[i]) * scale)

    | value             | shape     | type |
    |-------------------|-----------|------|
    | `input`, result   | R or R, D | T    |
    | `before`, `after` | R         | T    |

    Where `before` and `after` are equal the factor is exactly 1, also for -inf.

    **Constraints**
    - (C1) R of `input` and `before` are equal.
    - (C2) `input` and the result have the same type, and so have `before` and `after`.
    - (C3) `input`, `before` and `scale` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %l1 = attn.tile_rescale %l0 from %m0 to %m1 scale(1.442695) : !attn.tile<24xf32>, !attn.tile<24xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_AnyTile, "Sum or accumulator.">:$input,
                       Arg<Attn_Tile1D, "Maximum that it is relative to.">:$before,
                       Arg<Attn_Tile1D, "Maximum that it shall be relative to.">:$after, Attn_TileScaleAttr:$scale);
  let results = (outs Res<Attn_AnyTile, "The same, relative to `after`.">:$result);
  let assemblyFormat = [{
    $input `from` $before `to` $after `scale` `(` custom<TileScale>($scale) `)` attr-dict
    `:` qualified(type($input)) `,` qualified(type($before))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Attn_TileSumOp : Attn_TileOp<"tile_sum", "sum", [AllTypesMatch<["carry", "result"]>]> {
  let summary = "running sum of each row";
  let description = [{
        result[i] = carry[i] + sum_j weights[i, j]

    | value           | shape | type |
    |-----------------|-------|------|
    | `weights`       | R, C  | T    |
    | `carry`, result | R     | T    |

    **Constraints**
    - (C1) R of `weights` and `carry` are equal.
    - (C2) `carry` and the result have the same type.
    - (C3) `weights` and `carry` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %l2 = attn.tile_sum %p, %l1 : !attn.tile<24x128xf32>, !attn.tile<24xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Weights.">:$weights, Arg<Attn_Tile1D, "Sum of earlier tiles.">:$carry);
  let results = (outs Res<Attn_Tile1D, "Sum with this tile.">:$result);
  let assemblyFormat = [{
    $weights `,` $carry attr-dict `:` qualified(type($weights)) `,` qualified(type($carry))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.tile_mix, attn.tile_finish
//===----------------------------------------------------------------------===//

def Attn_TileMixOp : Attn_TileOp<"tile_mix", "mixed", [AllTypesMatch<["carry", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove],
    ["getAsmResultNames", "getAsmBlockArgumentNames"]> {
  let summary = "running mix of values by weights";
  let description = [{
        result[i, d] = carry[i, d] + sum_j weights[i, j] * value(value[j, d])

    | value           | shape | type                            |
    |-----------------|-------|---------------------------------|
    | `weights`       | R, C  | T                               |
    | `value`         | C, Dv | T                               |
    | `carry`, result | R, Dv | T                               |
    | `at`            |       | b, h, i of row 0, j of column 0 |

    A hidden pair adds nothing, even if its value is NaN. The region has the arguments v: T, b, h,
    i, j, d and the captures; absent, it is v.

    **Constraints**
    - (C1) R, C and Dv of `weights`, `value` and `carry` agree.
    - (C2) `at` is four indices, and is there if the region is.
    - (C3) Captures are there only if the region is.
    - (C4) The region, if there, has one block with the arguments above and yields one T.
    - (C5) `carry` and the result have the same type.
    - (C6) `weights`, `value` and `carry` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %a2 = attn.tile_mix %p, %vt, %a1
        : !attn.tile<24x128xf32>, !attn.tile<128x32xf32>, !attn.tile<24x32xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Weights.">:$weights, Arg<Attn_Tile2D, "Values.">:$value,
                       Arg<Attn_Tile2D, "Mix of earlier tiles.">:$carry,
                       Arg<Variadic<Index>, "b, h, i of row 0, j of column 0.">:$position,
                       Arg<Variadic<AnyType>, "What the region reads.">:$captures);
  let results = (outs Res<Attn_Tile2D, "Mix with this tile.">:$result);
  let regions = (region AnyRegion:$values);
  let assemblyFormat = [{
    $weights `,` $value `,` $carry (`at` `(` $position^ `)`)? (`capture` `(` $captures^ `:` type($captures) `)`)? (`value` $values^)? attr-dict
    `:` qualified(type($weights)) `,` qualified(type($value)) `,` qualified(type($carry))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TileFinishOp : Attn_TileOp<"tile_finish", "output", [AllTypesMatch<["sum", "maximum"]>]> {
  let summary = "divides the accumulator by the sum";
  let description = [{
        result[i, d] = sum[i] > 0 ? accumulator[i, d] / sum[i] : 0
        lse[i]       = sum[i] > 0 ? maximum[i] * scale * ln(2) + ln(sum[i]) : -inf

    | value            | shape    | type             |
    |------------------|----------|------------------|
    | `accumulator`    | R, Dv    | T                |
    | `sum`, `maximum` | R        | T                |
    | `rows`           |          | index, at most R |
    | result           | rows, Dv | float            |
    | `lse`            | rows     | float            |

    `scale` is that of the `attn.tile_exp` before it.

    **Constraints**
    - (C1) R of `accumulator` and `sum` are equal.
    - (C2) The result has rank 2 and Dv columns, `lse` has rank 1, and a static number of rows is
      the same in both and at most R.
    - (C3) The element types of result and `lse` are float types.
    - (C4) `sum` and `maximum` have the same type.
    - (C5) `accumulator`, `sum` and `scale` have the same T.

    Lifetime: tiled level, made by `attn-tile`, read by the Halide target and by `convert-attn-to-loops`. Example:
    ```mlir
    %o = attn.tile_finish %a, %l, %m rows(%rows) scale(1.442695)
        : !attn.tile<24x32xf32>, !attn.tile<24xf32> -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_Tile2D, "Mix of all values.">:$accumulator,
                       Arg<Attn_Tile1D, "Sum of all weights.">:$sum, Arg<Attn_Tile1D, "Maximum of all scores.">:$maximum,
                       Arg<Index, "Number of valid rows.">:$rows, Attn_TileScaleAttr:$scale);
  let results = (outs Res<AnyRankedTensor, "Rows of the result.">:$result,
                      Res<Optional<AnyRankedTensor>, "Natural log-sum-exp of the rows.">:$lse);
  let assemblyFormat = [{
    $accumulator `,` $sum `,` $maximum `rows` `(` $rows `)` `scale` `(` custom<TileScale>($scale) `)` attr-dict
    `:` qualified(type($accumulator)) `,` qualified(type($sum)) `->` type($result) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNTILEOPS_TD

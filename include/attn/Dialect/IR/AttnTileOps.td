//===- AttnTileOps.td - tiled level: the FlashAttention recurrence *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNTILEOPS_TD
#define ATTN_DIALECT_IR_ATTNTILEOPS_TD
include "attn/Dialect/IR/AttnFusedOps.td"

class Attn_TileOp<string mnemonic, list<Trait> traits = []> : Attn_Op<mnemonic, !listconcat(traits, [Pure])>;

def Attn_TileLoadOp : Attn_TileOp<"tile_load"> {
  let summary = "a block of a tensor: tile[r, c] = tensor[indices with r and c added along dims]";
  let description = [{
    `rows` is the number of valid rows (at most the tile's); rows past it hold nothing.
    ```mlir
    %k = attn.tile_load %key[%b, %j0, %g, %c0] dims [1, 3] rows(%valid) : tensor<?x?x12x32xf32> -> !attn.tile<128x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Variadic<Index>:$indices, Index:$rows, DenseI64ArrayAttr:$dims);
  let results = (outs Attn_Tile2D:$result);
  let assemblyFormat = "$tensor `[` $indices `]` `dims` $dims `rows` `(` $rows `)` attr-dict `:` type($tensor) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Attn_TileFillOp : Attn_TileOp<"tile_fill"> {
  let summary = "a tile of one value, the start of a running maximum, sum or accumulator";
  let arguments = (ins F32Attr:$value);
  let results = (outs Attn_AnyTile:$result);
  let assemblyFormat = "custom<F32>($value) attr-dict `:` qualified(type($result))";
}

def Attn_TileScoresOp : Attn_TileOp<"tile_scores", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "s[i, j] = scale * sum_d combine(q[i, d], k[j, d])";
  let description = [{ `at` gives b, h and the positions of row 0 and column 0; `combine` takes (q, k, b, h, i, j, d, captures...). }];
  let arguments = (ins Attn_Tile2D:$query, Attn_Tile2D:$key, AnyFloat:$scale, Variadic<Index>:$position, Variadic<AnyType>:$captures);
  let results = (outs Attn_Tile2D:$result);
  let regions = (region AnyRegion:$combine);
  let assemblyFormat = [{
    $query `,` $key `scale` `(` $scale `:` type($scale) `)` (`at` `(` $position^ `)`)? (`capture` `(` $captures^ `:` type($captures) `)`)?
    (`combine` $combine^)? attr-dict `:` qualified(type($query)) `,` qualified(type($key)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Attn_TileScoreOp : Attn_TileOp<"tile_score", [AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "s'[i, j] = body(s, b, h, i, j, captures...)";
  let arguments = (ins Attn_Tile2D:$scores, Variadic<Index>:$position, Variadic<AnyType>:$captures);
  let results = (outs Attn_Tile2D:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$scores `at` `(` $position `)` (`capture` `(` $captures^ `:` type($captures) `)`)? $body attr-dict `:` qualified(type($scores))";
  let hasVerifier = 1;
}

def Attn_TileMaskOp : Attn_TileOp<"tile_mask", [AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "hides the pairs for which body(b, h, i, j, captures...) is false";
  let description = [{ A hidden pair adds nothing to maxima, sums and mixes, whatever its score and value are. }];
  let arguments = (ins Attn_Tile2D:$scores, Variadic<Index>:$position, Variadic<AnyType>:$captures);
  let results = (outs Attn_Tile2D:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$scores `at` `(` $position `)` (`capture` `(` $captures^ `:` type($captures) `)`)? $body attr-dict `:` qualified(type($scores))";
  let hasVerifier = 1;
}

def Attn_TileMaxOp : Attn_TileOp<"tile_max", [AllTypesMatch<["carry", "result"]>]> {
  let summary = "m'[i] = max(m[i], max_j s[i, j])";
  let arguments = (ins Attn_Tile2D:$scores, Attn_Tile1D:$carry);
  let results = (outs Attn_Tile1D:$result);
  let assemblyFormat = "$scores `,` $carry attr-dict `:` qualified(type($scores)) `,` qualified(type($carry))";
  let hasVerifier = 1;
}

def Attn_TileExpOp : Attn_TileOp<"tile_exp", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "p[i, j] = 2^((s[i, j] - m[i]) * scale); scale is log2(e) for a softmax";
  let arguments = (ins Attn_Tile2D:$scores, Attn_Tile1D:$maximum, F32Attr:$scale);
  let results = (outs Attn_Tile2D:$result);
  let assemblyFormat = "$scores `,` $maximum `scale` `(` custom<F32>($scale) `)` attr-dict `:` qualified(type($scores)) `,` qualified(type($maximum))";
  let hasVerifier = 1;
}

def Attn_TileRescaleOp : Attn_TileOp<"tile_rescale", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["before", "after"]>]> {
  let summary = "x'[i, ...] = x[i, ...] * 2^((before[i] - after[i]) * scale)";
  let arguments = (ins Attn_AnyTile:$input, Attn_Tile1D:$before, Attn_Tile1D:$after, F32Attr:$scale);
  let results = (outs Attn_AnyTile:$result);
  let assemblyFormat = "$input `from` $before `to` $after `scale` `(` custom<F32>($scale) `)` attr-dict `:` qualified(type($input)) `,` qualified(type($before))";
}

def Attn_TileSumOp : Attn_TileOp<"tile_sum", [AllTypesMatch<["carry", "result"]>]> {
  let summary = "l'[i] = l[i] + sum_j p[i, j]";
  let arguments = (ins Attn_Tile2D:$weights, Attn_Tile1D:$carry);
  let results = (outs Attn_Tile1D:$result);
  let assemblyFormat = "$weights `,` $carry attr-dict `:` qualified(type($weights)) `,` qualified(type($carry))";
  let hasVerifier = 1;
}

def Attn_TileMixOp : Attn_TileOp<"tile_mix", [AllTypesMatch<["carry", "result"]>, AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "o'[i, d] = o[i, d] + sum_j p[i, j] value(v[j, d])";
  let description = [{ The optional region takes (v, b, h, i, j, d, captures...). }];
  let arguments = (ins Attn_Tile2D:$weights, Attn_Tile2D:$value, Attn_Tile2D:$carry, Variadic<Index>:$position, Variadic<AnyType>:$captures);
  let results = (outs Attn_Tile2D:$result);
  let regions = (region AnyRegion:$values);
  let assemblyFormat = [{
    $weights `,` $value `,` $carry (`at` `(` $position^ `)`)? (`capture` `(` $captures^ `:` type($captures) `)`)? (`value` $values^)? attr-dict
    `:` qualified(type($weights)) `,` qualified(type($value)) `,` qualified(type($carry))
  }];
  let hasVerifier = 1;
}

def Attn_TileFinishOp : Attn_TileOp<"tile_finish", [AllTypesMatch<["sum", "maximum"]>]> {
  let summary = "o[i, :] / l[i], zero where l is 0; lse[i] = m[i] * scale * ln 2 + ln l[i], -inf where l is 0";
  let arguments = (ins Attn_Tile2D:$accumulator, Attn_Tile1D:$sum, Attn_Tile1D:$maximum, Index:$rows, F32Attr:$scale);
  let results = (outs AnyRankedTensor:$result, Optional<AnyRankedTensor>:$lse);
  let assemblyFormat = [{
    $accumulator `,` $sum `,` $maximum `rows` `(` $rows `)` `scale` `(` custom<F32>($scale) `)` attr-dict
    `:` qualified(type($accumulator)) `,` qualified(type($sum)) `->` type($result) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNTILEOPS_TD

//===- AttnAttrs.td - weight recipes, schedules, facts -----*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNATTRS_TD
#define ATTN_DIALECT_IR_ATTNATTRS_TD
include "attn/Dialect/IR/AttnMaskAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Recipes: where the data of an attn.weight come from.
//===----------------------------------------------------------------------===//

def Attn_SourceAttr : Attn_AttrDef<"Source", "source"> {
  let summary = "a tensor of a safetensors file";
  let description = [{
    The file is looked up relative to the file that is compiled. Data of f16 and bf16 are converted to
    the weight's type.

    **Constraints**
    - (C1) Neither name is empty.

    Example: `#attn.source<"model.safetensors", "encoder.layer.0.output.dense.weight">`
  }];
  let parameters = (ins StringRefParameter<"file, relative to the compiled file">:$file,
                        StringRefParameter<"name of the tensor">:$tensor);
  let assemblyFormat = "`<` $file `,` $tensor `>`";
  let genVerifyDecl = 1;
}

def Attn_BytesAttr : Attn_AttrDef<"Bytes", "bytes"> {
  let summary = "bytes of a file, as they are";
  let description = [{
    Elements of the weight's type, dense, row-major and little-endian, an i1 in a byte; the type says how many
    bytes there are. The file is looked up relative to the file that is compiled.

    **Constraints**
    - (C1) `file` is not empty, and `offset` is not negative.

    Example: `#attn.bytes<"model.onnx", offset = 1024>`
  }];
  let parameters = (ins StringRefParameter<"file, relative to the compiled file">:$file, "int64_t":$offset);
  let assemblyFormat = "`<` $file `,` `offset` `=` $offset `>`";
  let genVerifyDecl = 1;
}

def Attn_ValueAttr : Attn_AttrDef<"Value", "value"> {
  let summary = "data written in the IR";
  let description = [{
    For tests and small tables.

    Example: `#attn.value<dense<[0.5, 1.5]> : tensor<2xf32>>`
  }];
  let parameters = (ins "::mlir::ElementsAttr":$elements);
  let assemblyFormat = "`<` $elements `>`";
}

def Attn_ConcatAttr : Attn_AttrDef<"Concat", "concat"> {
  let summary = "other weights one after the other along an axis";
  let description = [{
    **Constraints**
    - (C1) `axis` is not negative.

    Example: `#attn.concat<[@query, @key, @value], axis = 0>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$weights, "int64_t":$axis);
  let assemblyFormat = "`<` `[` $weights `]` `,` `axis` `=` $axis `>`";
  let genVerifyDecl = 1;
}

def Attn_PackAttr : Attn_AttrDef<"Pack", "pack"> {
  let summary = "the (N, K) weight of a linear layer as panels (ceil(N / panel), K, panel)";
  let description = [{
    Element (p, k, c) is weight (p * panel + c, k); columns past N are zero. See `attn.pack`.

    **Constraints**
    - (C1) `panel` is positive.

    Example: `#attn.pack<@qkv, panel = 24>`
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$weight, "int64_t":$panel);
  let assemblyFormat = "`<` $weight `,` `panel` `=` $panel `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Schedules: set by attn-schedule on an attn.kernel, read by the Halide target.
//===----------------------------------------------------------------------===//

def Attn_FlashScheduleAttr : Attn_AttrDef<"FlashSchedule", "flash_schedule"> {
  let summary = "how the tiled attention loops are mapped to registers";
  let description = [{
    Tile sizes are not here: they are the `!attn.tile` types of the loops.

    | parameter      | meaning                                     |
    |----------------|---------------------------------------------|
    | `vector`       | f32 lanes                                   |
    | `key_unroll`   | keys of a score register tile               |
    | `value_unroll` | value channels of an output register tile   |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$key_unroll, "int64_t":$value_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_DecodeScheduleAttr : Attn_AttrDef<"DecodeSchedule", "decode_schedule"> {
  let summary = "how tiled attention loops with a few queries are mapped to registers";
  let description = [{
    Where `#attn.flash_schedule` puts queries into the lanes of vectors, this one puts channels and keys there:
    the few queries of a tile would leave lanes empty, and keys and values are read as they lie in memory.

    | parameter      | meaning                                     |
    |----------------|---------------------------------------------|
    | `vector`       | f32 lanes                                   |
    | `key_unroll`   | keys of a score register tile               |
    | `value_unroll` | value channels of an output register tile   |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.decode_schedule<vector = 8, key_unroll = 2, value_unroll = 16>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$key_unroll, "int64_t":$value_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_MatrixScheduleAttr : Attn_AttrDef<"MatrixSchedule", "matrix_schedule"> {
  let summary = "how tiled attention loops are mapped to a matrix unit";
  let description = [{
    For bf16 tensors on a target with a unit that multiplies tiles of bf16 (AMX): scores and the mix of values are its products, of 32 queries and 32 keys
    or channels at a time. Keys are read as they lie in memory, values from a transposed copy that the kernel makes first.

    | parameter      | meaning                                                       |
    |----------------|---------------------------------------------------------------|
    | `vector`       | f32 lanes                                                     |
    | `key_unroll`   | keys of a product                                             |
    | `value_unroll` | value channels that are added to the accumulator at a time    |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.matrix_schedule<vector = 16, key_unroll = 32, value_unroll = 16>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$key_unroll, "int64_t":$value_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_LinearScheduleAttr : Attn_AttrDef<"LinearSchedule", "linear_schedule"> {
  let summary = "register tile and cache blocks of a linear layer";
  let description = [{
    | parameter | meaning                                                         |
    |-----------|-----------------------------------------------------------------|
    | `vector`  | f32 lanes                                                       |
    | `mr`      | rows of the register tile                                       |
    | `nr`      | columns of the register tile, the panel of the packed weight    |
    | `kc`      | block of K, 0 for no blocking                                   |
    | `mb`      | rows of a cache block                                           |

    **Constraints**
    - (C1) `vector`, `mr`, `nr` and `mb` are positive.
    - (C2) `kc` is not negative.

    Example: `#attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 384, mb = 128>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$mr, "int64_t":$nr, "int64_t":$kc, "int64_t":$mb);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_MatrixLinearScheduleAttr : Attn_AttrDef<"MatrixLinearSchedule", "matrix_linear_schedule"> {
  let summary = "blocks of a linear layer on a matrix unit";
  let description = [{
    For input and weight of bf16 on a target with a unit that multiplies tiles of bf16 (AMX). The weight is read as it is, (N, K), and not packed.

    | parameter | meaning                                                          |
    |-----------|------------------------------------------------------------------|
    | `vector`  | f32 lanes of the epilogue                                        |
    | `nb`      | output channels of a task; divides N, a multiple of 32           |
    | `mb`      | rows whose channels are paired before they are multiplied; a multiple of 32 |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.matrix_linear_schedule<vector = 16, nb = 256, mb = 512>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$nb, "int64_t":$mb);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_RowwiseScheduleAttr : Attn_AttrDef<"RowwiseSchedule", "rowwise_schedule"> {
  let summary = "vector lanes and rows in flight of a row-wise or generic kernel";
  let description = [{
    | parameter | meaning                          |
    |-----------|----------------------------------|
    | `vector`  | f32 lanes                        |
    | `rows`    | rows that one task computes      |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.rowwise_schedule<vector = 8, rows = 4>`
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_GpuAttentionScheduleAttr : Attn_AttrDef<"GpuAttentionSchedule", "gpu_attention_schedule"> {
  let summary = "how the threads of a block share a query tile";
  let description = [{
    A block of threads computes one query tile. Its queries, a tile of keys and values, scores and weights lie in shared memory; maximum, sum and
    accumulator are in the registers of its threads.
    Tile sizes are not here: they are the `!attn.tile` types of the loops.

    | parameter | meaning                                              |
    |-----------|------------------------------------------------------|
    | `x`       | threads beside each other: keys of a score row, channels of a value row |
    | `y`       | threads below each other: queries                    |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.gpu_attention_schedule<x = 16, y = 16>`
  }];
  let parameters = (ins "int64_t":$x, "int64_t":$y);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_GpuLinearScheduleAttr : Attn_AttrDef<"GpuLinearSchedule", "gpu_linear_schedule"> {
  let summary = "thread blocks of a linear layer on a device";
  let description = [{
    A block of threads computes `y * mr` rows of one panel of `x * nr` columns.

    | parameter | meaning                                                          |
    |-----------|------------------------------------------------------------------|
    | `x`, `y`  | threads of a block, along columns and along rows                 |
    | `mr`      | rows of a thread                                                 |
    | `nr`      | columns of a thread                                              |
    | `kc`      | steps of K whose operands lie in shared memory at a time         |

    **Constraints**
    - (C1) Each parameter is positive.

    Example: `#attn.gpu_linear_schedule<x = 16, y = 16, mr = 4, nr = 4, kc = 16>`
  }];
  let parameters = (ins "int64_t":$x, "int64_t":$y, "int64_t":$mr, "int64_t":$nr, "int64_t":$kc);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_GpuRowwiseScheduleAttr : Attn_AttrDef<"GpuRowwiseSchedule", "gpu_rowwise_schedule"> {
  let summary = "threads of a row-wise or generic kernel on a device";
  let description = [{
    | parameter | meaning                          |
    |-----------|----------------------------------|
    | `x`       | threads of a block, along a row  |

    **Constraints**
    - (C1) `x` is positive.

    Example: `#attn.gpu_rowwise_schedule<x = 64>`
  }];
  let parameters = (ins "int64_t":$x);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_LoopsScheduleAttr : Attn_AttrDef<"LoopsSchedule", "loops_schedule"> {
  let summary = "plain loops instead of a Halide pipeline";
  let description = [{
    The kernel goes through `convert-attn-to-loops` and LLVM: slow, simple, and for every element type, f64
    included. `attn-schedule` sets it on kernels with f64 tensors, and on all kernels if it is asked to
    (`--lowering=loops`).

    Example: `#attn.loops_schedule`
  }];
}

//===----------------------------------------------------------------------===//
// Facts: found by attn-analyze-masks, read by attn-tile.
//===----------------------------------------------------------------------===//

def Attn_KeyRangeAttr : Attn_AttrDef<"KeyRange", "key_range"> {
  let summary = "one range of keys of a tile of queries, as affine bounds";
  let description = [{
    Four maps (i0, i1)[N, M, u...] of a query tile [i0, i1). [begin, end) are the keys that it
    visits; [full_begin, full_end) encloses only keys that every query of the tile sees. Lower bounds take the
    maximum of a map's results, upper bounds the minimum; an empty range is begin >= end.
    The range is there only for tiles in the set `where`, (i0, i1)[N, M, u...]; absent, for all.

    **Constraints**
    - (C1) Each map is (i0, i1)[N, M, u...], all of the same symbols, and has at least one result;
      results are affine.
    - (C2) `where`, if there, is a set of the same dimensions and symbols.

    Example, a causal mask:
    ```mlir
    #attn.key_range<begin = affine_map<(i0, i1)[n, m] -> (0)>,
                    full_begin = affine_map<(i0, i1)[n, m] -> (0)>,
                    full_end = affine_map<(i0, i1)[n, m] -> (i0 + 1, m)>,
                    end = affine_map<(i0, i1)[n, m] -> (i1, m)>>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::IntegerSetAttr">:$where,
                        "::mlir::AffineMapAttr":$begin, "::mlir::AffineMapAttr":$full_begin,
                        "::mlir::AffineMapAttr":$full_end, "::mlir::AffineMapAttr":$end);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_KeyRangesAttr : Attn_AttrDef<"KeyRanges", "key_ranges"> {
  let summary = "the tiles of keys that a tile of queries visits";
  let description = [{
    Ranges of keys in the order in which they begin; a key tile that meets an earlier range
    is not visited again for a later one. A tile [i0, i1) x [j0, j1) that holds a visible pair meets a range.

    Symbols past N and M are the *leaves* of the mask: integers that depend neither on i nor on
    j (b, h, an index capture and arithmetic on them), in the order in which the region uses them.

    Where ranges say too little, each tile is tested: it is visited only if it is in one of the sets
    `visible`, and it is full if it is in none of the sets `hidden`, whatever `full_begin` and `full_end`
    say. The sets are (i0, i1, j0, j1)[N, M, u...]. An empty list is no test.

    `exact` says that each tile that is left holds a visible pair; where it is false, loops ask each
    tile by `attn.tile_any`. `opaque` says that a part of the predicate (a load) is unknown, so that tiles
    may count as partial that are full.

    **Constraints**
    - (C1) There is at least one range, and all have the same symbols.
    - (C2) A set is (i0, i1, j0, j1)[N, M, u...] with the symbols of the ranges.

    Text after `#attn.` must not hold a lone `>`, so that sets are written as aliases there.

    Example, every fourth block of 128 keys:
    ```mlir
    #seen = affine_set<(i0, i1, j0, j1)[n, m] : (j1 - (j0 + 384) floordiv 512 * 512 - 1 >= 0)>
    #attn.key_ranges<[<begin = affine_map<(i0, i1)[n, m] -> (0)>, full_begin = affine_map<(i0, i1)[n, m] -> (0)>,
                       full_end = affine_map<(i0, i1)[n, m] -> (0)>, end = affine_map<(i0, i1)[n, m] -> (m)>>]
                     visible [#seen]
                     exact = true, opaque = false>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::attn::KeyRangeAttr">:$ranges,
                        OptionalArrayRefParameter<"::mlir::IntegerSetAttr">:$visible,
                        OptionalArrayRefParameter<"::mlir::IntegerSetAttr">:$hidden,
                        "bool":$exact, "bool":$opaque);
  let assemblyFormat = [{
    `<` `[` $ranges `]` (`visible` `[` $visible^ `]`)? (`hidden` `[` $hidden^ `]`)?
    `exact` `=` $exact `,` `opaque` `=` $opaque `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of symbols of all maps and sets.
    unsigned getNumSymbols() const {
      return getRanges().front().getBegin().getValue().getNumSymbols();
    }
  }];
}
#endif // ATTN_DIALECT_IR_ATTNATTRS_TD

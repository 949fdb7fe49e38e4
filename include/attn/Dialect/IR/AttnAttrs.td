//===- AttnAttrs.td - masks, weight recipes, schedules -----*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNATTRS_TD
#define ATTN_DIALECT_IR_ATTNATTRS_TD
include "attn/Dialect/IR/AttnEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

class Attn_AttrDef<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Masks: which (query i, key j) pairs take part. Used by attn.mask.
//===----------------------------------------------------------------------===//

def Attn_CausalAttr : Attn_AttrDef<"Causal", "causal"> {
  let summary = "query i sees keys j <= i + shift";
  let description = [{
    `shift` is 0 (`top_left`), M - N (`bottom_right`) or the operand `offset[b]` of
    the `attn.mask` (`offset`, an i64 tensor of size B).
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowAttr : Attn_AttrDef<"Window", "window"> {
  let summary = "query i sees keys i + shift - left to i + shift + right, itself included";
  let description = [{
    `-1` leaves a side unbounded. `shift` as in `#attn.causal`.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right,
      DefaultValuedParameter<"::attn::Alignment", "::attn::Alignment::TopLeft">:$alignment);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_KeyLengthsAttr : Attn_AttrDef<"KeyLengths", "key_lengths"> {
  let summary = "batch row b sees keys j < length[b]";
  let description = [{ Operand: an integer tensor of size B. }];
}

def Attn_KeyPaddingAttr : Attn_AttrDef<"KeyPadding", "key_padding"> {
  let summary = "batch row b sees the keys j with mask[b, j] != 0";
  let description = [{ Operand: an i1 or integer tensor (B, M). }];
}

def Attn_DenseMaskAttr : Attn_AttrDef<"DenseMask", "dense"> {
  let summary = "an explicit mask tensor";
  let description = [{
    Operand: a tensor that broadcasts to (B, H, N, M) by NumPy's rule. Of i1: true means
    visible. Of a float type: added to the score, and -inf hides the pair.
  }];
}

//===----------------------------------------------------------------------===//
// Recipes: where the data of an attn.weight come from.
//===----------------------------------------------------------------------===//

def Attn_SourceAttr : Attn_AttrDef<"Source", "source"> {
  let summary = "a tensor of a safetensors file";
  let description = [{
    `#attn.source<"model.safetensors", "encoder.layer.0.output.dense.weight">`. The file
    is looked up relative to the file that is compiled. f16 and bf16 data are
    converted to the weight's type.
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$tensor);
  let assemblyFormat = "`<` $file `,` $tensor `>`";
}

def Attn_ValueAttr : Attn_AttrDef<"Value", "value"> {
  let summary = "data written in the IR";
  let parameters = (ins "::mlir::ElementsAttr":$elements);
  let assemblyFormat = "`<` $elements `>`";
}

def Attn_ConcatAttr : Attn_AttrDef<"Concat", "concat"> {
  let summary = "other weights one after the other along an axis";
  let parameters = (ins ArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$weights, "int64_t":$axis);
  let assemblyFormat = "`<` `[` $weights `]` `,` `axis` `=` $axis `>`";
}

def Attn_PackAttr : Attn_AttrDef<"Pack", "pack"> {
  let summary = "the (N, K) weight of a linear layer as panels (ceil(N / panel), K, panel)";
  let description = [{
    Element (p, k, c) is weight (p * panel + c, k); columns past N are zero. See `attn.pack`.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$weight, "int64_t":$panel);
  let assemblyFormat = "`<` $weight `,` `panel` `=` $panel `>`";
}

//===----------------------------------------------------------------------===//
// Schedules: set by attn-schedule on an attn.kernel, read by the Halide target.
//===----------------------------------------------------------------------===//

def Attn_FlashScheduleAttr : Attn_AttrDef<"FlashSchedule", "flash_schedule"> {
  let summary = "how the tiled attention loops are mapped to registers";
  let description = [{
    Tile sizes are not here: they are the `!attn.tile` types of the loops.
    `vector`: f32 lanes; `key_unroll`: keys of a score register tile; `value_unroll`:
    value channels of an output register tile.
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$key_unroll, "int64_t":$value_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_LinearScheduleAttr : Attn_AttrDef<"LinearSchedule", "linear_schedule"> {
  let summary = "register tile and cache blocks of a linear layer";
  let description = [{
    `vector`: f32 lanes; `mr` x `nr`: rows and columns of the register tile (`nr` is the
    panel of the packed weight); `kc`: block of K, 0 for no blocking; `mb`: rows of a cache block.
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$mr, "int64_t":$nr, "int64_t":$kc, "int64_t":$mb);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_RowwiseScheduleAttr : Attn_AttrDef<"RowwiseSchedule", "rowwise_schedule"> {
  let summary = "vector lanes and rows in flight of a row-wise or generic kernel";
  let parameters = (ins "int64_t":$vector, "int64_t":$rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Facts: found by attn-analyze-masks, read by attn-tile.
//===----------------------------------------------------------------------===//

def Attn_KeyRangesAttr : Attn_AttrDef<"KeyRanges", "key_ranges"> {
  let summary = "the keys that a tile of queries sees, as affine bounds";
  let description = [{
    Four maps (i0, i1)[N, M, u...] of a query tile [i0, i1): `begin` and `end` enclose
    every visible key, `full_begin` and `full_end` enclose only keys that every query
    of the tile sees. Lower bounds take the maximum of a map's results, upper bounds
    the minimum; an empty range is begin >= end. Symbols past N and M are the *leaves*
    of the mask: integers that depend neither on i nor on j (b, h, an index capture,
    `tensor.extract %lengths[%b]`), in the order in which the region uses them. `exact`
    says that the range of a tile that sees a key is the hull of the visible keys and
    not only an enclosure; `opaque` that a part of the predicate (a load that depends
    on i or j) is unknown, so that tiles may count as partial that are not.
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$begin, "::mlir::AffineMapAttr":$full_begin,
                        "::mlir::AffineMapAttr":$full_end, "::mlir::AffineMapAttr":$end,
                        "bool":$exact, "bool":$opaque);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
#endif // ATTN_DIALECT_IR_ATTNATTRS_TD

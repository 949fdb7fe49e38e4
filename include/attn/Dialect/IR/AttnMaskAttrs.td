//===- AttnMaskAttrs.td - which pairs take part ------------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rules of attn.mask: each says which (query i, key j) pairs of batch row b
// and head h are visible. A rule names the operands that it reads, in order;
// MaskRules.h is the same table for C++.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNMASKATTRS_TD
#define ATTN_DIALECT_IR_ATTNMASKATTRS_TD
include "attn/Dialect/IR/AttnEnums.td"
include "mlir/IR/AttrTypeBase.td"

class Attn_AttrDef<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// `alignment` of a rule, top_left where absent.
def Attn_DefaultAlignment
    : DefaultValuedParameter<"::attn::Alignment", "::attn::Alignment::TopLeft">;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

def Attn_CausalAttr : Attn_AttrDef<"Causal", "causal"> {
  let summary = "query i sees keys j <= i + shift";
  let description = [{
    `shift` is 0 (`top_left`), M - N (`bottom_right`), or offset[b] of the operand of the
    `attn.mask` (`offset`, an i64 tensor of size B, which may be negative).

    Example: `#attn.causal<bottom_right>`
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowAttr : Attn_AttrDef<"Window", "window"> {
  let summary = "query i sees keys i + shift - left to i + shift + right";
  let description = [{
    Both ends are seen, and so is i + shift itself. `-1` leaves a side unbounded; `shift` is as in
    `#attn.causal`, and `alignment` is `top_left` where absent.

    **Constraints**
    - (C1) `left` and `right` are -1 or more.

    Example: `#attn.window<left = 255, right = 0, alignment = bottom_right>`, the last 256 keys
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, Attn_DefaultAlignment:$alignment);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_PrefixAttr : Attn_AttrDef<"Prefix", "prefix"> {
  let summary = "every query sees keys j < prefix[b]";
  let description = [{
    Operand: an i32 or i64 tensor of size B. With a causal rule beside it this is the mask of a
    prefix language model: `any_of<[causal<top_left>, prefix]>`.

    Example: `#attn.prefix`
  }];
}

def Attn_BlocksAttr : Attn_AttrDef<"Blocks", "blocks"> {
  let summary = "blocks along the diagonal: i floordiv query == j floordiv key";
  let description = [{
    Query block n sees key block n, whatever N and M are.

    **Constraints**
    - (C1) `query` and `key` are positive.

    Example: `#attn.blocks<query = 64, key = 64>`
  }];
  let parameters = (ins "int64_t":$query, "int64_t":$key);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_ChunkedAttr : Attn_AttrDef<"Chunked", "chunked"> {
  let summary = "a query sees the chunk that it lies in: (i + shift) floordiv size == j floordiv size";
  let description = [{
    `shift` is as in `#attn.causal`, and `alignment` is `top_left` where absent. The quotient is
    rounded down, also of a negative i + shift. With `all_of` and a causal rule this is local chunked
    attention.

    **Constraints**
    - (C1) `size` is positive.

    Example: `#attn.chunked<size = 8192, alignment = bottom_right>`
  }];
  let parameters = (ins "int64_t":$size, Attn_DefaultAlignment:$alignment);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_DilatedAttr : Attn_AttrDef<"Dilated", "dilated"> {
  let summary = "every step-th key, counted from the query: (j - i - shift) mod step == 0";
  let description = [{
    `shift` is as in `#attn.causal`, and `alignment` is `top_left` where absent.

    **Constraints**
    - (C1) `step` is positive.

    Example: `#attn.dilated<step = 4>`
  }];
  let parameters = (ins "int64_t":$step, Attn_DefaultAlignment:$alignment);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

def Attn_KeyLengthsAttr : Attn_AttrDef<"KeyLengths", "key_lengths"> {
  let summary = "batch row b sees keys j < length[b]";
  let description = [{
    Operand: an i32 or i64 tensor of size B. A length of M or more hides nothing, one of 0 or less
    hides all.

    Example: `#attn.key_lengths`
  }];
}

def Attn_QueryLengthsAttr : Attn_AttrDef<"QueryLengths", "query_lengths"> {
  let summary = "queries i < length[b] see keys, those behind see none";
  let description = [{
    Operand: an i32 or i64 tensor of size B. Rows of queries behind the length are zero.

    Example: `#attn.query_lengths`
  }];
}

def Attn_KeyPaddingAttr : Attn_AttrDef<"KeyPadding", "key_padding"> {
  let summary = "batch row b sees the keys j with mask[b, j] != 0";
  let description = [{
    Operand: an i1, i8, i32 or i64 tensor (B, M), what models call `attention_mask`.

    Example: `#attn.key_padding`
  }];
}

def Attn_SegmentsAttr : Attn_AttrDef<"Segments", "segments"> {
  let summary = "a query sees the keys of its own document: query_id[b, i] == key_id[b, j]";
  let description = [{
    Two operands of one type: i32 or i64 tensors (B, N) and (B, M). Sequences that are packed into one
    row have one id each.

    Example: `#attn.segments`
  }];
}

def Attn_GlobalAttr : Attn_AttrDef<"Global", "global"> {
  let summary = "global tokens see all keys and are seen by all queries: query[b, i] or key[b, j]";
  let description = [{
    Two operands: i1, i8, i32 or i64 tensors (B, N) and (B, M), not zero where a token is global. With a
    window beside it this is Longformer's mask: `any_of<[window<left = 256, right = 256>, global]>`.

    Example: `#attn.global`
  }];
}

def Attn_DenseMaskAttr : Attn_AttrDef<"DenseMask", "dense"> {
  let summary = "an explicit mask tensor";
  let description = [{
    Operand: a tensor that broadcasts to (B, H, N, M) by NumPy's rule, but for its last size: where
    that is neither 1 nor M but less, the keys past it are hidden. Of i1: true means visible. Of a
    float type: added to the score, and -inf hides the pair.

    A dynamic size without a name in `attn.dims` is taken for the size that it meets.

    Example: `#attn.dense`
  }];
}

//===----------------------------------------------------------------------===//
// Compositions
//===----------------------------------------------------------------------===//

class Attn_CompositionAttr<string name, string attrMnemonic> : Attn_AttrDef<name, attrMnemonic> {
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$rules);
  let genVerifyDecl = 1;
}

def Attn_AnyOfAttr : Attn_CompositionAttr<"AnyOf", "any_of"> {
  let summary = "pairs that one of the rules shows";
  let description = [{
    The operands of the rules follow one another, those of the first rule first.

    **Constraints**
    - (C1) There is a rule, and each is a rule of `attn.mask`.

    Example: `#attn.any_of<[causal<top_left>, prefix]>`
  }];
  let assemblyFormat = "`<` custom<MaskRules>($rules) `>`";
}

def Attn_AllOfAttr : Attn_CompositionAttr<"AllOf", "all_of"> {
  let summary = "pairs that all of the rules show";
  let description = [{
    The same as one `attn.mask` after the other, for use inside `any_of` and `not`. The operands of the
    rules follow one another.

    **Constraints**
    - (C1) There is a rule, and each is a rule of `attn.mask`.

    Example: `#attn.all_of<[causal<top_left>, dilated<step = 4>]>`
  }];
  let assemblyFormat = "`<` custom<MaskRules>($rules) `>`";
}

def Attn_NotAttr : Attn_CompositionAttr<"Not", "not"> {
  let summary = "pairs that the rule does not show";
  let description = [{
    Operands are those of the rule.

    **Constraints**
    - (C1) There is one rule, and it is a rule of `attn.mask`.

    Example: `#attn.not<window<left = 2, right = 2>>`
  }];
  let assemblyFormat = "`<` custom<BareMaskRules>($rules) `>`";
}

def Attn_MaskRule : Attr<CPred<"::attn::isMaskRule($_self)">, "rule of attn.mask"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}
#endif // ATTN_DIALECT_IR_ATTNMASKATTRS_TD

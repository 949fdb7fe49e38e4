//===- AttnEnums.td - closed sets of choices ---------------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNENUMS_TD
#define ATTN_DIALECT_IR_ATTNENUMS_TD
include "attn/Dialect/IR/AttnDialect.td"
include "mlir/IR/EnumAttr.td"

class Attn_I32Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::attn";
}

def Attn_Layout : Attn_I32Enum<"Layout", "order of the dimensions of a head-split tensor", [
    I32EnumCase<"BSHD", 0, "bshd">, // (B, S, H, D), what a projection writes
    I32EnumCase<"BHSD", 1, "bhsd">, // (B, H, S, D), what frameworks transpose to
  ]>;
def Attn_LayoutAttr : EnumAttr<Attn_Dialect, Attn_Layout, "layout"> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_Alignment : Attn_I32Enum<"Alignment", "which key the diagonal of query 0 points at", [
    I32EnumCase<"TopLeft", 0, "top_left">,         // key 0
    I32EnumCase<"BottomRight", 1, "bottom_right">, // key M - N
    I32EnumCase<"Offset", 2, "offset">,            // key offset[b], an operand
  ]>;
def Attn_AlignmentAttr : EnumAttr<Attn_Dialect, Attn_Alignment, "alignment">;

def Attn_GeluForm : Attn_I32Enum<"GeluForm", "exact GELU or its tanh approximation", [
    I32EnumCase<"Erf", 0, "erf">, I32EnumCase<"Tanh", 1, "tanh">]>;
def Attn_GeluFormAttr : EnumAttr<Attn_Dialect, Attn_GeluForm, "gelu_form"> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_PoolKind : Attn_I32Enum<"PoolKind", "how a sequence becomes one vector", [
    I32EnumCase<"Mean", 0, "mean">, // mean over the positions that the mask keeps
    I32EnumCase<"Cls", 1, "cls">,   // position 0
  ]>;
def Attn_PoolKindAttr : EnumAttr<Attn_Dialect, Attn_PoolKind, "pool_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_SinusoidForm : Attn_I32Enum<"SinusoidForm", "where sine and cosine channels lie", [
    I32EnumCase<"Interleaved", 0, "interleaved">, // sin, cos, sin, cos, ...
    I32EnumCase<"Halves", 1, "halves">,           // all sines, then all cosines
  ]>;
def Attn_SinusoidFormAttr : EnumAttr<Attn_Dialect, Attn_SinusoidForm, "sinusoid_form"> {
  let assemblyFormat = "`<` $value `>`";
}
#endif // ATTN_DIALECT_IR_ATTNENUMS_TD

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

// An enum as an attribute. Its description is the table of its cases.
class Attn_EnumAttr<EnumInfo enumInfo, string mnemonic> : EnumAttr<Attn_Dialect, enumInfo, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Attn_Layout : Attn_I32Enum<"Layout", "order of the dimensions of a head-split tensor", [
    I32EnumCase<"BSHD", 0, "bshd">, I32EnumCase<"BHSD", 1, "bhsd">, I32EnumCase<"SBHD", 2, "sbhd">]>;
def Attn_LayoutAttr : Attn_EnumAttr<Attn_Layout, "layout"> {
  let description = [{
    | case   | meaning                                                     |
    |--------|-------------------------------------------------------------|
    | `bshd` | (B, S, H, D), what a projection writes: heads are a view    |
    | `bhsd` | (B, H, S, D), what frameworks transpose to                  |
    | `sbhd` | (S, B, H, D), of models whose sequence comes first          |

    Example: `#attn.layout<bshd>`
  }];
}

def Attn_Alignment : Attn_I32Enum<"Alignment", "which key the diagonal of query 0 points at", [
    I32EnumCase<"TopLeft", 0, "top_left">, I32EnumCase<"BottomRight", 1, "bottom_right">,
    I32EnumCase<"Offset", 2, "offset">]>;
def Attn_AlignmentAttr : Attn_EnumAttr<Attn_Alignment, "alignment"> {
  let description = [{
    | case           | the diagonal of query 0 points at key                            |
    |----------------|------------------------------------------------------------------|
    | `top_left`     | 0                                                                |
    | `bottom_right` | M - N, so that the last query is aligned with the last key       |
    | `offset`       | offset[b], an operand: the number of keys that came before       |

    Example: `#attn.alignment<bottom_right>`
  }];
}

def Attn_GeluForm : Attn_I32Enum<"GeluForm", "exact GELU or its tanh approximation", [
    I32EnumCase<"Erf", 0, "erf">, I32EnumCase<"Tanh", 1, "tanh">]>;
def Attn_GeluFormAttr : Attn_EnumAttr<Attn_GeluForm, "gelu_form"> {
  let description = [{
    | case   | meaning                                                 |
    |--------|---------------------------------------------------------|
    | `erf`  | the exact unit, by the error function                   |
    | `tanh` | the approximation that GPT-2 and its relatives train on |

    Example: `#attn.gelu_form<erf>`
  }];
}

def Attn_PoolKind : Attn_I32Enum<"PoolKind", "how a sequence becomes one vector", [
    I32EnumCase<"Mean", 0, "mean">, I32EnumCase<"Cls", 1, "cls">]>;
def Attn_PoolKindAttr : Attn_EnumAttr<Attn_PoolKind, "pool_kind"> {
  let description = [{
    | case   | meaning                                  |
    |--------|------------------------------------------|
    | `mean` | the mean over the positions that count   |
    | `cls`  | position 0, where the class token stands |

    Example: `#attn.pool_kind<mean>`
  }];
}

def Attn_SinusoidForm : Attn_I32Enum<"SinusoidForm", "where sine and cosine channels lie", [
    I32EnumCase<"Interleaved", 0, "interleaved">, I32EnumCase<"Halves", 1, "halves">]>;
def Attn_SinusoidFormAttr : Attn_EnumAttr<Attn_SinusoidForm, "sinusoid_form"> {
  let description = [{
    | case          | meaning                             |
    |---------------|-------------------------------------|
    | `interleaved` | sine, cosine, sine, cosine, ...     |
    | `halves`      | all sines first, then all cosines   |

    Example: `#attn.sinusoid_form<interleaved>`
  }];
}

def Attn_RotaryForm : Attn_I32Enum<"RotaryForm", "which channels turn together", [
    I32EnumCase<"Half", 0, "half">, I32EnumCase<"Interleaved", 1, "interleaved">]>;
def Attn_RotaryFormAttr : Attn_EnumAttr<Attn_RotaryForm, "rotary_form"> {
  let description = [{
    | case          | pair c of R / 2                              |
    |---------------|----------------------------------------------|
    | `half`        | channels c and c + R / 2 (Llama, GPT-NeoX)   |
    | `interleaved` | channels 2c and 2c + 1 (GPT-J, the paper)    |

    Example: `#attn.rotary_form<half>`
  }];
}
#endif // ATTN_DIALECT_IR_ATTNENUMS_TD

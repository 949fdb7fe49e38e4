//===- AttnTuningAttrs.td - measured tile sizes -------------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The elements of a module's `attn.tuning`, which `attn-run --tune` writes.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNTUNINGATTRS_TD
#define ATTN_DIALECT_IR_ATTNTUNINGATTRS_TD
include "attn/Dialect/IR/AttnDialect.td"

def Attn_TunedAttentionAttr : Attn_AttrDef<"TunedAttention", "tuned_attention"> {
  let summary = "tile sizes for attention of some head size on a target";
  let description = [{
    An element of `attn.tuning`, the list of a module of what takes the place of the cost model's choices.
    It counts for attention on `target` with heads of these sizes, with a mask or without one. Kernels for at most 8 queries and
    those on a matrix unit keep the model's choice.

    | parameter    | meaning                                                    |
    |--------------|------------------------------------------------------------|
    | `target`     | name of the target                                         |
    | `head_size`  | channels of a query and a key                              |
    | `value_size` | channels of a value                                        |
    | `is_masked`  | whether a mask hides keys                                  |
    | `queries`    | queries of a tile, a multiple of the target's f32 lanes |
    | `keys`       | keys of a tile                                             |
    | `key_unroll` | keys of a score register tile                              |

    **Constraints**
    - (C1) Each number is positive.
    - (C2) `key_unroll` divides `keys`.

    Example: `#attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 64, is_masked = false, queries = 24, keys = 128, key_unroll = 4>`
  }];
  let parameters = (ins StringRefParameter<>:$target, "int64_t":$head_size, "int64_t":$value_size,
                        "bool":$is_masked, "int64_t":$queries, "int64_t":$keys, "int64_t":$key_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_TunedLinearAttr : Attn_AttrDef<"TunedLinear", "tuned_linear"> {
  let summary = "register tile and cache blocks for linear layers of some size on a target";
  let description = [{
    An element of `attn.tuning`, as `#attn.tuned_attention`. It counts for linear layers on `target` with these channels. Those
    on a matrix unit keep the model's choice.

    | parameter               | meaning                                                          |
    |-------------------------|------------------------------------------------------------------|
    | `target`                | name of the target                                               |
    | `inputs`, `outputs`     | K and N                                                          |
    | `mr`, `nr`, `kc`, `mb`  | as in `#attn.linear_schedule`; `nr` is a multiple of the target's f32 lanes |

    **Constraints**
    - (C1) Each number but `kc` is positive.
    - (C2) `kc` is not negative.

    Example: `#attn.tuned_linear<target = "x86-64-v3", inputs = 384, outputs = 1536, mr = 4, nr = 24, kc = 0, mb = 512>`
  }];
  let parameters = (ins StringRefParameter<>:$target, "int64_t":$inputs, "int64_t":$outputs,
                        "int64_t":$mr, "int64_t":$nr, "int64_t":$kc, "int64_t":$mb);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
#endif // ATTN_DIALECT_IR_ATTNTUNINGATTRS_TD

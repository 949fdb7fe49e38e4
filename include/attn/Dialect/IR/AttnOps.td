//===- AttnOps.td - graph level: attention and its neighbours *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNOPS_TD
#define ATTN_DIALECT_IR_ATTNOPS_TD
include "attn/Dialect/IR/AttnAttrs.td"
include "attn/Dialect/IR/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
class Attn_FloatTensorOfRank<list<int> ranks> : TensorRankOf<[F16, BF16, F32, F64], ranks>;
def Attn_IntTensor : RankedTensorOf<[I1, I8, I32, I64]>;
def Attn_FloatLike : AnyTypeOf<[F16, BF16, F32, F64, Attn_FloatTensor]>;

// Every graph op is pure and reports the sizes of its result in terms of its operands.
class Attn_GraphOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>])>;

def Attn_LinearOp : Attn_GraphOp<"linear"> {
  let summary = "linear layer, y = x W^T + b";
  let description = [{
    | value    | shape     | type  |
    |----------|-----------|-------|
    | `input`  | ..., K    | float |
    | `weight` | N, K      | float |
    | `bias`   | N         | float |
    | result   | ..., N    | float |
    ```mlir
    %y = attn.linear %x, %w bias(%b) : tensor<?x?x384xf32>, tensor<1536x384xf32>, tensor<1536xf32> -> tensor<?x?x1536xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensor, "rows of K channels">:$input,
                       Arg<Attn_FloatTensorOfRank<[2]>, "one row of K weights an output channel">:$weight,
                       Arg<Optional<Attn_FloatTensorOfRank<[1]>>, "added to every row">:$bias);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? attr-dict
    `:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_SplitHeadsOp : Attn_GraphOp<"split_heads"> {
  let summary = "(B, S, H*D) to (B, S, H, D) or (B, H, S, D)";
  let arguments = (ins Attn_FloatTensorOfRank<[3]>:$input, ConfinedAttr<I64Attr, [IntPositive]>:$heads, Attn_LayoutAttr:$layout);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result);
  let assemblyFormat = "$input `heads` `(` $heads `)` `layout` `(` custom<Layout>($layout) `)` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_MergeHeadsOp : Attn_GraphOp<"merge_heads"> {
  let summary = "(B, S, H, D) or (B, H, S, D) to (B, S, H*D): concatenates the heads";
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$input, Attn_LayoutAttr:$layout);
  let results = (outs Attn_FloatTensorOfRank<[3]>:$result);
  let assemblyFormat = "$input `layout` `(` custom<Layout>($layout) `)` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_ScoresOp : Attn_GraphOp<"scores"> {
  let summary = "scaled product of queries and keys, s[b,h,i,j] = scale * sum_d q[b,h,i,d] k[b,h/(H/G),j,d]";
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$query, Attn_FloatTensorOfRank<[4]>:$key,
                       Arg<Optional<AnyFloat>, "1 / sqrt(D) where absent">:$scale, Attn_LayoutAttr:$layout);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result); // (B, H, N, M) for either layout
  let assemblyFormat = [{
    $query `,` $key (`scale` `(` $scale^ `:` type($scale) `)`)? `layout` `(` custom<Layout>($layout) `)` attr-dict
    `:` type($query) `,` type($key) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_MaskOp : Attn_GraphOp<"mask", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "hides pairs: the score of a pair that the rule does not show becomes -inf";
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$scores,
                       AnyAttrOf<[Attn_CausalAttr, Attn_WindowAttr, Attn_KeyLengthsAttr, Attn_KeyPaddingAttr, Attn_DenseMaskAttr]>:$rule,
                       Optional<AnyRankedTensor>:$operand);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result);
  let assemblyFormat = "$scores `by` custom<TypelessAttr>($rule) (`(` $operand^ `:` type($operand) `)`)? attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def Attn_BiasOp : Attn_GraphOp<"bias", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "adds a tensor that broadcasts to (B, H, N, M) to the scores";
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$scores, Attn_FloatTensor:$bias);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result);
  let assemblyFormat = "$scores `,` $bias attr-dict `:` type($scores) `,` type($bias)";
  let hasVerifier = 1;
}

def Attn_SoftmaxOp : Attn_GraphOp<"softmax"> {
  let summary = "softmax over the last dimension; a row of -inf gives zeros";
  let description = [{
    The optional second result is the natural log-sum-exp of each row, -inf for an empty row.
  }];
  let arguments = (ins Attn_FloatTensor:$input);
  let results = (outs Attn_FloatTensor:$result, Optional<Attn_FloatTensor>:$lse);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result) (`,` type($lse)^)?";
  let hasVerifier = 1;
}

def Attn_MixOp : Attn_GraphOp<"mix"> {
  let summary = "weights times values, o[b,h,i,d] = sum_j p[b,h,i,j] v[b,h/(H/G),j,d]";
  let description = [{ A weight of exactly zero contributes nothing, even if the value is NaN or infinite. }];
  let arguments = (ins Attn_FloatTensorOfRank<[4]>:$weights, Attn_FloatTensorOfRank<[4]>:$value, Attn_LayoutAttr:$layout);
  let results = (outs Attn_FloatTensorOfRank<[4]>:$result);
  let assemblyFormat = "$weights `,` $value `layout` `(` custom<Layout>($layout) `)` attr-dict `:` type($weights) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_LayerNormOp : Attn_GraphOp<"layer_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "y = (x - mean) / sqrt(var + epsilon) * gamma + beta over the last dimension";
  let arguments = (ins Attn_FloatTensor:$input, Attn_FloatTensorOfRank<[1]>:$gamma, Attn_FloatTensorOfRank<[1]>:$beta, F64Attr:$epsilon);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = "$input `,` $gamma `,` $beta `epsilon` `(` custom<F64>($epsilon) `)` attr-dict `:` type($input) `,` type($gamma) `,` type($beta)";
  let hasVerifier = 1;
}

def Attn_GeluOp : Attn_Op<"gelu", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "Gaussian error linear unit of a tensor or a scalar";
  let arguments = (ins Attn_FloatLike:$input, Attn_GeluFormAttr:$form);
  let results = (outs Attn_FloatLike:$result);
  let assemblyFormat = "$input `` $form attr-dict `:` type($input)";
}

def Attn_ReluOp : Attn_Op<"relu", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "max(x, 0) of a tensor or a scalar";
  let arguments = (ins Attn_FloatLike:$input);
  let results = (outs Attn_FloatLike:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Attn_EmbeddingOp : Attn_GraphOp<"embedding"> {
  let summary = "rows of a table selected by ids: y[..., :] = table[ids[...], :]";
  let description = [{ An id outside the table is an error of the caller, which a compiled model reports (`attn.check_ids`). }];
  let arguments = (ins RankedTensorOf<[I32, I64]>:$ids, Attn_FloatTensorOfRank<[2]>:$table);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_LearnedPositionsOp : Attn_GraphOp<"learned_positions", [AllTypesMatch<["input", "result"]>]> {
  let summary = "adds a learned position table: y[b,s,:] = x[b,s,:] + table[s + first,:]";
  let arguments = (ins Attn_FloatTensorOfRank<[3]>:$input, Attn_FloatTensorOfRank<[2]>:$table, DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs Attn_FloatTensorOfRank<[3]>:$result);
  let assemblyFormat = "$input `,` $table (`first` `(` $first^ `)`)? attr-dict `:` type($input) `,` type($table)";
  let hasVerifier = 1;
}

def Attn_SinusoidalOp : Attn_GraphOp<"sinusoidal", [AllTypesMatch<["input", "result"]>]> {
  let summary = "adds sinusoidal positions to (B, S, D)";
  let arguments = (ins Attn_FloatTensorOfRank<[3]>:$input, Attn_SinusoidFormAttr:$form, DefaultValuedAttr<F64Attr, "10000.0">:$base);
  let results = (outs Attn_FloatTensorOfRank<[3]>:$result);
  let assemblyFormat = "$input `` $form (`base` `(` custom<F64>($base)^ `)`)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Attn_PoolOp : Attn_GraphOp<"pool"> {
  let summary = "one vector a sequence: (B, S, D) to (B, D)";
  let description = [{
    `mean`: sum_s mask[b,s] x[b,s,:] / max(sum_s mask[b,s], 1e-9), where a position that the mask
    hides adds nothing, NaN included; without a mask all positions. `cls`: x[b,0,:].
  }];
  let arguments = (ins Attn_FloatTensorOfRank<[3]>:$input, Optional<Attn_IntTensor>:$mask, Attn_PoolKindAttr:$kind);
  let results = (outs Attn_FloatTensorOfRank<[2]>:$result);
  let assemblyFormat = "$input (`mask` `(` $mask^ `:` type($mask) `)`)? `` $kind attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_L2NormalizeOp : Attn_GraphOp<"l2_normalize", [AllTypesMatch<["input", "result"]>]> {
  let summary = "x / max(sqrt(sum x^2), epsilon) over the last dimension";
  let arguments = (ins Attn_FloatTensor:$input, F64Attr:$epsilon);
  let results = (outs Attn_FloatTensor:$result);
  let assemblyFormat = "$input `epsilon` `(` custom<F64>($epsilon) `)` attr-dict `:` type($input)";
  let hasVerifier = 1;
}
#endif // ATTN_DIALECT_IR_ATTNOPS_TD

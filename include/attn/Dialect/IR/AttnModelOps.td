//===- AttnModelOps.td - weights, dimensions, kernels, calls *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNMODELOPS_TD
#define ATTN_DIALECT_IR_ATTNMODELOPS_TD
include "attn/Dialect/IR/AttnOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Attn_WeightOp : Attn_Op<"weight", [Symbol]> {
  let summary = "names a constant tensor and says where its data come from";
  let description = [{
    ```mlir
    attn.weight @query #attn.source<"model.safetensors", "query.weight"> : tensor<384x384xf32>
    attn.weight @qkv #attn.concat<[@query, @key, @value], axis = 0> : tensor<1152x384xf32>
    attn.weight @qkv_panels #attn.pack<@qkv, panel = 24> : tensor<48x384x24xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
      AnyAttrOf<[Attn_SourceAttr, Attn_ValueAttr, Attn_ConcatAttr, Attn_PackAttr]>:$recipe, TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$sym_name custom<TypelessAttr>($recipe) attr-dict `:` $type";
  let hasVerifier = 1;
}

def Attn_WeightRefOp : Attn_Op<"weight_ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the tensor of an attn.weight";
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Attn_PackOp : Attn_GraphOp<"pack"> {
  let summary = "the (N, K) weight of a linear layer as panels (ceil(N / panel), K, panel), zero padded";
  let arguments = (ins Attn_FloatTensorOfRank<[2]>:$weight, ConfinedAttr<I64Attr, [IntPositive]>:$panel);
  let results = (outs Attn_FloatTensorOfRank<[3]>:$result);
  let assemblyFormat = "$weight `panel` `(` $panel `)` attr-dict `:` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_DimOp : Attn_Op<"dim", [Symbol]> {
  let summary = "names a size that is known when the model runs, with its range";
  let description = [{
    Arguments and results of the entry function refer to it: `{attn.dims = ["batch", "sequence"]}`,
    one string a dimension, "" for a static one. The range is inclusive.
    ```mlir
    attn.dim @sequence range(1, 512)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, I64Attr:$min, I64Attr:$max);
  let assemblyFormat = "$sym_name `range` `(` $min `,` $max `)` attr-dict";
  let hasVerifier = 1;
}

def Attn_DimSizeOp : Attn_Op<"dim_size", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the run-time value of an attn.dim";
  let arguments = (ins FlatSymbolRefAttr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
}

def Attn_CheckIdsOp : Attn_Op<"check_ids"> {
  let summary = "a compiled model returns an error unless 0 <= id < limit for every id";
  let arguments = (ins AnyTypeOf<[RankedTensorOf<[I32, I64]>, AnyStridedMemRef]>:$ids, I64Attr:$limit, StrAttr:$name);
  let assemblyFormat = "$ids `below` `(` $limit `)` `name` `(` $name `)` attr-dict `:` type($ids)";
}

def Attn_KernelOp : Attn_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a unit of code generation: one fused operation, or its tiled loops";
  let description = [{
    Formed by `attn-form-kernels`: positional arguments, no names inside, so that equal groups share
    one kernel. `attn-schedule` sets `schedule`. The body ends in `attn.yield`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
      OptionalAttr<AnyAttrOf<[Attn_FlashScheduleAttr, Attn_LinearScheduleAttr, Attn_RowwiseScheduleAttr]>>:$schedule);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Attn_CallOp : Attn_Op<"call", [AttrSizedOperandSegments, DestinationStyleOpInterface,
      DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "calls a kernel, destination-passing";
  let description = [{
    ```mlir
    %y = attn.call @linear_0 ins(%x, %w : tensor<?x384xf32>, tensor<48x384x24xf32>) outs(%init : tensor<?x1152xf32>) -> tensor<?x1152xf32>
    ```
    Every element of an output is written; the contents of `outs` are never read.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs, Variadic<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outputs^ `:` type($outputs))? `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{ ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); } }];
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of attn.attention, attn.fused_linear, attn.kernel or a tile op";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
#endif // ATTN_DIALECT_IR_ATTNMODELOPS_TD

//===- AttnModelOps.td - weights, dimensions, kernels, calls *- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a module consists of beside its entry function: constant tensors and
// where they come from, names and ranges of dynamic sizes, kernels.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNMODELOPS_TD
#define ATTN_DIALECT_IR_ATTNMODELOPS_TD
include "attn/Dialect/IR/AttnLayerOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"

//===----------------------------------------------------------------------===//
// attn.weight, attn.weight_ref, attn.pack
//===----------------------------------------------------------------------===//

def Attn_WeightOp : Attn_Op<"weight", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "names a constant tensor and says where its data come from";
  let description = [{
    The data are not in the IR: a *recipe* says how to make them, and they are streamed
    through it when the weights file is written, so that a large model is never in memory.

    | recipe                           | type of the weight                        |
    |----------------------------------|-------------------------------------------|
    | `source<"file", "tensor">`       | that of the file's tensor, or f32         |
    | `bytes<"file", offset = n>`      | any                                       |
    | `value<elements>`                | that of the elements                      |
    | `concat<[@a, @b], axis = n>`     | that of the parts, sizes added along `n`  |
    | `pack<@a, panel = p>`            | ceil(N / p), K, p for an `@a` of N, K     |

    **Constraints**
    - (C1) The type is static, of floats or integers.
    - (C2) The elements of `value` have the type of the weight.
    - (C3) The weights that `concat` names exist, agree in all but the axis, and fill the type.
    - (C4) The weight that `pack` names exists, is of rank 2, and fills the type.
    - (C5) A recipe does not lead back to its own weight.

    Lifetime: all levels. `attn-fuse-linear` adds `concat`, `attn-schedule` adds `pack`.

    Example:
    ```mlir
    attn.weight @query source<"model.safetensors", "query.weight"> : tensor<384x384xf32>
    attn.weight @key source<"model.safetensors", "key.weight"> : tensor<384x384xf32>
    attn.weight @both concat<[@query, @key], axis = 0> : tensor<768x384xf32>
    attn.weight @panels pack<@both, panel = 24> : tensor<32x384x24xf32>
    attn.weight @bias value<dense<[0.5, 1.5]> : tensor<2xf32>> : tensor<2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
      AnyAttrOf<[Attn_SourceAttr, Attn_BytesAttr, Attn_ValueAttr, Attn_ConcatAttr, Attn_PackAttr]>:$recipe,
      TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$sym_name custom<TypelessAttr>($recipe) attr-dict `:` $type";
  let hasVerifier = 1;
}

def Attn_WeightRefOp : Attn_Op<"weight_ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the tensor of an attn.weight";
  let description = [{
    **Constraints**
    - (C1) `weight` names an `attn.weight`, whose type is that of the result.

    Lifetime: all levels, outside kernels. A weight reaches a kernel as an argument.

    Example:
    ```mlir
    attn.weight @query source<"model.safetensors", "query.weight"> : tensor<384x384xf32>
    %query = attn.weight_ref @query : tensor<384x384xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Res<AnyRankedTensor, "The weight's data.">:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Attn_PackOp : Attn_GraphOp<"pack"> {
  let summary = "the weight of a linear layer as zero-padded panels";
  let description = [{
    A panel holds the weights of `panel` output channels, those of one k side by side: what one
    step of a register tile reads.

        result[p, k, c] = p * panel + c < N ? weight[p * panel + c, k] : 0

    | value    | shape                     | type  |
    |----------|---------------------------|-------|
    | `weight` | N, K                      | float |
    | result   | ceil(N / panel), K, panel | float |

    **Constraints**
    - (C1) N and K are static, and the result is (ceil(N / panel), K, panel).
    - (C2) The element types are equal.

    Lifetime: made by `attn-schedule`, which folds the pack of an `attn.weight` into a weight with
    the recipe `pack`.

    Example:
    ```mlir
    %panels = attn.pack %w panel(24) : tensor<1152x384xf32> -> tensor<48x384x24xf32>
    ```
  }];
  let arguments = (ins Arg<Attn_FloatTensorOfRank<[2]>, "One row an output channel.">:$weight,
                       ConfinedAttr<I64Attr, [IntPositive]>:$panel);
  let results = (outs Res<Attn_FloatTensorOfRank<[3]>, "Panels of output channels.">:$result);
  let assemblyFormat = "$weight `panel` `(` $panel `)` attr-dict `:` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// attn.dim, attn.dim_size, attn.check_ids
//===----------------------------------------------------------------------===//

def Attn_DimOp : Attn_Op<"dim", [Symbol]> {
  let summary = "names a size that is known when the model runs, with its range";
  let description = [{
    Arguments and results of the entry function refer to it by
    `{attn.dims = ["batch", "sequence", ""]}`, one string a dimension, `""` where the size has no
    name. Equal names are equal sizes. The range is inclusive; a compiled model refuses a
    size outside it. A name without an `attn.dim` has any range; `attn-name-dims` declares it.

    **Constraints**
    - (C1) 0 <= `min` <= `max`.
    - (C2) The name is a C identifier, because generated headers use it.

    Lifetime: all levels.

    Example:
    ```mlir
    attn.dim @sequence range(1, 512)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       I64Attr:$min, I64Attr:$max);
  let assemblyFormat = "$sym_name `range` `(` $min `,` $max `)` attr-dict";
  let hasVerifier = 1;
}

def Attn_DimSizeOp : Attn_Op<"dim_size", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
      DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForIndexValue"]>]> {
  let summary = "the run-time value of an attn.dim";
  let description = [{
    Folds to a constant where the dimension's range holds one value.

    **Constraints**
    - (C1) `dim` names an `attn.dim`.

    Lifetime: made by `attn-name-dims`; all levels after it, outside kernels.

    Example:
    ```mlir
    attn.dim @sequence range(1, 512)
    %s = attn.dim_size @sequence
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$dim);
  let results = (outs Res<Index, "The size.">:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasCanonicalizer = 1;
}

def Attn_CheckIdsOp : Attn_Op<"check_ids"> {
  let summary = "refuses ids outside a table";
  let description = [{
    A compiled model returns an error that says `name`, the position and the id, unless
    0 <= id < `limit` holds for every id. The limit is a number, or a value where a dynamic
    dimension decides.

    **Constraints**
    - (C1) `limit`, if it is a number, is positive.
    - (C2) `ids` holds i32 or i64, in a tensor or, after bufferization, in a memref.
    - (C3) There is one limit, a number or a value.

    Lifetime: made by `attn-form-kernels` in front of a kernel with an `attn.embedding`, and by
    `attn-generalize` for the positions of an `attn.rotary` and the lengths of an `attn.cache_append`.

    Example:
    ```mlir
    attn.check_ids %ids below(30522) name("input_ids") : tensor<?x?xi64>
    attn.check_ids %length below(%room) name("length") : tensor<?xi64>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[RankedTensorOf<[I32, I64]>, MemRefOf<[I32, I64]>]>, "Row numbers of a table.">:$ids,
                       Arg<Optional<Index>, "What ids are below, as a value.">:$bound,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$limit, StrAttr:$name);
  let assemblyFormat = [{
    $ids `below` `(` ($limit^) : (`` $bound)? `)` `name` `(` $name `)` attr-dict `:` type($ids)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$ids, "::mlir::OpFoldResult":$limit, "::llvm::StringRef":$name)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The limit, whichever way it is given.
    ::mlir::OpFoldResult getMixedLimit();
  }];
}

def Attn_TransferOp : Attn_Op<"transfer"> {
  let summary = "brings a tensor to where it is needed next";
  let description = [{
    A model for a device keeps each tensor in two memories, the host's and the device's, of which one or both hold
    its value. This copies it to the other one.

    A tensor of the caller's may be memory of the device to begin with (`NAME_bind_device`); `unless_bound` and
    `if_bound` make the copy depend on that.

    Lifetime: made when a host function for a device is compiled (`--emit=host` shows it).

    Example:
    ```mlir
    attn.transfer to_device unless_bound %input : memref<?x384xf32>
    attn.transfer to_host %scores : memref<8x8xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "All of a tensor.">:$buffer, UnitAttr:$to_device, UnitAttr:$unless_bound,
                       UnitAttr:$if_bound, OptionalAttr<I64Attr>:$root);
  let assemblyFormat = [{
    (`to_device` $to_device^) : (`to_host`)? (`unless_bound` $unless_bound^)? (`if_bound` $if_bound^)? $buffer
    attr-dict `:` type($buffer)
  }];
}

def Attn_DeviceCopyOp : Attn_Op<"device_copy"> {
  let summary = "copies a tensor in the memory of a device";
  let description = [{
    What `memref.copy` is for the host.

    Lifetime: made when a host function for a device is compiled (`--emit=host` shows it).

    Example:
    ```mlir
    attn.device_copy %past to %present : memref<?x64xf32>, memref<?x64xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "Where from.">:$source, Arg<AnyMemRef, "Where to.">:$target,
                       OptionalAttr<I64Attr>:$source_root, OptionalAttr<I64Attr>:$target_root);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target)";
}

//===----------------------------------------------------------------------===//
// attn.kernel, attn.call, attn.yield
//===----------------------------------------------------------------------===//

def Attn_KernelOp : Attn_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a unit of code generation: one fused operation, or its tiled loops";
  let description = [{
    Has positional arguments and no names inside, so that equal groups share one kernel.

    | level | body                                                                         |
    |-------|------------------------------------------------------------------------------|
    | fused | an `attn.attention`, an `attn.fused_linear`, a row-wise or a generic group    |
    | tiled | the same, and `schedule`; an `attn.attention` is opened into loops over tiles |

    **Constraints**
    - (C1) The kernel has a body, whose arguments have the types of the signature.
    - (C2) The body ends in an `attn.yield` of values with the types of the results.
    - (C3) Arguments are ranked tensors, indices, integers and floats, results are ranked tensors.

    Lifetime: made by `attn-form-kernels`. `attn-schedule` sets `schedule`. The Halide target
    turns each kernel into a function, and the host function into calls of it.

    Example:
    ```mlir
    attn.kernel @linear_0(%x: tensor<?x384xf32>, %w: tensor<64x384x24xf32>) -> tensor<?x1536xf32>
        attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 384, mb = 128>} {
      %y = attn.fused_linear %x, %w : tensor<?x384xf32>, tensor<64x384x24xf32> -> tensor<?x1536xf32>
      attn.yield %y : tensor<?x1536xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
      OptionalAttr<AnyAttrOf<[Attn_FlashScheduleAttr, Attn_DecodeScheduleAttr, Attn_MatrixScheduleAttr, Attn_LinearScheduleAttr, Attn_MatrixLinearScheduleAttr,
                              Attn_RowwiseScheduleAttr, Attn_GpuAttentionScheduleAttr, Attn_GpuLinearScheduleAttr,
                              Attn_GpuRowwiseScheduleAttr, Attn_LoopsScheduleAttr]>>:$schedule);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Whether the kernel goes through convert-attn-to-loops, and not through Halide.
    bool isLoopKernel() { return ::llvm::isa_and_present<::attn::LoopsScheduleAttr>(getScheduleAttr()); }
    /// Whether a tensor of the kernel holds f64, which Halide kernels do not compute with.
    bool hasDoubles();
  }];
}

def Attn_CallOp : Attn_Op<"call", [AttrSizedOperandSegments, DestinationStyleOpInterface,
      DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "calls a kernel, destination-passing";
  let description = [{
    Every element of an output is written; the contents of `outputs` are never read. On tensors
    it has one result an output; on memrefs, after bufferization, it has none.

    **Constraints**
    - (C1) `callee` names an `attn.kernel`.
    - (C2) `inputs` are the kernel's arguments in number and type.
    - (C3) `outputs` are the kernel's results in number and type.
    - (C4) Shaped operands are all tensors, or all memrefs of the same shapes and element types.
    - (C5) The results have the types of tensor `outputs`.

    Lifetime: made by `attn-form-kernels`; the host target turns it into a call of a C function.

    Example:
    ```mlir
    attn.kernel @linear_0(%x: tensor<?x384xf32>, %w: tensor<64x384x24xf32>) -> tensor<?x1536xf32> {
      %y = attn.fused_linear %x, %w : tensor<?x384xf32>, tensor<64x384x24xf32> -> tensor<?x1536xf32>
      attn.yield %y : tensor<?x1536xf32>
    }
    func.func @main(%x: tensor<?x384xf32>, %w: tensor<64x384x24xf32>, %init: tensor<?x1536xf32>) -> tensor<?x1536xf32> {
      %y = attn.call @linear_0 ins(%x, %w : tensor<?x384xf32>, tensor<64x384x24xf32>)
          outs(%init : tensor<?x1536xf32>) -> tensor<?x1536xf32>
      return %y : tensor<?x1536xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Arg<Variadic<AnyType>, "Arguments of the kernel.">:$inputs,
                       Arg<Variadic<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>>, "Where results go.">:$outputs);
  let results = (outs Res<Variadic<AnyRankedTensor>, "The written outputs.">:$results);
  let assemblyFormat = [{
    $callee `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outputs^ `:` type($outputs))? `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{ ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); } }];
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<[
      "AttentionOp", "FusedLinearOp", "KernelOp", "TileScoresOp", "TileScoreOp", "TileMaskOp", "TileAnyOp", "TileMixOp"]>]> {
  let summary = "ends a region of a kernel, a fused operation or a tile operation";
  let description = [{
    The operation around it says what is to be yielded and checks it.

    Lifetime: fused and tiled level.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) mask {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %visible = arith.cmpi ule, %j, %i : index
      attn.yield %visible : i1
    } : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32> -> tensor<?x?x12x32xf32>
    ```
  }];
  let arguments = (ins Arg<Variadic<AnyType>, "Results of the region.">:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
#endif // ATTN_DIALECT_IR_ATTNMODELOPS_TD

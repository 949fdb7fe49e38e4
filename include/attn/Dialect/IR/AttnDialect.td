//===- AttnDialect.td - the dialect and its op base class --*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNDIALECT_TD
#define ATTN_DIALECT_IR_ATTNDIALECT_TD
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "attention models, from named operations down to tiled loops";
  let description = [{
    One dialect, three levels. *Graph*: operations a person recognises from the
    literature (`attn.linear`, `attn.scores`, `attn.softmax`, ...). *Fused*: one
    `attn.attention` or `attn.fused_linear` a kernel, with regions for what is
    element-wise. *Tiled*: FlashAttention loops over values of type `!attn.tile`.

    Sizes carry the same letters everywhere: B batch, H query heads, G key/value
    heads, N queries, M keys, D head size, S sequence.

    Functions and modules of other dialects carry three attributes of this one:

    | attribute     | of                                 | meaning                                                      |
    |---------------|------------------------------------|--------------------------------------------------------------|
    | `attn.name`   | arguments and results of the entry | a C identifier of its own, used by the generated header      |
    | `attn.dims`   | arguments and results of the entry | one string a dimension: the name of its size, `""` for none  |
    | `attn.target` | a module                           | the CPU that its kernels are compiled for                    |

    An `attn.dim` declares the range of a name in `attn.dims`; `attn-name-dims` declares those that
    have none.

    Example:
    ```mlir
    module attributes {attn.target = "x86-64-v3"} {
      attn.dim @batch range(1, 8)
      func.func @model(%x: tensor<?x16xf32> {attn.name = "input", attn.dims = ["batch", ""]}) -> (tensor<?x16xf32> {attn.name = "output"}) {
        %y = attn.relu %x : tensor<?x16xf32>
        return %y : tensor<?x16xf32>
      }
    }
    ```
  }];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

// An op whose printed results are called after what they are: the first one
// `resultName`, a second one `lse`. Regions name their arguments in
// AttnNames.cpp.
class Attn_NamedOp<string mnemonic, string resultName, list<Trait> traits = [],
                   list<string> namedParts = ["getAsmResultNames"]>
    : Attn_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<OpAsmOpInterface, namedParts>])> {
  let extraClassDefinition =
      "void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {\n"
      # "  setName((*this)->getResult(0), \"" # resultName # "\");\n"
      # "  if ((*this)->getNumResults() > 1)\n"
      # "    setName((*this)->getResult(1), \"lse\");\n"
      # "}\n";
}
#endif // ATTN_DIALECT_IR_ATTNDIALECT_TD

//===- AttnTypes.td - the tile type ------------------------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTNTYPES_TD
#define ATTN_DIALECT_IR_ATTNTYPES_TD
include "attn/Dialect/IR/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_TileType : TypeDef<Attn_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "a block of values that lives in registers or the first-level cache";
  let description = [{
    A static shape of rank 1 or 2. Rows and columns past the edge of the tensor that a tile
    was loaded from hold nothing and are never observable: they add nothing to maxima and
    sums and are not stored.

    Example: `!attn.tile<24x128xf32>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class Attn_TileOfRank<int rank> : Type<
    And<[CPred<"::llvm::isa<::attn::TileType>($_self)">,
         CPred<"::llvm::cast<::attn::TileType>($_self).getShape().size() == " # rank>]>,
    "tile of rank " # rank, "::attn::TileType">;
def Attn_Tile1D : Attn_TileOfRank<1>;
def Attn_Tile2D : Attn_TileOfRank<2>;
def Attn_AnyTile : AnyTypeOf<[Attn_Tile1D, Attn_Tile2D]>;
#endif // ATTN_DIALECT_IR_ATTNTYPES_TD

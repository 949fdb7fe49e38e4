//===- PrintNamed.cpp - IR with names for its values ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/PrintNamed.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

/// The location, or none where the printer would take a place for a name.
static Location withoutPlaces(Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  if (name && isa<UnknownLoc>(name.getChildLoc()))
    return UnknownLoc::get(loc.getContext());
  return loc;
}

/// Text has the names of arguments in attributes; the printer looks at
/// locations.
static void nameArguments(FunctionOpInterface function) {
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), "attn.name");
        name && !name.empty())
      argument.setLoc(NameLoc::get(name, argument.getLoc()));
}

void attn::printNamed(Operation *op, llvm::raw_ostream &os) {
  op->walk([](Operation *nested) {
    nested->setLoc(withoutPlaces(nested->getLoc()));
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(withoutPlaces(argument.getLoc()));
    auto function = dyn_cast<FunctionOpInterface>(nested);
    if (function && !function.isExternal())
      nameArguments(function);
  });
  op->print(os, OpPrintingFlags().printNameLocAsPrefix());
  os << "\n";
}

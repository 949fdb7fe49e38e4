// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

LogicalResult tested(Operation *op, int heads) {
  return op->emitOpError("expected two heads, got ") << heads;
}

LogicalResult untested(Operation *op, int heads) {
  return op->emitOpError("expected three heads, got ") << heads;
}

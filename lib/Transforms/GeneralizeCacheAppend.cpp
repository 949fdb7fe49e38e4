//===- GeneralizeCacheAppend.cpp - the stores of a cache --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// New positions go behind those that each batch row holds: one slice a row, in
// a loop of the host function. Bufferization stores them in place, unless the
// former cache is read afterwards. One that belongs to the caller is copied to
// the result, unless the caller gives both the same memory (shareInputs).
//
//===----------------------------------------------------------------------===//

#include "GeneralizeAttention.h"
#include "HostSizes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

void attn::checkIdsOnce(OpBuilder &builder, Location loc, Value ids,
                        OpFoldResult limit, StringRef name) {
  // As a number a limit is positive. Nothing is below another one.
  if (std::optional<int64_t> number = getConstantIntValue(limit);
      number && *number < 1)
    limit = getValueOrCreateConstantIndexOp(builder, loc, limit);
  Block *block = builder.getBlock();
  bool isChecked = llvm::any_of(ids.getUsers(), [&](Operation *user) {
    auto check = dyn_cast<CheckIdsOp>(user);
    return check && check->getBlock() == block &&
           isEqualConstantIntOrValue(check.getMixedLimit(), limit);
  });
  if (!isChecked)
    CheckIdsOp::create(builder, loc, ids, limit, argumentName(ids, name));
}

/// Lengths from 0 to C - S leave room for the new positions. Where S is above
/// C, no length does.
static void checkLengths(OpBuilder &builder, CacheAppendOp op,
                         OpFoldResult capacity, OpFoldResult positions) {
  Location loc = op.getLoc();
  std::optional<int64_t> c = getConstantIntValue(capacity);
  std::optional<int64_t> s = getConstantIntValue(positions);
  OpFoldResult limit;
  if (c && s) {
    limit = builder.getIndexAttr(*c - *s + 1); // cache_append_c2
  } else {
    auto index = [&](OpFoldResult size) {
      return getValueOrCreateConstantIndexOp(builder, loc, size);
    };
    Value room =
        arith::SubIOp::create(builder, loc, index(capacity), index(positions));
    limit = arith::AddIOp::create(builder, loc, room,
                                  index(builder.getIndexAttr(1)))
                .getResult();
  }
  checkIdsOnce(builder, loc, op.getLength(), limit, "length");
}

void attn::generalizeCacheAppend(CacheAppendOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned batchAt = batchDim(op.getLayout());
  unsigned sequenceAt = sequenceDim(op.getLayout());
  OpFoldResult capacity = hostSize(builder, loc, op.getCache(), sequenceAt);
  SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, op.getUpdate());
  checkLengths(builder, op, capacity, sizes[sequenceAt]);

  auto index = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value batches = index(sizes[batchAt]);
  sizes[batchAt] = one;
  auto loop = scf::ForOp::create(
      builder, loc, index(zero), batches, index(one), op.getCache(),
      [&](OpBuilder &body, Location at, Value row, ValueRange caches) {
        Value length = tensor::ExtractOp::create(body, at, op.getLength(), row);
        length =
            arith::IndexCastOp::create(body, at, body.getIndexType(), length);
        SmallVector<OpFoldResult> from(4, zero), strides(4, one);
        from[batchAt] = row;
        SmallVector<OpFoldResult> to = from;
        to[sequenceAt] = length;
        Value slice = tensor::ExtractSliceOp::create(body, at, op.getUpdate(),
                                                     from, sizes, strides);
        Value cache = tensor::InsertSliceOp::create(
            body, at, slice, caches.front(), to, sizes, strides);
        scf::YieldOp::create(body, at, cache);
      });
  op.getResult().replaceAllUsesWith(loop.getResult(0));
  op.erase();
}

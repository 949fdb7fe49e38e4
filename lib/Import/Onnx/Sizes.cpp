//===- Sizes.cpp - arithmetic of sizes at import --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A size is a product of a number and of index values, or something else that
// counts as one value. Sizes are compared and divided by their factors, so that
// what a model splits and joins again is known to be what it was.
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "Importer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

Size sizeOf(NodeImport &node, int64_t number) {
  return node.builder.getIndexAttr(number);
}

mlir::Value toIndex(NodeImport &node, Size size) {
  if (auto value = dyn_cast<mlir::Value>(size))
    return value;
  return arith::ConstantIndexOp::create(node.builder, node.loc,
                                        *numberOf(size));
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

Factors factorsOf(Size size) {
  Factors factors;
  SmallVector<Size> pending = {size};
  while (!pending.empty()) {
    Size next = pending.pop_back_val();
    if (std::optional<int64_t> number = numberOf(next)) {
      factors.overflows |=
          __builtin_mul_overflow(factors.number, *number, &factors.number);
      continue;
    }
    auto value = cast<mlir::Value>(next);
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      pending.push_back(product.getLhs());
      pending.push_back(product.getRhs());
    } else if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>()) {
      pending.push_back(
          Size(IntegerAttr::get(value.getType(), constant.value())));
    } else {
      factors.values.push_back(value);
    }
  }
  llvm::sort(factors.values, [](mlir::Value a, mlir::Value b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  });
  return factors;
}

Factors operator*(const Factors &a, const Factors &b) {
  Factors result = a;
  result.overflows |=
      b.overflows || __builtin_mul_overflow(a.number, b.number, &result.number);
  llvm::append_range(result.values, b.values);
  llvm::sort(result.values, [](mlir::Value x, mlir::Value y) {
    return x.getAsOpaquePointer() < y.getAsOpaquePointer();
  });
  return result;
}

/// The size of these factors. They are ordered by where they were made, not by
/// address: the text of a module does not depend on that.
static Size build(NodeImport &node, Factors factors) {
  llvm::sort(factors.values, [](mlir::Value a, mlir::Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return x && y && x != y && x->getBlock() == y->getBlock() &&
           x->isBeforeInBlock(y);
  });
  if (factors.values.empty() || factors.number == 0)
    return sizeOf(node, factors.number);
  mlir::Value product;
  auto times = [&](mlir::Value value) {
    product =
        product
            ? node.getImporter().makeSizeOp<arith::MulIOp>(node, product, value)
            : value;
  };
  for (mlir::Value value : factors.values)
    times(value);
  if (factors.number != 1)
    times(toIndex(node, sizeOf(node, factors.number)));
  return product;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Size add(NodeImport &node, Size a, Size b) {
  std::optional<int64_t> x = numberOf(a), y = numberOf(b);
  if (x && y)
    return sizeOf(node, static_cast<int64_t>(uint64_t(*x) + uint64_t(*y)));
  if (x == 0)
    return b;
  if (y == 0)
    return a;
  return node.getImporter().makeSizeOp<arith::AddIOp>(node, toIndex(node, a),
                                                      toIndex(node, b));
}

Size subtract(NodeImport &node, Size a, Size b) {
  std::optional<int64_t> x = numberOf(a), y = numberOf(b);
  if (x && y)
    return sizeOf(node, static_cast<int64_t>(uint64_t(*x) - uint64_t(*y)));
  if (isEqual(a, b))
    return sizeOf(node, 0);
  if (y == 0)
    return a;
  // (a + b) - b
  if (auto value = dyn_cast<mlir::Value>(a))
    if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
      if (isEqual(sum.getRhs(), b))
        return sum.getLhs();
      if (isEqual(sum.getLhs(), b))
        return sum.getRhs();
    }
  return node.getImporter().makeSizeOp<arith::SubIOp>(node, toIndex(node, a),
                                                      toIndex(node, b));
}

Size multiply(NodeImport &node, Size a, Size b) {
  Factors factors = factorsOf(a) * factorsOf(b);
  if (numberOf(a) && numberOf(b))
    return sizeOf(node, static_cast<int64_t>(uint64_t(*numberOf(a)) *
                                             uint64_t(*numberOf(b))));
  return build(node, std::move(factors));
}

Size product(NodeImport &node, ArrayRef<Size> sizes) {
  Size result = sizeOf(node, 1);
  for (Size size : sizes)
    result = multiply(node, result, size);
  return result;
}

Size divide(NodeImport &node, Size a, Size b) {
  Factors x = factorsOf(a), y = factorsOf(b);
  for (auto it = y.values.begin(); it != y.values.end();) {
    auto common = llvm::find(x.values, *it);
    if (common == x.values.end()) {
      ++it;
      continue;
    }
    x.values.erase(common);
    it = y.values.erase(it);
  }
  if (y.number != 0 && x.number % y.number == 0) {
    x.number /= y.number;
    y.number = 1;
  }
  if (y.values.empty() && y.number == 1)
    return build(node, std::move(x));
  Size dividend = build(node, std::move(x)),
       divisor = build(node, std::move(y));
  if (std::optional<int64_t> p = numberOf(dividend), q = numberOf(divisor);
      p && q)
    return sizeOf(node, *q == 0 ? 0 : *p / *q);
  return node.getImporter().makeSizeOp<arith::DivUIOp>(
      node, toIndex(node, dividend), toIndex(node, divisor));
}

FailureOr<SmallVector<Size>> broadcastSizes(NodeImport &node,
                                            ArrayRef<Datum> operands) {
  SmallVector<Size> result;
  for (const Datum &operand : operands) {
    // Both from the last dimension on.
    size_t rank = std::max<size_t>(result.size(), operand.rank());
    result.insert(result.begin(), rank - result.size(), sizeOf(node, 1));
    size_t skipped = rank - operand.rank();
    for (auto [dim, size] : llvm::enumerate(operand.sizes)) {
      Size &known = result[skipped + dim];
      std::optional<int64_t> a = numberOf(known), b = numberOf(size);
      if (b == 1 || isEqual(known, size))
        continue;
      if (a && b && a != 1) {
        std::string shapes;
        for (const Datum &other : operands)
          shapes += (shapes.empty() ? "" : " and ") + describe(other);
        return node.error("expected shapes that broadcast (because sizes are "
                          "equal or 1, from the last one on), got " +
                          shapes);
      }
      // A number says more than a name: the name must have that value.
      if (!a || a == 1)
        known = a == 1 || b ? size : known;
    }
  }
  return result;
}

} // namespace attn::onnx

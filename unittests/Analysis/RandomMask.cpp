//===- RandomMask.cpp - random predicates, and what is true ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomMask.h"

using namespace mlir;
using namespace attn;
using namespace attn::test;

void RandomMask::begin() {
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  (*module)->setAttr("attn.target", builder.getStringAttr("x86-64-v3"));
  auto type = RankedTensorType::get({1, ShapedType::kDynamic, 2, 4},
                                    builder.getF32Type());
  auto tableType =
      RankedTensorType::get(ShapedType::kDynamic, builder.getI64Type());
  Type index = builder.getIndexType();
  builder.setInsertionPointToStart(module->getBody());
  auto kernel = KernelOp::create(
      builder, loc, "masked",
      builder.getFunctionType({type, type, index, tableType}, {type}),
      StringAttr(), ArrayAttr(), ArrayAttr(), Attribute());
  Block *body = &kernel.getBody().emplaceBlock();
  for (Type argument : {Type(type), Type(type), index, Type(tableType)})
    body->addArgument(argument, loc);
  builder.setInsertionPointToStart(body);
  Value query = body->getArgument(0), key = body->getArgument(1);
  Value scale =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.5f));
  Value n = tensor::DimOp::create(builder, loc, query, 1);
  Value m = tensor::DimOp::create(builder, loc, key, 1);
  op = AttentionOp::create(
      builder, loc, type, Type(), query, key, key, scale, /*sinks=*/Value(),
      ValueRange{body->getArgument(2), body->getArgument(3), n, m},
      Layout::BSHD, /*chunk=*/IntegerAttr(), KeyRangesAttr());
  YieldOp::create(builder, loc, op.getResult());
  block = &op.getMask().emplaceBlock();
  for (int position = 0; position < 5; ++position)
    block->addArgument(index, loc);
  block->addArgument(tableType, loc);
  block->addArgument(index, loc);
  block->addArgument(index, loc);
  builder.setInsertionPointToStart(block);
}

void RandomMask::finish(Value predicate) {
  YieldOp::create(builder, builder.getUnknownLoc(), predicate);
}

Value RandomMask::load(Value index) {
  Location loc = builder.getUnknownLoc();
  Value element = tensor::ExtractOp::create(builder, loc, argument(5), index);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    element);
}

Value RandomMask::leaf() {
  switch (random(0, 5)) {
  case 0:
    return argument(0);
  case 1:
    return argument(1);
  case 2:
    return argument(4);
  case 3:
    return load(argument(0)); // A number of the batch row.
  case 4:
    return create<arith::SubIOp>(argument(7), argument(6)); // M - N
  default:
    return constant(random(-6, 9));
  }
}

/// i or j, plus a number.
Value RandomMask::simpleTerm(Value position) {
  return random(0, 2) ? create<arith::AddIOp>(position, leaf()) : position;
}

Value RandomMask::simpleAtom() {
  static constexpr arith::CmpIPredicate predicates[] = {
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge,
      arith::CmpIPredicate::eq};
  arith::CmpIPredicate predicate = predicates[random(0, 4)];
  switch (random(0, 3)) {
  case 0:
    return compare(predicate, simpleTerm(key()), leaf());
  case 1:
    return compare(predicate, simpleTerm(query()), leaf());
  default:
    return compare(predicate, simpleTerm(key()), simpleTerm(query()));
  }
}

Value RandomMask::term(int depth) {
  if (depth == 0)
    return random(0, 3) ? (random(0, 1) ? query() : key()) : leaf();
  switch (random(0, 9)) {
  case 0:
  case 1:
    return create<arith::AddIOp>(term(depth - 1), term(depth - 1));
  case 2:
  case 3:
    return create<arith::SubIOp>(term(depth - 1), term(depth - 1));
  case 4:
    return create<arith::MulIOp>(term(depth - 1), constant(random(-2, 3)));
  case 5:
    return create<arith::FloorDivSIOp>(term(depth - 1), constant(random(1, 5)));
  case 6:
    return random(0, 1) ? create<arith::DivSIOp>(random(0, 1) ? query() : key(),
                                                 constant(random(1, 5)))
                        : create<arith::RemSIOp>(random(0, 1) ? query() : key(),
                                                 constant(random(1, 5)));
  case 7:
    return random(0, 1)
               ? create<arith::MinSIOp>(term(depth - 1), term(depth - 1))
               : create<arith::MaxSIOp>(term(depth - 1), term(depth - 1));
  case 8:
    return math::AbsIOp::create(builder, builder.getUnknownLoc(),
                                term(depth - 1));
  default:
    return create<arith::CeilDivSIOp>(term(depth - 1), constant(random(1, 5)));
  }
}

Value RandomMask::atom(bool allowLoads) {
  if (allowLoads && random(0, 5) == 0)
    return compare(arith::CmpIPredicate::sgt,
                   load(random(0, 1) ? key() : query()),
                   random(0, 1) ? key() : constant(3));
  if (random(0, 1))
    return simpleAtom();
  // Signed: an unsigned comparison of what may be negative is not affine.
  return compare(arith::CmpIPredicate(random(0, allowLoads ? 9 : 5)),
                 term(random(0, 2)), term(random(0, 1)));
}

Value RandomMask::predicate(int depth, bool allowLoads) {
  if (depth == 0)
    return atom(allowLoads);
  Value lhs = predicate(depth - 1, allowLoads);
  Value rhs = predicate(depth - 1, allowLoads);
  switch (random(0, 6)) {
  case 0:
  case 1:
    return create<arith::AndIOp>(lhs, rhs);
  case 2:
  case 3:
    return create<arith::OrIOp>(lhs, rhs);
  case 4:
    return create<arith::XOrIOp>(
        lhs, arith::ConstantIntOp::create(builder, builder.getUnknownLoc(),
                                          builder.getI1Type(), 1));
  case 5:
    return create<arith::XOrIOp>(lhs, rhs);
  default:
    return arith::SelectOp::create(builder, builder.getUnknownLoc(),
                                   simpleAtom(), lhs, rhs);
  }
}

Environment RandomMask::environment() {
  Environment env;
  env.n = random(1, 14);
  env.m = random(1, 14);
  env.b = random(0, 3);
  env.h = random(0, 3);
  env.capture = random(-3, 8);
  for (int element = 0; element < 13; ++element)
    env.table.push_back(random(-2, 9));
  return env;
}

std::vector<std::vector<bool>> RandomMask::evaluate(Environment env) {
  Value predicate = block->getTerminator()->getOperand(0);
  std::vector<std::vector<bool>> visible(env.n, std::vector<bool>(env.m));
  for (env.i = 0; env.i < env.n; ++env.i)
    for (env.j = 0; env.j < env.m; ++env.j)
      visible[env.i][env.j] = Interpreter(env).eval(predicate) != 0;
  return visible;
}

std::string RandomMask::print() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

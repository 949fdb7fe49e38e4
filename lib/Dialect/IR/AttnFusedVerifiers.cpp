//===- AttnFusedVerifiers.cpp - checks of fused and tile ops ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The labels are those of the constraints in AttnFusedOps.td and
// AttnTileOps.td.
//
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

#include "attn/Dialect/IR/Attn.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Fused operations
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  ShapeChecker checker(*this, {"H", "G", "D", "Dv"}, headsAreCompiledIn);
  // attention_c1, attention_c3
  checker.tieHeads("query", getQuery().getType().getShape(), getLayout(), "N",
                   "H", "D");
  checker.tieHeads("key", getKey().getType().getShape(), getLayout(), "M", "G",
                   "D");
  checker.tieHeads("value", getValue().getType().getShape(), getLayout(), "M",
                   "G", "Dv");
  // attention_c9
  unsigned parts = getChunk() ? 1 : 0;
  if (getChunk() && static_cast<int64_t>(*getChunk()) < 1)
    return emitOpError() << "expected chunk >= 1, got "
                         << static_cast<int64_t>(*getChunk());
  if (parts && (!getLse() || getSinks()))
    return emitOpError()
           << "expected lse and no sinks with chunk (because the "
              "parts are merged by it, and sinks count once), got "
           << (getLse() ? "sinks" : "no lse");
  for (auto [name, value, rank] : {std::tuple("result", Value(getResult()), 4),
                                   {"lse", Value(getLse()), 3}})
    if (value && cast<RankedTensorType>(value.getType()).getRank() !=
                     rank + static_cast<int64_t>(parts))
      return emitOpError() << "expected " << name << " of rank " << rank + parts
                           << (parts ? " with chunk, got " : ", got ")
                           << value.getType();
  // A static number of parts is that of the keys.
  if (parts) {
    int64_t chunk = static_cast<int64_t>(*getChunk()), keys = checker.size("M");
    for (auto [name, value] :
         {std::pair("result", Value(getResult())), {"lse", Value(getLse())}}) {
      int64_t count = cast<RankedTensorType>(value.getType()).getDimSize(0);
      if (!ShapedType::isDynamic(count) && !ShapedType::isDynamic(keys) &&
          count != llvm::divideCeilSigned(keys, chunk))
        return emitOpError()
               << "expected " << llvm::divideCeilSigned(keys, chunk)
               << " chunks of " << chunk << " keys in " << name
               << " (because M = " << keys << "), got " << value.getType();
    }
  }
  checker.tieHeads("result", getResult().getType().getShape().drop_front(parts),
                   getLayout(), "N", "H", "Dv");
  if (getLse())
    checker.tie(
        "lse",
        cast<RankedTensorType>(getLse().getType()).getShape().drop_front(parts),
        {"B", "H", "N"});
  // attention_c2
  checker.headsShare("H", "G", "key and value");
  // attention_c8
  if (getSinks())
    checker.tie("sinks", getSinks().getType().getShape(), {"H"});
  // attention_c4
  RankedTensorType query = getQuery().getType();
  checker.sameComputeType("key", getKey().getType(), "query", query);
  checker.sameComputeType("value", getValue().getType(), "query", query);
  checker.sameComputeType("result", getResult().getType(), "query", query);
  Type compute = getComputeType(query.getElementType());
  if (getScale().getType() != compute)
    checker.error() << "expected a scale of type " << compute
                    << " (because query has element type "
                    << query.getElementType() << "), got "
                    << getScale().getType();
  if (getLse())
    checker.computeType("lse", getLse().getType(), "query", query);
  // attention_c5
  LogicalResult captures = verifyCaptures(*this, getCaptures().getTypes());
  return success(succeeded(checker.result()) && succeeded(captures));
}

LogicalResult AttentionOp::verifyRegions() {
  Type index = IndexType::get(getContext());
  Type compute = getComputeType(getQuery().getType().getElementType());
  Type visible = IntegerType::get(getContext(), 1);
  TypeRange captures = getCaptures().getTypes();
  // attention_c6, attention_c7
  LogicalResult results[] = {
      verifyFormula(*this, getCombine(), "combine",
                    {{"q", compute},
                     {"k", compute},
                     {"b", index},
                     {"h", index},
                     {"i", index},
                     {"j", index},
                     {"d", index}},
                    captures, compute),
      verifyFormula(*this, getScore(), "score",
                    {{"s", compute},
                     {"b", index},
                     {"h", index},
                     {"i", index},
                     {"j", index}},
                    captures, compute),
      verifyFormula(*this, getMask(), "mask",
                    {{"b", index}, {"h", index}, {"i", index}, {"j", index}},
                    captures, visible),
      verifyFormula(*this, getValues(), "value",
                    {{"v", compute},
                     {"b", index},
                     {"h", index},
                     {"i", index},
                     {"j", index},
                     {"d", index}},
                    captures, compute)};
  return success(llvm::all_of(
      results, [](LogicalResult result) { return succeeded(result); }));
}

LogicalResult FusedLinearOp::verify() {
  ShapeChecker checker(*this, {"N", "K", "panels", "panel"},
                       "a linear layer's weights are compiled in");
  // fused_linear_c1, fused_linear_c4
  checker.tie("input", getInput().getType().getShape(), {"M", "K"});
  ArrayRef<int64_t> weight = getWeight().getType().getShape();
  if (weight.size() == 2)
    checker.tie("weight", weight, {"N", "K"});
  else
    checker.tie("weight", weight, {"panels", "K", "panel"});
  checker.tie("result", getResult().getType().getShape(), {"M", "N"});
  // fused_linear_c2
  int64_t channels = checker.size("N"), panels = checker.size("panels"),
          panel = checker.size("panel");
  if (weight.size() == 3 && !ShapedType::isDynamic(channels) &&
      !ShapedType::isDynamic(panels) && !ShapedType::isDynamic(panel) &&
      (panel == 0 || panels != llvm::divideCeilSigned(channels, panel)))
    checker.error() << "expected ceil(N / panel) panels in weight (because N = "
                    << channels << " and panel = " << panel << "), got "
                    << panels;
  // fused_linear_c3
  if (bool(getGamma()) != getEpsilon().has_value() ||
      (getBeta() && !getGamma())) {
    checker.error()
        << "expected gamma and epsilon together, and beta with them only "
           "(because they ask for a norm), got "
        << (getGamma() ? "gamma" : "no gamma") << ", "
        << (getBeta() ? "beta" : "no beta") << " and "
        << (getEpsilon() ? "epsilon" : "no epsilon");
  } else if (getGamma()) {
    checker.tie("gamma", getGamma().getType().getShape(), {"N"});
    if (getBeta())
      checker.tie("beta", getBeta().getType().getShape(), {"N"});
    checker.epsilon(*getEpsilon());
  }
  // fused_linear_c5
  RankedTensorType input = getInput().getType();
  checker.sameElement("weight", getWeight().getType(), "input", input);
  if (getGamma())
    checker.sameElement("gamma", getGamma().getType(), "input", input);
  if (getBeta())
    checker.sameElement("beta", getBeta().getType(), "input", input);
  checker.sameElement("result", getResult().getType(), "input", input);
  // fused_linear_c6
  LogicalResult captures = verifyCaptures(*this, getCaptures().getTypes());
  return success(succeeded(checker.result()) && succeeded(captures));
}

LogicalResult FusedLinearOp::verifyRegions() {
  Type index = IndexType::get(getContext());
  Type compute = getComputeType(getInput().getType().getElementType());
  // fused_linear_c7
  return verifyFormula(*this, getEpilogue(), "epilogue",
                       {{"acc", compute}, {"m", index}, {"n", index}},
                       getCaptures().getTypes(), compute);
}

//===----------------------------------------------------------------------===//
// Tile operations
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> tileShape(Value tile) {
  return cast<TileType>(tile.getType()).getShape();
}

static Type tileElement(Value tile) {
  return cast<TileType>(tile.getType()).getElementType();
}

/// Verifies that all tiles of an operation, and its scale if it has one, hold
/// the same element type.
static LogicalResult verifyElements(Operation *op, Type scale = {}) {
  SmallVector<Type> types;
  for (TypeRange range :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : range)
      if (auto tile = dyn_cast<TileType>(type))
        types.push_back(tile.getElementType());
  for (Type type : types)
    if (type != types.front())
      return op->emitOpError()
             << "expected tiles of one element type (because nothing is "
                "converted between them), got "
             << types.front() << " and " << type;
  if (scale && scale != types.front())
    return op->emitOpError() << "expected a scale of type " << types.front()
                             << " (because the tiles hold that), got " << scale;
  return success();
}

static LogicalResult all(std::initializer_list<LogicalResult> results) {
  return success(llvm::all_of(
      results, [](LogicalResult result) { return succeeded(result); }));
}

LogicalResult TileLoadOp::verify() {
  auto type = cast<RankedTensorType>(getTensor().getType());
  LogicalResult result = success();
  // tile_load_c1
  if (int64_t(getIndices().size()) != type.getRank())
    result = emitOpError() << "expected " << type.getRank()
                           << " indices (because tensor has that rank), got "
                           << getIndices().size();
  // tile_load_c2
  ArrayRef<int64_t> dims = getDims();
  if (dims.size() != 2 || dims[0] == dims[1] ||
      llvm::any_of(
          dims, [&](int64_t dim) { return dim < 0 || dim >= type.getRank(); }))
    result = emitOpError() << "expected dims to be two different dimensions of "
                              "a tensor of rank "
                           << type.getRank() << ", got [" << dims << "]";
  // tile_load_c3
  if (!isa<FloatType>(type.getElementType()))
    result = emitOpError() << "expected a tensor of a float type, got "
                           << type.getElementType();
  return result;
}

/// Verifies that
///   - `position` is four indices, or none where it is optional and there is
///     no region,
///   - captures are there only if the region is.
static LogicalResult verifyPosition(Operation *op, ValueRange position,
                                    ValueRange captures, Region &region,
                                    bool isOptional) {
  bool mayBeAbsent = isOptional && region.empty();
  if (position.size() != 4 && !(mayBeAbsent && position.empty()))
    return op->emitOpError() << "expected four indices in at (because they are "
                                "b, h, i of row 0 and j of column 0), got "
                             << position.size();
  if (region.empty() && !captures.empty())
    return op->emitOpError()
           << "expected no captures (because there is no region that reads "
              "them), got "
           << captures.size();
  return verifyCaptures(op, captures.getTypes());
}

LogicalResult TileScoresOp::verify() {
  ShapeChecker checker(*this);
  // tile_scores_c1
  checker.tie("query", tileShape(getQuery()), {"R", "D"});
  checker.tie("key", tileShape(getKey()), {"C", "D"});
  checker.tie("result", tileShape(getResult()), {"R", "C"});
  // tile_scores_c2, tile_scores_c3
  LogicalResult position =
      verifyPosition(*this, getPosition(), getCaptures(), getCombine(),
                     /*isOptional=*/true);
  // tile_scores_c5
  return all({checker.result(), position,
              verifyElements(*this, getScale().getType())});
}

LogicalResult TileScoresOp::verifyRegions() {
  Type index = IndexType::get(getContext()), element = tileElement(getResult());
  // tile_scores_c4
  return verifyFormula(*this, getCombine(), "combine",
                       {{"q", element},
                        {"k", element},
                        {"b", index},
                        {"h", index},
                        {"i", index},
                        {"j", index},
                        {"d", index}},
                       getCaptures().getTypes(), element);
}

LogicalResult TileScoreOp::verify() {
  // tile_score_c1
  return verifyPosition(*this, getPosition(), getCaptures(), getBody(),
                        /*isOptional=*/false);
}

LogicalResult TileScoreOp::verifyRegions() {
  Type index = IndexType::get(getContext()), element = tileElement(getResult());
  // tile_score_c2
  if (getBody().empty())
    return emitOpError() << "expected one block in region body, got 0";
  return verifyFormula(
      *this, getBody(), "body",
      {{"s", element}, {"b", index}, {"h", index}, {"i", index}, {"j", index}},
      getCaptures().getTypes(), element);
}

LogicalResult TileMaskOp::verify() {
  // tile_mask_c1
  return verifyPosition(*this, getPosition(), getCaptures(), getBody(),
                        /*isOptional=*/false);
}

/// The body of an operation that is a predicate of positions.
template <typename OpTy> static LogicalResult verifyPredicate(OpTy op) {
  Type index = IndexType::get(op.getContext());
  if (op.getBody().empty())
    return op.emitOpError() << "expected one block in region body, got 0";
  return verifyFormula(op, op.getBody(), "body",
                       {{"b", index}, {"h", index}, {"i", index}, {"j", index}},
                       op.getCaptures().getTypes(),
                       IntegerType::get(op.getContext(), 1));
}

LogicalResult TileMaskOp::verifyRegions() {
  return verifyPredicate(*this); // tile_mask_c2
}

LogicalResult TileAnyOp::verify() {
  // tile_any_c1
  LogicalResult position =
      verifyPosition(*this, getPosition(), getCaptures(), getBody(),
                     /*isOptional=*/false);
  // tile_any_c3
  if (getSizes().size() != 2 ||
      llvm::any_of(getSizes(), [](int64_t size) { return size < 1; }))
    return emitOpError() << "expected two positive sizes (because they are the "
                            "rows and keys of a tile), got ["
                         << getSizes() << "]";
  return position;
}

LogicalResult TileAnyOp::verifyRegions() {
  return verifyPredicate(*this); // tile_any_c2
}

LogicalResult TileMaxOp::verify() {
  ShapeChecker checker(*this);
  // tile_max_c1
  checker.tie("scores", tileShape(getScores()), {"R", "C"});
  checker.tie("carry", tileShape(getCarry()), {"R"});
  // tile_max_c3
  return all({checker.result(), verifyElements(*this)});
}

LogicalResult TileExpOp::verify() {
  ShapeChecker checker(*this);
  // tile_exp_c1
  checker.tie("scores", tileShape(getScores()), {"R", "C"});
  checker.tie("maximum", tileShape(getMaximum()), {"R"});
  // tile_exp_c3
  return all(
      {checker.result(), verifyElements(*this, getScaleAttr().getType())});
}

LogicalResult TileRescaleOp::verify() {
  ShapeChecker checker(*this);
  // tile_rescale_c1
  checker.tie("input", tileShape(getInput()).take_front(), {"R"});
  checker.tie("before", tileShape(getBefore()), {"R"});
  // tile_rescale_c3
  return all(
      {checker.result(), verifyElements(*this, getScaleAttr().getType())});
}

LogicalResult TileSumOp::verify() {
  ShapeChecker checker(*this);
  // tile_sum_c1
  checker.tie("weights", tileShape(getWeights()), {"R", "C"});
  checker.tie("carry", tileShape(getCarry()), {"R"});
  // tile_sum_c3
  return all({checker.result(), verifyElements(*this)});
}

LogicalResult TileMixOp::verify() {
  ShapeChecker checker(*this);
  // tile_mix_c1
  checker.tie("weights", tileShape(getWeights()), {"R", "C"});
  checker.tie("value", tileShape(getValue()), {"C", "Dv"});
  checker.tie("carry", tileShape(getCarry()), {"R", "Dv"});
  // tile_mix_c2, tile_mix_c3
  LogicalResult position =
      verifyPosition(*this, getPosition(), getCaptures(), getValues(),
                     /*isOptional=*/true);
  // tile_mix_c6
  return all({checker.result(), position, verifyElements(*this)});
}

LogicalResult TileMixOp::verifyRegions() {
  Type index = IndexType::get(getContext()), element = tileElement(getResult());
  // tile_mix_c4
  return verifyFormula(*this, getValues(), "value",
                       {{"v", element},
                        {"b", index},
                        {"h", index},
                        {"i", index},
                        {"j", index},
                        {"d", index}},
                       getCaptures().getTypes(), element);
}

LogicalResult TileFinishOp::verify() {
  ShapeChecker checker(*this);
  // tile_finish_c1
  checker.tie("accumulator", tileShape(getAccumulator()), {"R", "Dv"});
  checker.tie("sum", tileShape(getSum()), {"R"});
  // tile_finish_c2
  auto result = cast<RankedTensorType>(getResult().getType());
  checker.tie("result", result.getShape(), {"rows", "Dv"});
  if (result.getRank() == 2 && result.isDynamicDim(1))
    checker.error()
        << "expected a static Dv in result (because the tile's is), "
           "got a dynamic one";
  RankedTensorType lse;
  if (getLse()) {
    lse = cast<RankedTensorType>(getLse().getType());
    checker.tie("lse", lse.getShape(), {"rows"});
  }
  int64_t rows = checker.size("rows"), tileRows = checker.size("R");
  if (!ShapedType::isDynamic(rows) && rows > tileRows)
    checker.error() << "expected at most R = " << tileRows
                    << " rows in result (because the tile has that many), got "
                    << rows;
  // tile_finish_c3
  if (!isa<FloatType>(result.getElementType()))
    checker.error() << "expected a float element type in result, got "
                    << result.getElementType();
  if (lse && !isa<FloatType>(lse.getElementType()))
    checker.error() << "expected a float element type in lse, got "
                    << lse.getElementType();
  // tile_finish_c5
  return all(
      {checker.result(), verifyElements(*this, getScaleAttr().getType())});
}

//===- ShapeChecker.cpp - checks of sizes by letter -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ShapeChecker.h"

using namespace mlir;
using namespace attn;

InFlightDiagnostic ShapeChecker::error() {
  failed = true;
  return op->emitOpError();
}

void ShapeChecker::tie(StringRef value, ArrayRef<int64_t> shape,
                       ArrayRef<std::string> letters) {
  if (shape.size() != letters.size()) {
    error() << "expected " << value << " of rank " << letters.size()
            << " (because it is (" << llvm::join(letters, ", ")
            << ")), got rank " << shape.size();
    return;
  }
  for (auto [letter, size] : llvm::zip(letters, shape)) {
    if (letter.empty())
      continue;
    if (ShapedType::isDynamic(size)) {
      if (llvm::is_contained(fixed, letter))
        error() << "expected a static " << letter << " in " << value
                << " (because " << because << "), got a dynamic one";
      continue;
    }
    auto [entry, isNew] = sizes.try_emplace(letter, Size{size, value.str()});
    const Size &known = entry->second;
    if (!isNew && known.size != size)
      error() << "expected " << letter << " = " << known.size << " in " << value
              << " (because " << known.value << " has " << letter << " = "
              << known.size << "), got " << size;
  }
}

void ShapeChecker::tie(StringRef value, ArrayRef<int64_t> shape,
                       std::initializer_list<const char *> letters) {
  tie(value, shape, SmallVector<std::string>(letters.begin(), letters.end()));
}

void ShapeChecker::tieHeads(StringRef value, ArrayRef<int64_t> shape,
                            Layout layout, const char *sequence,
                            const char *heads, const char *channels) {
  tie(value, shape,
      inLayout<std::string>(layout, "B", sequence, heads, channels));
}

void ShapeChecker::broadcasts(StringRef value, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> scores, bool shortLast) {
  static constexpr StringRef letters[] = {"B", "H", "N", "M"};
  if (shape.size() > scores.size()) {
    error() << "expected " << value
            << " of rank 4 or less (because it broadcasts to (B, H, N, "
               "M)), got rank "
            << shape.size();
    return;
  }
  size_t skipped = scores.size() - shape.size();
  for (auto [index, size] : llvm::enumerate(shape)) {
    int64_t expected = scores[skipped + index];
    bool isLast = index + 1 == shape.size();
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(expected) ||
        size == 1 || size == expected ||
        (shortLast && isLast && size < expected))
      continue;
    error() << "expected " << letters[skipped + index] << " = " << expected
            << (shortLast && isLast ? ", less or 1 in " : " or 1 in ") << value
            << " (because it broadcasts to the scores), got " << size;
  }
}

void ShapeChecker::alignment(Alignment alignment, Value offsets) {
  if ((alignment == Alignment::Offset) != bool(offsets))
    error() << "expected " << (offsets ? "no offsets" : "offsets")
            << " (because the alignment is " << stringifyAlignment(alignment)
            << "), got " << (offsets ? "some" : "none");
  if (offsets)
    tie("offsets", cast<RankedTensorType>(offsets.getType()).getShape(), {"B"});
}

void ShapeChecker::relative(Value table, Alignment alignment, Value offsets,
                            const char *channels) {
  if (!table) {
    if (alignment != Alignment::TopLeft || offsets)
      error() << "expected a relative table (because only its distances are "
                 "aligned), got none";
    return;
  }
  this->alignment(alignment, offsets);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(table.getType()).getShape();
  tie("relative", shape, {"", channels});
  if (ShapedType::isDynamic(shape[0]) || shape[0] % 2 == 0) {
    InFlightDiagnostic diagnostic = error();
    diagnostic << "expected an odd, static number of rows in relative (because "
                  "there is one for each distance from -C to C), got ";
    if (ShapedType::isDynamic(shape[0]))
      diagnostic << "a dynamic one";
    else
      diagnostic << shape[0];
  }
}

void ShapeChecker::computeType(StringRef value, Type type, StringRef like,
                               Type likeType) {
  Type element = getElementTypeOrSelf(likeType);
  Type expected = getComputeType(element);
  if (getElementTypeOrSelf(type) != expected)
    error() << "expected element type " << expected << " in " << value
            << " (because " << like << " has " << element << "), got "
            << getElementTypeOrSelf(type);
}

int64_t ShapeChecker::size(StringRef letter) const {
  auto entry = sizes.find(letter);
  return entry == sizes.end() ? ShapedType::kDynamic : entry->second.size;
}

void ShapeChecker::headsShare(StringRef heads, StringRef groups,
                              StringRef what) {
  int64_t headCount = size(heads), groupCount = size(groups);
  if (ShapedType::isDynamic(headCount) || ShapedType::isDynamic(groupCount))
    return; // Reported where the value was tied.
  if (groupCount == 0 || headCount % groupCount != 0)
    error() << "expected " << heads << " to be a multiple of " << groups
            << " = " << groupCount
            << " (because neighbouring query heads share a " << what
            << " head), got " << heads << " = " << headCount;
}

void ShapeChecker::sameElement(StringRef value, Type type, StringRef like,
                               Type likeType) {
  Type element = getElementTypeOrSelf(type);
  Type likeElement = getElementTypeOrSelf(likeType);
  if (element != likeElement)
    error() << "expected element type " << likeElement << " in " << value
            << " (because " << like << " has " << likeElement << "), got "
            << element;
}

void ShapeChecker::sameComputeType(StringRef value, Type type, StringRef like,
                                   Type likeType) {
  Type element = getElementTypeOrSelf(type);
  Type likeElement = getElementTypeOrSelf(likeType);
  FloatType compute = getComputeType(likeElement);
  if (getComputeType(element) != compute)
    error() << "expected element type "
            << (compute.isF64() ? "'f64'" : "'f32', 'f16' or 'bf16'") << " in "
            << value << " (because " << like << " has " << likeElement
            << " and one type computes with both), got " << element;
}

void ShapeChecker::epsilon(const APFloat &epsilon) {
  double number = epsilon.convertToDouble();
  if (!(number >= 0.0) || epsilon.isInfinity())
    error() << "expected a finite epsilon >= 0 (because it keeps a divisor "
               "from zero), got "
            << number;
}

FloatType attn::getComputeType(Type elementType) {
  if (elementType.isF64())
    return cast<FloatType>(elementType);
  return Float32Type::get(elementType.getContext());
}

SmallVector<std::string> attn::leadingAnd(int64_t leading,
                                          ArrayRef<StringRef> last) {
  SmallVector<std::string> letters;
  for (int64_t dim = 0; dim < leading; ++dim)
    letters.push_back("dimension " + std::to_string(dim));
  for (StringRef letter : last)
    letters.push_back(letter.str());
  return letters;
}

LogicalResult attn::verifyFormula(Operation *op, Region &region, StringRef name,
                                  ArrayRef<std::pair<StringRef, Type>> leading,
                                  TypeRange captures, Type yields) {
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return op->emitOpError() << "expected one block in region " << name
                             << ", got " << region.getBlocks().size();
  Block &block = region.front();
  std::string names;
  for (auto [argument, type] : leading)
    names += argument.str() + ", ";
  if (block.getNumArguments() != leading.size() + captures.size())
    return op->emitOpError()
           << "expected " << leading.size() + captures.size()
           << " arguments in region " << name << " (because it takes " << names
           << "and " << captures.size() << " captures), got "
           << block.getNumArguments();

  LogicalResult result = success();
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    bool isCapture = index >= leading.size();
    Type expected =
        isCapture ? captures[index - leading.size()] : leading[index].second;
    if (argument.getType() == expected)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError();
    diagnostic << "expected type " << expected << " for ";
    if (isCapture)
      diagnostic << "capture " << index - leading.size();
    else
      diagnostic << "argument " << leading[index].first;
    diagnostic << " in region " << name << ", got " << argument.getType();
    result = failure();
  }

  auto yield = block.mightHaveTerminator()
                   ? dyn_cast<YieldOp>(block.getTerminator())
                   : YieldOp();
  if (!yield)
    return op->emitOpError()
           << "expected region " << name << " to end in attn.yield";
  if (yield.getValues().size() != 1 || yield.getValues()[0].getType() != yields)
    return yield.emitOpError()
           << "expected one value of type " << yields << " (because region "
           << name << " yields that), got "
           << (yield.getValues().empty() ? "none" : "")
           << yield.getOperandTypes();
  return result;
}

LogicalResult attn::verifyCaptures(Operation *op, TypeRange captures) {
  LogicalResult result = success();
  for (auto [index, type] : llvm::enumerate(captures))
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
      result = op->emitOpError()
               << "expected a ranked tensor, an index, an integer or a float "
                  "for capture "
               << index << ", got " << type;
  return result;
}

//===- KeyRanges.cpp - ranges of keys that a query tile sees ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A set of tiles whose constraints bound j0 from above and j1 from below is a
// range of keys: tiles that meet it are in the set. Ranges are put into an
// order in which each begins no earlier than the one before, for all tiles and
// all values of the symbols, so that loops can walk over them one after the
// other. Sets that are no ranges, or have no such order, are tested a tile at a
// time, inside of a range that encloses them.
//
//===----------------------------------------------------------------------===//

#include "KeyRanges.h"
#include "TileSample.h"

using namespace mlir;
using namespace attn;

/// Each range costs up to three segments of loops.
static constexpr size_t maxRanges = 4;

namespace {

using Forms = SmallVector<LinearForm, 2>;

/// A set of tiles, taken apart: keys [max(begins), min(ends)) where the guards
/// hold.
struct KeyInterval {
  TileConstraints guards;
  Forms begins, ends;
  /// Whether there were constraints that are none of these, which were dropped.
  bool enlarged = false;
};

class RangeFinder {
public:
  RangeFinder(unsigned numSymbols, const Prover &prover, MLIRContext *context)
      : numSymbols(numSymbols), prover(prover), context(context) {}
  KeyRanges run(const TileProjection &visible, const TileProjection &hidden);

private:
  enum class Side { Begin, End };
  LinearForm dim(unsigned position) const {
    return LinearForm::ofTerm(getAffineDimExpr(position, context));
  }
  LinearForm keys() const {
    return LinearForm::ofTerm(getAffineSymbolExpr(1, context));
  }

  KeyInterval makeRange(const TileConstraints &set) const;
  /// Drops superfluous bounds, and says where the range may be empty.
  void simplify(KeyInterval &range) const;
  /// Drops guards without which the range is empty just so.
  void dropGuards(KeyInterval &range, const Forms &fullEnds) const;
  /// Constraints that hold for each key j0 of the range.
  TileConstraints keysOf(const KeyInterval &range) const;
  bool beginsBefore(const KeyInterval &range, const KeyInterval &other) const;
  bool sort(std::vector<KeyInterval> &ranges) const;
  KeyInterval enclose(ArrayRef<KeyInterval> ranges) const;
  void prune(Forms &bounds, Side side, const TileConstraints &guards) const;

  void findFull(const KeyInterval &range, ArrayRef<KeyInterval> hidden,
                Forms &begins, Forms &ends) const;
  TileSample::Bounds exprs(ArrayRef<LinearForm> forms) const;

  unsigned numSymbols;
  const Prover &prover;
  MLIRContext *context;
  std::optional<TileSample> sample;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

KeyInterval RangeFinder::makeRange(const TileConstraints &set) const {
  AffineExpr j0 = getAffineDimExpr(2, context);
  AffineExpr j1 = getAffineDimExpr(3, context);
  KeyInterval range;
  range.begins.push_back(LinearForm(0));
  range.ends.push_back(keys());
  for (const LinearForm &constraint : set) {
    int64_t first = constraint.coefficientOf(j0);
    int64_t last = constraint.coefficientOf(j1);
    bool mixes = llvm::any_of(constraint.getTerms(), [&](auto &term) {
      return term.first != j0 && term.first != j1 &&
             (term.first.isFunctionOfDim(2) || term.first.isFunctionOfDim(3));
    });
    if (mixes || (first != 0 && last != 0) || first > 0 || last < 0) {
      range.enlarged = true;
    } else if (first != 0) { // -first * j0 <= rest
      LinearForm rest = constraint - dim(2) * first;
      range.ends.push_back(rest.floorDiv(-first, context) + LinearForm(1));
    } else if (last != 0) { // last * j1 >= -rest, and j1 - 1 is a key
      LinearForm rest = constraint - dim(3) * last;
      range.begins.push_back(rest.floorDiv(last, context) * -1 - LinearForm(1));
    } else {
      range.guards.push_back(constraint);
    }
  }
  return range;
}

void RangeFinder::simplify(KeyInterval &range) const {
  prune(range.begins, Side::Begin, range.guards);
  prune(range.ends, Side::End, range.guards);
  // Begin and end of an empty range may lie in one tile.
  TileConstraints lengths;
  for (const LinearForm &begin : range.begins)
    for (const LinearForm &end : range.ends)
      lengths.push_back(end - LinearForm(1) - begin);
  for (auto [length, holds] :
       llvm::zip(lengths, prover.areImplied(lengths, range.guards)))
    if (!holds)
      range.guards.push_back(length);
}

/// A range that ends at 0 or before holds no tile if it begins at 0 or later
/// and the full range ends there as well, both without the guard.
void RangeFinder::dropGuards(KeyInterval &range, const Forms &fullEnds) const {
  for (size_t at = 0; at < range.guards.size();) {
    bool endsAtZero = llvm::any_of(range.ends, [&](const LinearForm &end) {
      LinearForm rest = end - LinearForm(1) - range.guards[at];
      return rest.isConstant() && rest.getConstant() == 0;
    });
    TileConstraints rest = range.guards;
    rest.erase(rest.begin() + at);
    TileConstraints beginsBefore = rest, isFull = rest;
    for (TileConstraints *without : {&beginsBefore, &isFull})
      without->push_back(range.guards[at] * -1 - LinearForm(1));
    for (const LinearForm &begin : range.begins)
      beginsBefore.push_back(begin * -1 - LinearForm(1));
    for (const LinearForm &end : fullEnds)
      isFull.push_back(end - LinearForm(1));
    if (endsAtZero && prover.isContradiction(beginsBefore) &&
        prover.isContradiction(isFull))
      range.guards = std::move(rest);
    else
      ++at;
  }
}

TileConstraints RangeFinder::keysOf(const KeyInterval &range) const {
  TileConstraints result = range.guards;
  for (const LinearForm &begin : range.begins)
    result.push_back(dim(2) - begin);
  for (const LinearForm &end : range.ends)
    result.push_back(end - LinearForm(1) - dim(2));
  return result;
}

/// Whether begin <= begin of the other wherever both have keys.
bool RangeFinder::beginsBefore(const KeyInterval &range,
                               const KeyInterval &other) const {
  // Guards say that both have keys. Begins are maxima.
  TileConstraints both = range.guards;
  llvm::append_range(both, other.guards);
  return llvm::all_of(range.begins, [&](const LinearForm &begin) {
    TileConstraints later = both;
    for (const LinearForm &otherBegin : other.begins)
      later.push_back(begin - LinearForm(1) - otherBegin);
    return prover.isContradiction(later);
  });
}

/// Puts ranges into the order of their begins, if there is one.
bool RangeFinder::sort(std::vector<KeyInterval> &ranges) const {
  std::vector<KeyInterval> sorted;
  while (!ranges.empty()) {
    auto first = llvm::find_if(ranges, [&](const KeyInterval &range) {
      return llvm::all_of(ranges, [&](const KeyInterval &other) {
        return &other == &range || beginsBefore(range, other);
      });
    });
    if (first == ranges.end())
      return false;
    sorted.push_back(std::move(*first));
    ranges.erase(first);
  }
  ranges = std::move(sorted);
  return true;
}

/// A range that encloses all others.
KeyInterval RangeFinder::enclose(ArrayRef<KeyInterval> ranges) const {
  // Bounds that hold for the keys of all of them.
  Forms begins, ends;
  TileConstraints bounds;
  for (const KeyInterval &range : ranges) {
    for (const LinearForm &begin : range.begins) {
      begins.push_back(begin);
      bounds.push_back(dim(2) - begin);
    }
  }
  for (const KeyInterval &range : ranges)
    for (const LinearForm &end : range.ends) {
      ends.push_back(end);
      bounds.push_back(end - LinearForm(1) - dim(2));
    }
  SmallVector<bool> hold(bounds.size(), true);
  for (const KeyInterval &range : ranges)
    for (auto [all, one] :
         llvm::zip(hold, prover.areImplied(bounds, keysOf(range))))
      all &= one;

  KeyInterval hull;
  hull.begins.push_back(LinearForm(0));
  hull.ends.push_back(keys());
  for (auto [begin, holds] : llvm::zip(begins, hold))
    if (holds)
      hull.begins.push_back(begin);
  for (auto [end, holds] :
       llvm::zip(ends, ArrayRef(hold).drop_front(begins.size())))
    if (holds)
      hull.ends.push_back(end);
  simplify(hull);
  return hull;
}

/// Removes bounds that another one makes superfluous.
void RangeFinder::prune(Forms &bounds, Side side,
                        const TileConstraints &guards) const {
  if (bounds.size() < 2)
    return;
  TileConstraints tighter;
  for (const LinearForm &bound : bounds)
    for (const LinearForm &other : bounds)
      tighter.push_back(side == Side::Begin ? other - bound : bound - other);
  SmallVector<bool> holds = prover.areImplied(tighter, guards);
  Forms kept;
  SmallVector<bool> dropped(bounds.size(), false);
  for (size_t at = 0; at < bounds.size(); ++at) {
    for (size_t other = 0; other < bounds.size(); ++other)
      if (other != at && !dropped[other] && holds[at * bounds.size() + other])
        dropped[at] = true;
    if (!dropped[at])
      kept.push_back(bounds[at]);
  }
  bounds = std::move(kept);
}

//===----------------------------------------------------------------------===//
// Full ranges
//===----------------------------------------------------------------------===//

TileSample::Bounds RangeFinder::exprs(ArrayRef<LinearForm> forms) const {
  TileSample::Bounds result;
  for (const LinearForm &form : forms)
    result.push_back(form.toExpr(context));
  return result;
}

/// Hidden keys lie below the full range or above it. Where both are possible,
/// as with a hole, and where there are several bounds, the choice that leaves
/// most keys in a sample of tiles is taken; each choice is right.
void RangeFinder::findFull(const KeyInterval &range,
                           ArrayRef<KeyInterval> hidden, Forms &begins,
                           Forms &ends) const {
  begins = range.begins;
  ends = range.ends;
  TileSample::Bounds where = exprs(range.guards);
  auto count = [&](ArrayRef<LinearForm> fullBegins,
                   ArrayRef<LinearForm> fullEnds) {
    return sample->countKeys(where, exprs(fullBegins), exprs(fullEnds));
  };
  for (const KeyInterval &part : hidden) {
    TileConstraints both = keysOf(range);
    llvm::append_range(both, keysOf(part));
    if (prover.isContradiction(both))
      continue;
    int64_t best = 0;
    Forms bestBegins(1, LinearForm(0)), bestEnds(1, LinearForm(0));
    auto consider = [&](Forms newBegins, Forms newEnds) {
      int64_t keys = count(newBegins, newEnds);
      if (keys <= best)
        return;
      best = keys;
      bestBegins = std::move(newBegins);
      bestEnds = std::move(newEnds);
    };
    Forms soFarBegins(begins), soFarEnds(ends);
    for (const LinearForm &begin : part.begins) {
      Forms newEnds = soFarEnds;
      newEnds.push_back(begin);
      consider(soFarBegins, newEnds);
    }
    for (const LinearForm &end : part.ends) {
      Forms newBegins = soFarBegins;
      newBegins.push_back(end);
      consider(newBegins, soFarEnds);
    }
    begins.assign(bestBegins);
    ends.assign(bestEnds);
  }
  prune(begins, Side::Begin, range.guards);
  prune(ends, Side::End, range.guards);
}

KeyRanges RangeFinder::run(const TileProjection &visible,
                           const TileProjection &hidden) {
  std::vector<KeyInterval> ranges, hiddenRanges;
  for (const TileConstraints &set : visible.cases) {
    ranges.push_back(makeRange(set));
    if (visible.cases.size() <= maxRanges)
      simplify(ranges.back());
  }
  for (const TileConstraints &set : hidden.cases)
    hiddenRanges.push_back(makeRange(set));
  SmallVector<TileSample::Bounds> visibleSets, hiddenSets;
  for (const TileConstraints &set : visible.cases)
    visibleSets.push_back(exprs(set));
  for (const TileConstraints &set : hidden.cases)
    hiddenSets.push_back(exprs(set));
  sample.emplace(numSymbols, visibleSets, hiddenSets);

  KeyRanges result;
  bool enlarged = llvm::any_of(
      ranges, [](const KeyInterval &range) { return range.enlarged; });
  std::vector<KeyInterval> unsorted = ranges;
  if (ranges.size() > maxRanges || !sort(ranges)) {
    KeyInterval hull = enclose(unsorted);
    ranges.assign(1, hull);
    enlarged = true;
  }
  if (enlarged)
    result.visible = visibleSets;
  if (ranges.empty()) { // Nothing is visible to anyone.
    ranges.emplace_back();
    ranges.back().begins.push_back(LinearForm(0));
    ranges.back().ends.push_back(LinearForm(0));
  }

  // One full range inside of each range, unless it misses many full tiles.
  std::vector<std::pair<Forms, Forms>> full(ranges.size());
  int64_t found = 0, there = 0;
  for (auto [range, bounds] : llvm::zip(ranges, full)) {
    findFull(range, hiddenRanges, bounds.first, bounds.second);
    TileSample::Bounds where = exprs(range.guards);
    TileSample::Bounds begin = exprs(range.begins), end = exprs(range.ends);
    found += sample->countFullTiles(where, begin, end, exprs(bounds.first),
                                    exprs(bounds.second));
    there += sample->countFullTiles(where, begin, end, {}, {});
  }
  if (10 * found < 9 * there)
    result.hidden = hiddenSets;

  for (auto [range, bounds] : llvm::zip(ranges, full)) {
    dropGuards(range, bounds.second);
    result.ranges.push_back({exprs(range.guards), exprs(range.begins),
                             exprs(bounds.first), exprs(bounds.second),
                             exprs(range.ends)});
  }
  return result;
}

KeyRanges attn::findKeyRanges(const TileProjection &visible,
                              const TileProjection &hidden, unsigned numSymbols,
                              const Prover &prover, MLIRContext *context) {
  return RangeFinder(numSymbols, prover, context).run(visible, hidden);
}

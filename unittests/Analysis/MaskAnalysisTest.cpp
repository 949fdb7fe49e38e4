//===- MaskAnalysisTest.cpp - random predicates ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// 10,000 random predicates (fixed seeds) are analyzed and compared with what
// is true, pair by pair, for random sizes, tiles and values: a tile that is
// skipped must hold no visible pair, a full tile no hidden one, and where the
// analysis says that it is exact, each tile that is visited must hold a
// visible pair. Analyses that are wrong on purpose must fail the same check.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "RandomMask.h"
#include "attn/Analysis/TileMap.h"
#include "mlir/IR/IntegerSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

/// What was wrong, for one or more maps.
struct Faults {
  int64_t visibleSkipped = 0, hiddenInFull = 0, emptyVisited = 0, outside = 0;
  int64_t total() const {
    return visibleSkipped + hiddenInFull + emptyVisited + outside;
  }
};

/// What there was, so that a test that shows nothing is noticed.
struct Counts {
  int64_t skipped = 0, partial = 0, full = 0;
};

/// Compares the classes of all tiles with the truth for one choice of sizes and
/// values. Where the analysis is not exact, tiles are tested when the kernel
/// runs, which is not looked at here.
void check(RandomMask &mask, KeyRangesAttr ranges, const Environment &env,
           int64_t queryTile, int64_t keyTile, Faults &faults, Counts &counts) {
  TileGrid grid{env.n, env.m, queryTile, keyTile, {}};
  for (Value leaf : getMaskLeaves(mask.op))
    grid.leaves.push_back(Interpreter(env).eval(leaf));
  ASSERT_EQ(grid.leaves.size() + 2, ranges.getNumSymbols());
  std::vector<std::vector<bool>> visible = mask.evaluate(env);

  for (int64_t query0 = 0; query0 < env.n; query0 += queryTile) {
    std::vector<TileClass> classes = classifyTiles(ranges, grid, query0);
    ASSERT_EQ(int64_t(classes.size()), grid.keyTiles());
    for (int64_t tile = 0; tile < grid.keyTiles(); ++tile) {
      bool anyVisible = false, anyHidden = false;
      for (int64_t i = query0; i < std::min(query0 + queryTile, env.n); ++i)
        for (int64_t j = tile * keyTile;
             j < std::min((tile + 1) * keyTile, env.m); ++j)
          (visible[i][j] ? anyVisible : anyHidden) = true;
      switch (classes[tile]) {
      case TileClass::Skipped:
        ++counts.skipped;
        faults.visibleSkipped += anyVisible;
        break;
      case TileClass::Partial:
        ++counts.partial;
        faults.emptyVisited += ranges.getExact() && !anyVisible;
        break;
      case TileClass::Full:
        ++counts.full;
        faults.hiddenInFull += anyHidden;
        break;
      case TileClass::Unknown:
        FAIL() << "all leaves are known";
      }
    }
    // Whatever is visited is inside of the tensors.
    SmallVector<int64_t> symbols{env.n, env.m};
    for (std::optional<int64_t> leaf : grid.leaves)
      symbols.push_back(*leaf);
    int64_t dims[] = {query0, std::min(query0 + queryTile, env.n)};
    for (KeyRangeAttr range : ranges.getRanges()) {
      if (range.getWhere() &&
          !isInside(range.getWhere().getValue(), dims, symbols))
        continue;
      AffineMap begin = range.getBegin().getValue();
      AffineMap end = range.getEnd().getValue();
      faults.outside += evaluateMax(begin.getResults(), dims, symbols) < 0 ||
                        evaluateMin(end.getResults(), dims, symbols) > env.m;
    }
  }
}

class MaskAnalysis : public testing::Test {
protected:
  /// Analyzes the predicate that was written, and checks it for some sizes.
  void analyzeAndCheck() {
    summary = analyzeMask(mask.op);
    ASSERT_TRUE(summary.ranges);
    Faults faults;
    for (int sizes = 0; sizes < 3; ++sizes)
      check(mask, summary.ranges, mask.environment(), mask.random(1, 6),
            mask.random(1, 6), faults, counts);
    ASSERT_EQ(faults.visibleSkipped, 0) << text();
    ASSERT_EQ(faults.hiddenInFull, 0) << text();
    ASSERT_EQ(faults.emptyVisited, 0) << text();
    ASSERT_EQ(faults.outside, 0) << text();
  }

  /// The kernel and what was found, for messages.
  std::string text() {
    mask.op.setKeyRangesAttr(summary.ranges);
    return mask.print();
  }

  RandomMask mask{20};
  MaskSummary summary;
  Counts counts;
};

/// All bounds of a map plus a number.
AffineMapAttr shifted(AffineMapAttr attribute, int64_t by) {
  AffineMap map = attribute.getValue();
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result + by);
  return AffineMapAttr::get(AffineMap::get(
      map.getNumDims(), map.getNumSymbols(), results, map.getContext()));
}

/// All constraints of a set loosened by a number.
IntegerSetAttr loosened(IntegerSetAttr attribute, int64_t by) {
  IntegerSet set = attribute.getValue();
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(constraint + by);
  return IntegerSetAttr::get(IntegerSet::get(
      set.getNumDims(), set.getNumSymbols(), constraints, set.getEqFlags()));
}

/// The parts of #attn.key_ranges, to be put together in a wrong way.
struct Parts {
  explicit Parts(KeyRangesAttr attribute)
      : attribute(attribute), ranges(attribute.getRanges()),
        visible(attribute.getVisible()), hidden(attribute.getHidden()) {}

  KeyRangesAttr get() const {
    return KeyRangesAttr::get(attribute.getContext(), ranges, visible, hidden,
                              attribute.getExact(), attribute.getOpaque());
  }
  /// Replaces each range.
  template <typename Function> void change(Function function) {
    for (KeyRangeAttr &range : ranges)
      range = function(range);
  }

  KeyRangesAttr attribute;
  SmallVector<KeyRangeAttr> ranges;
  SmallVector<IntegerSetAttr> visible, hidden;
};

KeyRangeAttr makeRange(KeyRangeAttr range, int64_t begin, int64_t fullBegin,
                       int64_t fullEnd, int64_t end) {
  return KeyRangeAttr::get(
      range.getContext(), range.getWhere(), shifted(range.getBegin(), begin),
      shifted(range.getFullBegin(), fullBegin),
      shifted(range.getFullEnd(), fullEnd), shifted(range.getEnd(), end));
}

KeyRangeAttr withWhere(KeyRangeAttr range, IntegerSetAttr where) {
  return KeyRangeAttr::get(range.getContext(), where, range.getBegin(),
                           range.getFullBegin(), range.getFullEnd(),
                           range.getEnd());
}

/// Analyses that are wrong on purpose.
struct Mistake {
  const char *name;
  void (*make)(Parts &parts);
};

constexpr Mistake mistakes[] = {
    {"the last key is forgotten",
     [](Parts &parts) {
       parts.change(
           [](KeyRangeAttr range) { return makeRange(range, 0, 0, 0, -1); });
     }},
    {"the first key is forgotten",
     [](Parts &parts) {
       parts.change(
           [](KeyRangeAttr range) { return makeRange(range, 1, 0, 0, 0); });
     }},
    {"one key too many at the end",
     [](Parts &parts) {
       parts.change(
           [](KeyRangeAttr range) { return makeRange(range, 0, 0, 0, 1); });
     }},
    {"one full key too many at the end",
     [](Parts &parts) {
       parts.change(
           [](KeyRangeAttr range) { return makeRange(range, 0, 0, 1, 0); });
     }},
    {"one full key too many at the start",
     [](Parts &parts) {
       parts.change(
           [](KeyRangeAttr range) { return makeRange(range, 0, -1, 0, 0); });
     }},
    {"a range is there too seldom",
     [](Parts &parts) {
       parts.change([](KeyRangeAttr range) {
         return range.getWhere()
                    ? withWhere(range, loosened(range.getWhere(), -1))
                    : range;
       });
     }},
    {"a range is there too often",
     [](Parts &parts) {
       parts.change([](KeyRangeAttr range) {
         return withWhere(range, IntegerSetAttr());
       });
     }},
    {"a range is forgotten",
     [](Parts &parts) {
       if (parts.ranges.size() > 1)
         parts.ranges.pop_back();
     }},
    {"ranges in the wrong order",
     [](Parts &parts) {
       std::reverse(parts.ranges.begin(), parts.ranges.end());
     }},
    {"a set of visible tiles is forgotten",
     [](Parts &parts) {
       if (parts.visible.size() > 1)
         parts.visible.pop_back();
     }},
    {"sets of visible tiles are too small",
     [](Parts &parts) {
       for (IntegerSetAttr &set : parts.visible)
         set = loosened(set, -1);
     }},
    {"sets of visible tiles are too large",
     [](Parts &parts) {
       for (IntegerSetAttr &set : parts.visible)
         set = loosened(set, 1);
     }},
    {"no tile is tested", [](Parts &parts) { parts.visible.clear(); }},
    {"sets of hidden tiles are too small",
     [](Parts &parts) {
       for (IntegerSetAttr &set : parts.hidden)
         set = loosened(set, -1);
     }},
    {"a set of hidden tiles is forgotten",
     [](Parts &parts) {
       if (parts.hidden.size() > 1)
         parts.hidden.pop_back();
     }},
};

} // namespace

TEST_F(MaskAnalysis, IsExactForConjunctionsOfSimpleAtoms) {
  for (int round = 0; round < 2000; ++round) {
    mask.begin();
    Value all = mask.simpleAtom();
    for (int64_t more = mask.random(0, 2); more > 0; --more)
      all = mask.create<arith::AndIOp>(all, mask.simpleAtom());
    mask.finish(all);
    analyzeAndCheck();
    if (HasFatalFailure())
      return;
    // By ranges alone.
    ASSERT_TRUE(summary.ranges.getExact()) << text();
    ASSERT_TRUE(summary.ranges.getVisible().empty()) << text();
    ASSERT_EQ(summary.opaqueAtoms, 0u);
  }
  EXPECT_GT(counts.skipped, 0);
  EXPECT_GT(counts.partial, 0);
  EXPECT_GT(counts.full, 0);
}

TEST_F(MaskAnalysis, IsExactForAffinePredicates) {
  int exact = 0, tested = 0, affine = 0;
  for (int round = 0; round < 5000; ++round) {
    mask.begin();
    mask.finish(mask.predicate(mask.depth(), /*allowLoads=*/false));
    analyzeAndCheck();
    if (HasFatalFailure())
      return;
    affine += summary.opaqueAtoms == 0;
    exact += summary.ranges.getExact();
    tested += !summary.ranges.getVisible().empty();
  }
  // The others are tested when the kernel runs, as opaque ones are.
  EXPECT_GT(exact, 4500);
  EXPECT_GT(tested, 100);
  RecordProperty("affine", affine);
  RecordProperty("exact", exact);
  RecordProperty("tested", tested);
  EXPECT_GT(counts.skipped, 0);
  EXPECT_GT(counts.partial, 0);
  EXPECT_GT(counts.full, 0);
}

TEST_F(MaskAnalysis, IsSafeForAnyPredicate) {
  int opaque = 0;
  for (int round = 0; round < 3000; ++round) {
    mask.begin();
    mask.finish(mask.predicate(mask.depth(), /*allowLoads=*/true));
    analyzeAndCheck();
    if (HasFatalFailure())
      return;
    opaque += summary.opaqueAtoms != 0;
  }
  EXPECT_GT(opaque, 500);
  EXPECT_GT(counts.skipped, 0);
  EXPECT_GT(counts.partial, 0);
  EXPECT_GT(counts.full, 0);
}

// Text cannot have none, which the parser refuses.
TEST_F(MaskAnalysis, NoRangesAreRefused) {
  std::string message;
  ScopedDiagnosticHandler handler(&mask.context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
  });
  EXPECT_FALSE(KeyRangesAttr::getChecked(
      [&] { return emitError(UnknownLoc::get(&mask.context)); }, &mask.context,
      ArrayRef<KeyRangeAttr>(), ArrayRef<IntegerSetAttr>(),
      ArrayRef<IntegerSetAttr>(), true, false));
  EXPECT_EQ(message,
            "expected at least one range of keys (because one that is empty "
            "says that nothing is visible), got none");
}

// Each wrong analysis is found by the same check, on some of 500 predicates.
TEST_F(MaskAnalysis, MistakesAreFound) {
  std::vector<int64_t> found(std::size(mistakes), 0);
  for (int round = 0; round < 500; ++round) {
    mask.begin();
    mask.finish(mask.predicate(mask.random(0, 2), /*allowLoads=*/false));
    summary = analyzeMask(mask.op);
    Environment env = mask.environment();
    int64_t queryTile = mask.random(1, 6), keyTile = mask.random(1, 6);
    Faults none;
    check(mask, summary.ranges, env, queryTile, keyTile, none, counts);
    ASSERT_EQ(none.total(), 0) << text();
    for (auto [number, mistake] : llvm::enumerate(mistakes)) {
      Parts parts(summary.ranges);
      mistake.make(parts);
      Faults faults;
      check(mask, parts.get(), env, queryTile, keyTile, faults, counts);
      found[number] += faults.total();
    }
  }
  for (auto [number, mistake] : llvm::enumerate(mistakes))
    EXPECT_GT(found[number], 0) << mistake.name;
}

//===- MaskMap.cpp - the tiles of attention as text ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "MaskMap.h"
#include "attn/Analysis/AttentionSizes.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/Tuning.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

/// More tiles nobody looks at, and a file of them is large.
static constexpr int64_t maxTiles = 1 << 20;

int64_t MaskMap::count(char mark) const {
  int64_t count = 0;
  for (StringRef row : tiles)
    count += row.count(mark);
  return count;
}

int64_t MaskMap::pairs(char mark) const {
  int64_t count = 0;
  for (auto [query, row] : llvm::enumerate(tiles)) {
    int64_t rows = std::min(grid.queryTile,
                            grid.queries - int64_t(query) * grid.queryTile);
    for (auto [key, tile] : llvm::enumerate(row))
      if (tile == mark)
        count += rows * std::min(grid.keyTile,
                                 grid.keys - int64_t(key) * grid.keyTile);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {

/// The values of dims: the one that is left of a range, else a default.
class DimValues {
public:
  explicit DimValues(ModuleOp module) {
    module.walk([&](DimOp dim) {
      values[dim.getSymName()] =
          std::clamp<int64_t>(defaultMapSize, dim.getMin(), dim.getMax());
      if (dim.getMin() != dim.getMax())
        open.insert(dim.getSymName());
    });
  }

  /// A size, with a note where it is not certain.
  int64_t evaluate(const std::optional<SizePolynomial> &size, StringRef what,
                   std::vector<std::string> &notes) const {
    auto note = [&](std::string text) {
      if (!llvm::is_contained(notes, text))
        notes.push_back(std::move(text));
    };
    std::optional<double> value = size ? size->evaluate(values) : std::nullopt;
    if (!value || *value < 0 || *value >= double(int64_t(1) << 31)) {
      note("the number of " + what.str() + " is not known: assumed");
      return defaultMapSize;
    }
    for (const std::string &dim : size->getDims())
      if (open.contains(dim))
        note(dim + " = " + std::to_string(values.lookup(dim)) +
             " is assumed: set it with --dim");
    return int64_t(*value);
  }

private:
  llvm::StringMap<int64_t> values;
  /// Dims that have a range.
  llvm::StringSet<> open;
};

} // namespace

/// A value that a leaf has in the map, with a note; none if only a run can say.
static std::optional<int64_t> chooseLeaf(AttentionOp op, Value leaf,
                                         std::vector<std::string> &notes) {
  Block &block = op.getMask().front();
  std::string note;
  std::optional<int64_t> value;
  auto argument = dyn_cast<BlockArgument>(leaf);
  unsigned number = argument ? argument.getArgNumber() : 0;
  if (argument && number < 2) {
    note = number == 0 ? "shown for batch row 0" : "shown for head 0";
    value = 0;
  } else if (argument) {
    note = "decided at run time by capture " + std::to_string(number - 4);
  } else {
    note = "decided at run time by " +
           leaf.getDefiningOp()->getName().getStringRef().str();
    for (Value operand : leaf.getDefiningOp()->getOperands())
      if (auto read = dyn_cast<BlockArgument>(operand);
          read && read.getOwner() == &block && read.getArgNumber() >= 4)
        note += " of capture " + std::to_string(read.getArgNumber() - 4);
  }
  if (!llvm::is_contained(notes, note))
    notes.push_back(note);
  return value;
}

static char markOf(TileClass tile, bool isTested) {
  switch (tile) {
  case TileClass::Skipped:
    return tile_mark::skipped;
  case TileClass::Partial:
    return isTested ? tile_mark::runTime : tile_mark::partial;
  case TileClass::Full:
    return tile_mark::full;
  case TileClass::Unknown:
    return tile_mark::runTime;
  }
  llvm_unreachable("all classes have marks");
}

static void fillMap(AttentionOp op, MaskMap &map) {
  KeyRangesAttr ranges = op.getKeyRangesAttr();
  if (op.getMask().empty()) {
    map.tiles.assign(map.grid.queryTiles(),
                     std::string(map.grid.keyTiles(), tile_mark::full));
    return;
  }
  if (!ranges) {
    map.tiles.assign(map.grid.queryTiles(),
                     std::string(map.grid.keyTiles(), tile_mark::partial));
    return;
  }
  for (Value leaf : getMaskLeaves(op))
    map.grid.leaves.push_back(chooseLeaf(op, leaf, map.notes));
  if (!ranges.getExact())
    map.notes.push_back("partial tiles are tested at run time");
  for (int64_t query = 0; query < map.grid.queryTiles(); ++query) {
    std::string row;
    for (TileClass tile :
         classifyTiles(ranges, map.grid, query * map.grid.queryTile))
      row += markOf(tile, !ranges.getExact());
    map.tiles.push_back(std::move(row));
  }
}

FailureOr<std::vector<MaskMap>>
attn::computeMaskMaps(ModuleOp module, const TargetInfo &target) {
  DimValues dims(module);
  std::vector<MaskMap> maps;
  for (AttentionUse &use : findAttentions(module)) {
    AttentionOp op = use.op;
    MaskMap map;
    map.kernel = use.kernel.getSymName().str();
    map.target = target.name;
    map.calls = use.calls;
    map.grid.queries = dims.evaluate(use.queries, "queries", map.notes);
    map.grid.keys = dims.evaluate(use.keys, "keys", map.notes);
    AttentionTiles tiles = getAttentionTiles(op, target);
    map.grid.queryTile = tiles.queries;
    map.grid.keyTile = tiles.keys;
    int64_t count = map.grid.queryTiles() * map.grid.keyTiles();
    if (count > maxTiles)
      return op.emitError("expected a map of at most ")
             << maxTiles << " tiles, got " << map.grid.queryTiles() << " x "
             << map.grid.keyTiles() << " of " << map.grid.queryTile << " x "
             << map.grid.keyTile << ": set smaller sizes with --dim";
    fillMap(op, map);
    maps.push_back(std::move(map));
  }
  if (maps.empty())
    return module.emitError("expected attention at the graph or fused level "
                            "(because the map shows the tiles of attention), "
                            "got none");
  return maps;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string percent(int64_t part, int64_t whole) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.1f %%",
                     whole ? 100.0 * double(part) / double(whole) : 0.0);
  return text;
}

/// "  1234 mark  meaning" lines, and the share of pairs.
static void printLegend(const MaskMap &map, llvm::raw_ostream &os) {
  int64_t tiles = map.grid.queryTiles() * map.grid.keyTiles();
  int64_t all = map.grid.queries * map.grid.keys;
  auto line = [&](char mark, StringRef meaning) {
    os << "  " << mark << " "
       << llvm::format("%8lld", (long long)map.count(mark)) << "  " << meaning
       << "\n";
  };
  line(tile_mark::full, "full: visited without a mask");
  line(tile_mark::partial, "partial: visited with the mask");
  if (map.count(tile_mark::runTime))
    line(tile_mark::runTime, "tested at run time");
  line(tile_mark::skipped, "skipped");
  int64_t skipped = map.count(tile_mark::skipped);
  os << (map.count(tile_mark::runTime) ? "  visits at most " : "  visits ")
     << tiles - skipped << " of " << tiles << " tiles, "
     << percent(all - map.pairs(tile_mark::skipped), all)
     << " of the pairs of tokens\n";
  for (const std::string &note : map.notes)
    os << "  " << note << "\n";
}

void attn::printMaskMaps(ArrayRef<MaskMap> maps, llvm::raw_ostream &os) {
  for (const MaskMap &map : maps) {
    if (&map != maps.begin())
      os << "\n";
    os << map.kernel << ": " << map.grid.queries << " queries, "
       << map.grid.keys << " keys, tiles of " << map.grid.queryTile << " x "
       << map.grid.keyTile << " (" << map.target << ")";
    if (map.calls > 1)
      os << ", " << map.calls << " calls";
    os << "\n";
    printLegend(map, os);
    // Every tenth key tile has a tick.
    os << "\n  query  key tiles of " << map.grid.keyTile << "\n         ";
    for (int64_t tile = 0; tile < map.grid.keyTiles(); ++tile)
      os << (tile % 10 == 0 ? '|' : ' ');
    os << "\n";
    for (auto [query, row] : llvm::enumerate(map.tiles))
      os << llvm::format("%7lld  ",
                         (long long)(int64_t(query) * map.grid.queryTile))
         << row << "\n";
  }
}

//===- MaskMapSvg.cpp - the tiles of attention as a picture ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One panel a kernel, below each other: keys to the right, queries downwards,
// both to the same scale unless one is far longer; a legend with the counts.
//
//===----------------------------------------------------------------------===//

#include "MaskMap.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

// Pixels.
static constexpr double plotLeft = 92, plotTop = 104, plotWidth = 512;
static constexpr double leastHeight = 96, mostHeight = 768;
static constexpr double legendLeft = plotLeft + plotWidth + 32;
static constexpr double totalWidth = legendLeft + 236, margin = 36;

namespace {

struct Style {
  char mark;
  const char *color, *meaning, *detail;
};

} // namespace

static constexpr Style styles[] = {
    {tile_mark::full, "#1f5f99", "full", "no mask"},
    {tile_mark::partial, "#8fc1e3", "partial", "with the mask"},
    {tile_mark::runTime, "#eeaa44", "tested", "at run time"},
    {tile_mark::skipped, "#eceff2", "skipped", "never visited"},
};

static const char *colorOf(char mark) {
  for (const Style &style : styles)
    if (style.mark == mark)
      return style.color;
  return "#000000";
}

static std::string escape(StringRef text) {
  std::string result;
  for (char letter : text)
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default: // Control characters are not allowed in XML.
      result += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  return result;
}

namespace {

/// Draws the panel of one map.
class Panel {
public:
  Panel(const MaskMap &map, double top, llvm::raw_ostream &os)
      : map(map), os(os), top(top + plotTop), height(heightOf(map)) {}

  static double heightOf(const MaskMap &map) {
    if (map.grid.keys == 0)
      return leastHeight;
    return std::clamp(plotWidth * double(map.grid.queries) /
                          double(map.grid.keys),
                      leastHeight, mostHeight);
  }
  static double extentOf(const MaskMap &map) {
    return plotTop + std::max(heightOf(map), 170.0) +
           18 * double(map.notes.size()) + margin;
  }

  void draw() {
    drawTitle();
    drawTiles();
    drawGrid();
    drawAxes();
    drawLegend();
  }

private:
  double x(int64_t key) const {
    return plotLeft + plotWidth * double(key) /
                          double(std::max<int64_t>(1, map.grid.keys));
  }
  double y(int64_t query) const {
    return top + height * double(query) /
                     double(std::max<int64_t>(1, map.grid.queries));
  }
  void text(double left, double baseline, StringRef content, StringRef extra) {
    os << llvm::format("  <text x=\"%.1f\" y=\"%.1f\"", left, baseline) << extra
       << ">" << escape(content) << "</text>\n";
  }
  void rect(double left, double upper, double right, double lower,
            StringRef color) {
    os << llvm::format("  <rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                       "height=\"%.2f\"",
                       left, upper, right - left, lower - upper)
       << " fill=\"" << color << "\"/>\n";
  }

  void drawTitle() {
    text(plotLeft, top - 70, map.kernel, " class=\"title\"");
    std::string sizes = std::to_string(map.grid.queries) + " queries, " +
                        std::to_string(map.grid.keys) + " keys, tiles of " +
                        std::to_string(map.grid.queryTile) + " x " +
                        std::to_string(map.grid.keyTile) + " (" + map.target +
                        ")";
    text(plotLeft, top - 50, sizes, "");
  }

  /// Runs of equal tiles are one rectangle.
  void drawTiles() {
    rect(plotLeft, top, plotLeft + plotWidth, top + height,
         colorOf(tile_mark::skipped));
    os << "  <g shape-rendering=\"crispEdges\">\n";
    for (auto [number, row] : llvm::enumerate(map.tiles)) {
      int64_t query0 = int64_t(number) * map.grid.queryTile;
      int64_t query1 = std::min(query0 + map.grid.queryTile, map.grid.queries);
      for (size_t first = 0; first < row.size();) {
        size_t end = first;
        while (end < row.size() && row[end] == row[first])
          ++end;
        if (row[first] != tile_mark::skipped)
          rect(x(int64_t(first) * map.grid.keyTile), y(query0),
               x(std::min(int64_t(end) * map.grid.keyTile, map.grid.keys)),
               y(query1), colorOf(row[first]));
        first = end;
      }
    }
    os << "  </g>\n";
  }

  /// Lines between tiles, where these are large enough to be told apart.
  void drawGrid() {
    auto lines = [&](int64_t tiles, int64_t size, double pixels, bool across) {
      if (tiles == 0 || pixels / double(tiles) < 5)
        return;
      for (int64_t tile = 1; tile < tiles; ++tile) {
        double at = across ? y(tile * size) : x(tile * size);
        os << (across ? llvm::format("  <path d=\"M%.2f %.2fH%.2f\"", plotLeft,
                                     at, plotLeft + plotWidth)
                      : llvm::format("  <path d=\"M%.2f %.2fV%.2f\"", at, top,
                                     top + height))
           << " stroke=\"#ffffff\" stroke-width=\"0.7\"/>\n";
      }
    };
    lines(map.grid.keyTiles(), map.grid.keyTile, plotWidth, /*across=*/false);
    lines(map.grid.queryTiles(), map.grid.queryTile, height, /*across=*/true);
    os << llvm::format("  <rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                       "height=\"%.1f\" fill=\"none\" stroke=\"#5a6570\"/>\n",
                       plotLeft, top, plotWidth, height);
  }

  void drawAxes() {
    // Powers of two: 4 to 8 ticks.
    auto ticks = [](int64_t size) {
      std::vector<int64_t> result;
      int64_t step = llvm::bit_floor(uint64_t(std::max<int64_t>(1, size / 4)));
      for (int64_t at = 0; at <= size; at += step)
        result.push_back(at);
      return result;
    };
    for (int64_t key : ticks(map.grid.keys)) {
      os << llvm::format("  <path d=\"M%.1f %.1fv-5\" stroke=\"#5a6570\"/>\n",
                         x(key), top);
      text(x(key), top - 10, std::to_string(key), " text-anchor=\"middle\"");
    }
    for (int64_t query : ticks(map.grid.queries)) {
      os << llvm::format("  <path d=\"M%.1f %.1fh-5\" stroke=\"#5a6570\"/>\n",
                         plotLeft, y(query));
      text(plotLeft - 10, y(query) + 4, std::to_string(query),
           " text-anchor=\"end\"");
    }
    text(plotLeft + plotWidth / 2, top - 28, "keys",
         " text-anchor=\"middle\" class=\"axis\"");
    std::string turned;
    llvm::raw_string_ostream(turned)
        << llvm::format(" text-anchor=\"middle\" class=\"axis\" "
                        "transform=\"rotate(-90 %.1f %.1f)\"",
                        plotLeft - 62, top + height / 2);
    text(plotLeft - 62, top + height / 2, "queries", turned);
  }

  void drawLegend() {
    double line = top + 12;
    for (const Style &style : styles) {
      int64_t count = map.count(style.mark);
      if (style.mark == tile_mark::runTime && count == 0)
        continue;
      rect(legendLeft, line - 12, legendLeft + 16, line + 2, style.color);
      text(legendLeft + 26, line, style.meaning, " class=\"axis\"");
      text(legendLeft + 92, line, style.detail, "");
      text(legendLeft + 236, line, std::to_string(count),
           " text-anchor=\"end\"");
      line += 24;
    }
    int64_t tiles = map.grid.queryTiles() * map.grid.keyTiles();
    int64_t all = map.grid.queries * map.grid.keys;
    line += 10;
    text(legendLeft, line,
         (map.count(tile_mark::runTime) ? "visits at most " : "visits ") +
             std::to_string(tiles - map.count(tile_mark::skipped)) + " of " +
             std::to_string(tiles) + " tiles",
         " class=\"axis\"");
    std::string share;
    llvm::raw_string_ostream(share) << llvm::format(
        "%.1f %% of the pairs of tokens",
        all ? 100.0 * double(all - map.pairs(tile_mark::skipped)) / double(all)
            : 0.0);
    text(legendLeft, line + 20, share, "");
    // Sentences are longer than the legend is wide: they go under the tiles.
    line = top + std::max(height, 170.0) + 22;
    for (const std::string &note : map.notes) {
      text(plotLeft, line, note, "");
      line += 18;
    }
  }

  const MaskMap &map;
  llvm::raw_ostream &os;
  double top, height;
};

} // namespace

void attn::drawMaskMaps(ArrayRef<MaskMap> maps, llvm::raw_ostream &os) {
  double total = margin / 2;
  for (const MaskMap &map : maps)
    total += Panel::extentOf(map);
  os << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                     "width=\"%.0f\" height=\"%.0f\" "
                     "viewBox=\"0 0 %.0f %.0f\" ",
                     totalWidth + margin, total, totalWidth + margin, total)
     << "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
        "fill=\"#333b43\">\n"
        "  <style>.title { font-size: 17px; font-weight: bold; } "
        ".axis { font-weight: bold; }</style>\n"
        "  <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  double top = 0;
  for (const MaskMap &map : maps) {
    Panel(map, top, os).draw();
    top += Panel::extentOf(map);
  }
  os << "</svg>\n";
}

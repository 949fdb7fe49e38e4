#!/usr/bin/env python3
# ===- draw_kernels.py - pictures of how kernels are tiled ---------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Draws docs/images/kernel-*.svg, which docs/Kernels.md shows.

    python3 utils/draw_kernels.py [--check] [--images DIR]

With --check nothing is written; the exit status says whether the files are
those that would be.
"""

import argparse
import html
import pathlib

IMAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images"
PLAIN, TILE, HOT, PARTIAL = "#f2f2ef", "#c9dcf0", "#5b8fc7", "#f0d9a8"


class Picture:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def box(self, x, y, width, height, fill=PLAIN):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" '
            'stroke="#555" stroke-width="1"/>'
        )

    def grid(self, x, y, columns, rows, width, height, fill=lambda column, row: PLAIN):
        for row in range(rows):
            for column in range(columns):
                self.box(x + column * width, y + row * height, width, height, fill(column, row))

    def text(self, x, y, words, anchor="start", size=13):
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" '
            f'font-family="sans-serif" fill="#222">{html.escape(words)}</text>'
        )

    def arrow(self, x0, y0, x1, y1):
        self.parts.append(
            f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="#333" stroke-width="1.5" '
            'marker-end="url(#head)"/>'
        )

    def __str__(self):
        width, height = self.size
        head = (
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" '
            'orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#333"/></marker></defs>'
        )
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">\n<rect width="100%" height="100%" fill="white"/>'
            f"\n{head}\n{body}\n</svg>\n"
        )


def attention():
    p = Picture(760, 330)
    p.text(20, 24, "Scores of one head: a task is a row of tiles, which are never all in memory")
    last = 5

    def color(column, row):
        if row == 2 and column == 3:
            return HOT
        return PARTIAL if column == last else TILE if row == 2 else PLAIN

    p.grid(40, 60, 6, 5, 44, 40, color)
    p.text(172, 52, "keys, M", "middle")
    p.text(32, 165, "N", "end")
    p.arrow(44, 160, 300, 160)
    p.text(40, 284, "the row's own: queries, maximum, sum, accumulator")
    p.text(40, 304, "yellow: tiles with an edge or a mask ask for each pair")
    p.text(372, 52, "a tile: 64 keys x 48 queries")
    p.grid(372, 64, 3, 8, 40, 22, lambda column, row: HOT if row == 2 else TILE)
    p.text(372, 260, "3 vectors of queries", size=12)
    p.text(512, 117, "8 keys x 3 vectors: 24 sums in", size=12)
    p.text(512, 133, "registers, over all D channels", size=12)
    p.arrow(510, 113, 494, 117)
    for at, words in enumerate(
        (
            "1  scores = query x key",
            "2  maximum of the tile",
            "3  weights = 2^(scores - maximum)",
            "4  X = X x old + weights x value,",
            "    8 channels x 3 vectors a time",
        )
    ):
        p.text(512, 172 + 20 * at, words, size=12)
    return p


def decoding():
    p = Picture(760, 250)
    p.text(20, 24, "Few queries: channels are the lanes of vectors, keys are read once, in order")
    p.grid(40, 60, 4, 6, 60, 22, lambda column, row: HOT if row == 2 else TILE)
    p.text(160, 52, "a key: D channels", "middle")
    p.text(32, 132, "keys", "end", 12)
    p.text(320, 84, "each vector of a key is multiplied with that of", size=12)
    p.text(320, 100, "every query of the tile (up to 8: steps x heads)", size=12)
    p.arrow(284, 115, 314, 115)
    p.text(320, 120, "lanes are added by halves: one score a query", size=12)
    p.text(320, 150, "values of the tile are asked for meanwhile: they come", size=12)
    p.text(320, 166, "into the second-level cache before their product starts", size=12)
    p.text(40, 220, "A tile has 256 keys; chunks of 1024 keys are tasks of their own if there are too few rows.")
    return p


def linear():
    p = Picture(760, 330)
    p.text(20, 24, "y = x w: a panel of weights stays in the cache while the rows pass")
    p.grid(40, 70, 1, 8, 130, 22, lambda column, row: HOT if row == 3 else PARTIAL if row == 7 else PLAIN)
    p.text(105, 62, "x: M rows of K", "middle")
    p.grid(230, 70, 4, 1, 50, 176, lambda column, row: TILE if column == 1 else PLAIN)
    p.text(330, 62, "w: panels of nr columns, K long", "middle")
    p.grid(490, 70, 4, 8, 50, 22, lambda column, row: HOT if (column, row) == (1, 3) else PARTIAL if row == 7 else TILE if column == 1 else PLAIN)
    p.text(590, 62, "y: M rows of N", "middle")
    p.arrow(515, 80, 515, 240)
    p.text(40, 272, "blue: a register tile of mr rows x nr columns; one step multiplies mr numbers of x with nr of w")
    p.text(40, 292, "yellow: the last tile has the rows that are left, and computes no others")
    p.text(40, 312, "then the epilogue, in registers: bias, GELU, residual, heads; a norm when all columns of a block are there")
    return p


def rows():
    p = Picture(760, 220)
    p.text(20, 24, "Norms and softmax: a few rows at a time, vectors along the row")
    p.grid(40, 60, 10, 5, 40, 22, lambda column, row: TILE if row in (1, 2) else PLAIN)
    p.arrow(44, 93, 436, 93)
    p.arrow(44, 115, 436, 115)
    p.text(460, 98, "rows in flight: each is a chain of", size=12)
    p.text(460, 114, "additions that waits for itself", size=12)
    p.text(40, 196, "pass 1: maximum or sum;  pass 2: squares or exponentials, kept on the stack;  pass 3: scale and store")
    return p


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--images", type=pathlib.Path, default=IMAGES, help="the folder")
    options = parser.parse_args()
    pictures = {"attention": attention, "decoding": decoding, "linear": linear, "rows": rows}
    stale = []
    for name, draw in pictures.items():
        path, text = options.images / f"kernel-{name}.svg", str(draw())
        if not options.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        parser.error(f"expected {', '.join(stale)} as this program draws them: run it without --check")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# ===- make_tables.py - writes unicode_tables.h ----------------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
#
# What the tokenizer must know of Unicode, from Python's unicodedata: categories
# as ranges; lower case without accents as ranges in which the difference (or
# the result) is constant. Hangul is decomposed by a formula and CJK
# compatibility ideographs are left alone, so neither is in the tables.
#
#   python3 make_tables.py > unicode_tables.h
#
# ===-----------------------------------------------------------------------=== #

import unicodedata

LAST = 0x10FFFF


def skipped(c):
    return (
        c < 0x80
        or 0xAC00 <= c <= 0xD7A3
        or 0xD800 <= c <= 0xDFFF
        or 0xF900 <= c <= 0xFAFF
        or 0x2F800 <= c <= 0x2FA1F
        or unicodedata.category(chr(c)) == "Mn"
    )


def fold(c):
    """The code points of lower case without accents."""
    parts = unicodedata.normalize("NFD", chr(c))
    kept = [x for x in parts if unicodedata.category(x) != "Mn"]
    return [ord(y) for x in kept for y in x.lower()]


def folds():
    ones, many = {}, {}
    for c in range(LAST + 1):
        if skipped(c) or fold(c) == [c]:
            continue
        result = fold(c)
        if len(result) == 1:
            ones[c] = result[0]
        else:
            many[c] = result
    return ones, many


def fold_ranges(ones):
    """(first, last, step, to): code point c of the range folds to
    to + (c - first); a step of 0 means to `to` itself."""
    ranges, covered = [], -1
    for c in sorted(ones):
        if c <= covered:
            continue
        best = (c, c, 1, ones[c])
        for step in (1, 2):
            last = c
            while ones.get(last + step) == ones[c] + last + step - c and (
                step == 1 or last + 1 not in ones
            ):
                last += step
            if last > best[1]:
                best = (c, last, step, ones[c])
        last = c
        while ones.get(last + 1) == ones[c]:
            last += 1
        if last > best[1]:
            best = (c, last, 0, ones[c])
        ranges.append(best)
        covered = best[1]
    return ranges


def category_ranges(wanted):
    ranges, first = [], None
    for c in range(LAST + 2):
        inside = c <= LAST and unicodedata.category(chr(c)) in wanted
        if inside and first is None:
            first = c
        elif not inside and first is not None:
            ranges.append((first, c - 1))
            first = None
    return ranges


def table(comment, declaration, rows):
    print(f"\n/* {comment} */")
    print(f"static const {declaration} = {{")
    line = "   "
    for row in rows:
        item = " {" + ", ".join(f"0x{x:X}" if x > 9 else str(x) for x in row) + "},"
        if len(line) + len(item) > 80:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")


ones, many = folds()
print(
    """/*===- unicode_tables.h - written by make_tables.py ---------------*- C -*-===*\\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\\*===----------------------------------------------------------------------===*/"""
)
print(f"/* Unicode {unicodedata.unidata_version}. */")
print("#include <stdint.h>")
table(
    "Punctuation: categories Pc Pd Ps Pe Pi Pf Po.",
    "uint32_t punctuation[][2]",
    category_ranges({"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"}),
)
table("Accents: category Mn.", "uint32_t marks[][2]", category_ranges({"Mn"}))
table(
    "Control characters: categories Cc, Cf and Co.",
    "uint32_t controls[][2]",
    category_ranges({"Cc", "Cf", "Co"}),
)
table("Spaces: category Zs.", "uint32_t spaces[][2]", category_ranges({"Zs"}))
table(
    "Lower case without accents: first, last, step, result of first.\n"
    " * Step 0: all give the same result.",
    "uint32_t folds[][4]",
    fold_ranges(ones),
)
table(
    "Those that give none or several: from, number, results.",
    "uint32_t long_folds[][5]",
    [[c, len(r)] + r + [0] * (3 - len(r)) for c, r in sorted(many.items())],
)

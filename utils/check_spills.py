#!/usr/bin/env python3
# ===- check_spills.py - do inner loops keep their sums in registers? -----=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Reads assembly and fails where an innermost loop of multiply-adds uses the stack.

    python3 utils/check_spills.py [--least=8] FILE.s...

A loop is what lies between a label and a branch back to it; it is innermost if
no other lies in it. It is one of multiply-adds if it has at least --least of
them on vectors. A vector register and an address at a constant distance from
the stack pointer in one instruction are then a sum or a factor that did not
fit. Addresses with an index are arrays, and pointers and bounds that are read
again cost nothing beside the multiply-adds: both are allowed. A loop that stores
vectors in arrays updates these, with sums that are there anyway, and is left
out. x86-64 (AT&T syntax) and arm64.
"""

import argparse
import collections
import pathlib
import re
import sys

LABEL = re.compile(r"^([.\w$]+):")
# jne .LBB3_1; b.ne .LBB3_1; cbnz x8, .LBB3_1; tbz w9, #0, .LBB3_1
BRANCH = re.compile(r"^\t(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\t(?:.*, )?(\.L\w+)$")
# A product stands for its sum too where these are two instructions.
MULTIPLY_ADD = re.compile(r"^\t(?:vfn?m(?:add|sub)\d+p[sd]|fml[as]|mulp[sd])\b")
VECTOR = re.compile(r"%[xyz]mm\d|\b[qvds]\d+\b")
STACK = re.compile(r"\(%rsp\)|\[sp(?:, #-?\w+)?\]")
STORE = re.compile(r"^\t(?:vmov\w+\t%[xyz]mm\d+, .*\)$|st(?:r|p|ur)\t[qvds]\d)")

Loop = collections.namedtuple("Loop", "function first last")


def loops(lines):
    """Each label with the last branch back to it, as line numbers from 0."""
    function, labels, found = "", {}, {}
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            name = label[1]
            if not name.startswith("."):
                function, labels = name, {}
            labels[name] = number
        elif (branch := BRANCH.match(line)) and branch[1] in labels:
            first = labels[branch[1]]
            found[first] = Loop(function, first, number)
    return list(found.values())


def innermost(all_loops):
    """Those that hold no other."""
    return [
        loop
        for loop in all_loops
        if not any(
            loop.first <= other.first and other.last <= loop.last and other != loop
            for other in all_loops
        )
    ]


def check(path, least):
    """The messages for a file and the number of loops that were looked at."""
    lines = path.read_text().split("\n")
    messages, count = [], 0
    for loop in innermost(loops(lines)):
        body = range(loop.first, loop.last + 1)
        work = sum(bool(MULTIPLY_ADD.match(lines[n])) for n in body)
        updates = any(STORE.match(lines[n]) and not STACK.search(lines[n]) for n in body)
        if work < least or updates:
            continue
        count += 1
        spills = [n for n in body if STACK.search(lines[n]) and VECTOR.search(lines[n])]
        if spills:
            messages.append(
                f"{path}:{spills[0] + 1}: error: expected all vectors in registers in the loop of "
                f"{work} multiply-adds at line {loop.first + 1} of {loop.function}, got "
                f"{len(spills)} on the stack, the first '{' '.join(lines[spills[0]].split())}'"
            )
    return messages, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--least", type=int, default=8, help="multiply-adds of a loop (8)")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    for path in options.files:
        messages, count = check(path, options.least)
        if not count:
            messages = [f"{path}: error: expected loops of multiply-adds, got none"]
        print("\n".join(messages or [f"{path.name}: {count} loops of multiply-adds, no spill"]))
        failed |= bool(messages)
    sys.exit(failed)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# ===- check_named_tests.py - pages that name the tests behind them --------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""check_named_tests.py ROOT PAGE...: each table row names a test that exists.

A table with a column `test` must have a test in each row of it, written as
`name.mlir` or `name.test` in back quotes: a path from the root on (`test/...`),
or a file beside the page. For a page inside of `test/`, each test beside it
must be named. Prints what is wrong and exits with 1.
"""

import os
import re
import sys

NAME = re.compile(r"`([\w./-]+\.(?:mlir|test))`")


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def check(root, page):
    folder = os.path.dirname(page)
    named, rows, column = set(), 0, None
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("|"):
                column = None
                continue
            row = cells(line)
            if column is None:
                column = row.index("test") if "test" in row else -1
                continue
            if column < 0 or set(line) <= set("|-: \n"):
                continue
            rows += 1
            tests = NAME.findall(row[column]) if column < len(row) else []
            if not tests:
                yield f"{page}:{number}: expected a test in this row, got none"
            for test in tests:
                base = root if test.startswith("test/") else folder
                if os.path.isfile(os.path.join(base, test)):
                    named.add(test)
                else:
                    yield f"{page}:{number}: no test {test}"
    if not rows:
        yield f"{page}: expected a table with a column 'test', got none"
    if os.path.abspath(folder).startswith(os.path.abspath(root) + "/test/"):
        for name in sorted(os.listdir(folder)):
            if name.endswith((".mlir", ".test")) and name not in named:
                yield f"{page}: expected a row for {name}, got none"


def main():
    root, pages = sys.argv[1], sys.argv[2:]
    wrong = [text for page in pages for text in check(root, page)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong) or not pages


if __name__ == "__main__":
    sys.exit(main())

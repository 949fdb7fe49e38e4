#!/usr/bin/env python3
# ===- check_labels.py - constraints, their checks and their tests ---------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""check_labels.py SOURCE_ROOT

Each operation is documented with its lifetime and an example, and each
constraint (C1), (C2)... of an operation or attribute has a test whose name
begins with its label, such as @scores_c1_head_size. Prints what is missing.
"""

import glob
import re
import sys

root = sys.argv[1]
tests = ""
for path in glob.glob(root + "/test/Dialect/*-errors.mlir"):
    with open(path, encoding="utf-8") as file:
        tests += file.read()

DEFINITION = re.compile(
    r'^def (\w+)\s*:\s*(Attn_\w+)<"(\w+)"(?:, "(\w+)")?.*?(?=^def |\Z)',
    re.MULTILINE | re.DOTALL,
)
problems = []
operations = constraints = 0
for path in sorted(glob.glob(root + "/include/attn/Dialect/IR/*.td")):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in DEFINITION.finditer(text):
        kind, first, second = match.group(2, 3, 4)
        body = match.group(0)
        is_operation = kind.endswith("Op")
        name = first if is_operation else second
        if is_operation:
            operations += 1
            for part in ("let summary", "Lifetime:", "Example", "```mlir"):
                if part not in body:
                    problems.append("attn.%s: no '%s'" % (name, part))
        for number in re.findall(r"^ *- \(C(\d+)\)", body, re.MULTILINE):
            constraints += 1
            # One test may have several labels: @call_c2_c3_types.
            if not re.search(r"@%s(_c\d+)*_c%s(?!\d)" % (name, number), tests):
                problems.append("no test is named @%s_c%s..." % (name, number))

for problem in problems:
    print(problem)
if operations < 38 or constraints < 100:
    print("expected to find 38 operations and 100 constraints, got %d and %d"
          % (operations, constraints))
    sys.exit(1)
sys.exit(1 if problems else 0)

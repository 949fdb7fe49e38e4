#!/usr/bin/env python3
# ===- summarize_tests.py - add up test reports ----------------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Adds up the XML reports of lit and GoogleTest.

Prints one line a suite, the names of failed tests, and as the last line
`N passed, M failed, K skipped`. Exits with 1 if a test failed or a suite that
should have run has no test, which counts as a failure: a suite that runs
nothing checks nothing.
"""

import argparse
import collections
import glob
import os
import sys
import xml.etree.ElementTree as ElementTree

# Folders of test/ whose tests run generated code.
EXECUTION = ("Conformance", "Examples", "Execution")

Suite = collections.namedtuple("Suite", "name passed failed skipped")


def lit_cases(report):
    """Yields (execution?, name, outcome) for each test of a lit report."""
    for case in ElementTree.parse(report).iter("testcase"):
        folder = case.get("classname").split(".", 1)[1]
        name = case.get("name")
        # Tests right in test/ have the suite's name as folder.
        path = name if folder == "attn" else folder + "/" + name
        yield folder.split("/")[0] in EXECUTION, "test/" + path, outcome(case)


def unit_cases(reports):
    """Yields (name, outcome) for each test of the GoogleTest reports."""
    for report in reports:
        program = os.path.splitext(os.path.basename(report))[0]
        for case in ElementTree.parse(report).iter("testcase"):
            name = "%s: %s.%s" % (program, case.get("classname"), case.get("name"))
            result = outcome(case)
            if case.get("status") == "notrun":
                result = "skipped"
            yield name, result


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None:
        return "skipped"
    return "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", help="folder with lit.xml and unit/*.xml")
    parser.add_argument(
        "--unit-programs",
        type=int,
        default=0,
        help="unit test programs that must have left a report (one that "
        "crashes leaves none)",
    )
    arguments = parser.parse_args()

    results = {"lit": [], "execution": [], "unit": []}
    lit_report = os.path.join(arguments.reports, "lit.xml")
    if os.path.exists(lit_report):
        for execution, name, result in lit_cases(lit_report):
            results["execution" if execution else "lit"].append((name, result))
    unit_reports = sorted(glob.glob(os.path.join(arguments.reports, "unit", "*.xml")))
    results["unit"] = list(unit_cases(unit_reports))
    for _ in range(arguments.unit_programs - len(unit_reports)):
        results["unit"].append(("a unit test program that ended early", "failed"))

    total = collections.Counter()
    for suite, cases in results.items():
        if not cases:
            cases = [("%s: the suite ran no test" % suite, "failed")]
        count = collections.Counter(result for _, result in cases)
        total += count
        for name, result in cases:
            if result == "failed":
                print("FAILED %s" % name)
        print(
            "%-10s %5d passed, %d failed, %d skipped"
            % (suite, count["passed"], count["failed"], count["skipped"])
        )
    print(
        "%d passed, %d failed, %d skipped"
        % (total["passed"], total["failed"], total["skipped"])
    )
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

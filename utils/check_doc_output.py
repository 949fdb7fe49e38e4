#!/usr/bin/env python3
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the output shown in a documentation page is what the tools print.

    check_doc_output.py [--update] docs/Pipelines.md BINDIR

A block of output follows a comment that says how it is made:

    <!-- run: attn-opt examples/worked-example/attention.mlir --emit=fused -->
    ```mlir
    ...
    ```

Commands run from the root of the source tree with BINDIR first in PATH and without a shell; `| grep -E "R"`
at the end of a command shows the lines that match a regular expression. Halide's numbered temporaries (t2078) lose
their numbers, which any change of a kernel would change. With --update the page is rewritten instead of compared.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"(<!-- run: (?P<command>[^\n]*?) -->\n```(?P<language>\w*)\n)(?P<text>.*?)(?P<end>^```$)",
                   re.DOTALL | re.MULTILINE)
PART = re.compile(r'^(?P<command>.*?) \| grep -E "(?P<pattern>.*)"$')


def output(command, environment, root):
    """What a command prints on standard output; ends the check where it fails."""
    part = PART.match(command)
    words = shlex.split(part["command"] if part else command)
    run = subprocess.run(words, env=environment, cwd=root, text=True, capture_output=True, check=False)
    if run.returncode:
        sys.exit(f"{command}: expected exit status 0, got {run.returncode}\n{run.stderr}")
    lines = run.stdout.splitlines(keepends=True)
    if part:
        lines = [line for line in lines if re.search(part["pattern"], line)]
    lines = [re.sub(r"\bt\d+\b", "t", line.rstrip()) + "\n" for line in lines]
    return "".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("page")
    parser.add_argument("bindir")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = dict(os.environ, PATH=os.path.abspath(options.bindir) + os.pathsep + os.environ["PATH"])
    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    blocks = list(BLOCK.finditer(page))
    if not blocks or len(blocks) != page.count("<!-- run:"):
        sys.exit(f"{options.page}: expected each `<!-- run: -->` comment to be followed by a fenced block, "
                 f"got {len(blocks)} blocks for {page.count('<!-- run:')} comments")
    new = BLOCK.sub(lambda block: block[1] + output(block["command"], environment, root) + block["end"], page)
    if options.update:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != page:
        sys.stdout.writelines(difflib.unified_diff(page.splitlines(keepends=True), new.splitlines(keepends=True),
                                                   options.page, "what the tools print"))
        sys.exit("the page is not what the tools print: run utils/check_doc_output.py --update")


if __name__ == "__main__":
    main()

# ===- rerun.py - tests of compiled models with more options ---------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   rerun.py ATTN_RUN FOLDER OPTION...
#
# Takes the first line of each model in the folder that compares random inputs with the
# evaluator, and runs it again with the options, which win over the line's.

import pathlib
import re
import shlex
import subprocess
import sys

attn_run, folder, *options = sys.argv[1:]
failed = 0
for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    line = re.search(r"RUN: attn-run %s (.*--random.*--reference.*)", path.read_text())
    if not line:
        continue
    words = shlex.split(line[1].split("|")[0])
    run = subprocess.run([attn_run, str(path), *words, *options], capture_output=True, text=True)
    print(path.stem, "ok" if run.returncode == 0 else "FAILED", flush=True)
    if run.returncode != 0:
        print(run.stdout, run.stderr, sep="\n")
        failed += 1
print(failed, "failed")
sys.exit(failed != 0)

# ===- run_variants.py - compiled attention against stored cases -----------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   run_variants.py ATTN_RUN DATA SCRATCH [--OPTION...] MODEL...
#
# The variants are written in f64. Rewrites each and its case in f32, unless the
# option --f64 is given, compiles it, and compares with the case. Prints a line for
# each, and the output of those that fail.

import pathlib
import re
import subprocess
import sys

import numpy as np

attn_run, data, scratch, *rest = sys.argv[1:]
double = "--f64" in rest
options = [word for word in rest if word.startswith("--") and word != "--f64"]
models = [word for word in rest if not word.startswith("--")]


def to_f32(source, target):
    arrays = np.load(source)
    np.savez(
        target,
        **{
            name: array.astype(np.float32) if array.dtype == np.float64 else array
            for name, array in arrays.items()
        },
    )


failed = 0
for path in map(pathlib.Path, sorted(models)):
    text = path.read_text()
    case = re.search(r"%data/variants/([\w.-]+\.npz)", text).group(1)
    model, arrays = pathlib.Path(scratch) / path.name, pathlib.Path(data) / case
    if not double:
        text = text.replace("f64", "f32")
        arrays = pathlib.Path(scratch) / case
        to_f32(pathlib.Path(data) / case, arrays)
    model.write_text(text)
    run = subprocess.run(
        [attn_run, str(model), f"--case={arrays}", *options],
        capture_output=True,
        text=True,
    )
    print(path.stem, "ok" if run.returncode == 0 else "FAILED", flush=True)
    if run.returncode != 0:
        print(run.stdout, run.stderr, sep="\n")
        failed += 1
print(f"{len(models)} models, {failed} failed")
sys.exit(failed != 0)

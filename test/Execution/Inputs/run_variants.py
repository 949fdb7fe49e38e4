# ===- run_variants.py - compiled attention against stored cases -----------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   run_variants.py ATTN_RUN MODELS DATA SCRATCH [OPTION...]
#
# The models of the reference evaluator are written in f64. Rewrites each and its
# case in f32, compiles it, and compares with the case. Prints a line for each,
# and the output of those that fail.

import pathlib
import re
import subprocess
import sys

import numpy as np

attn_run, models, data, scratch, *options = sys.argv[1:]
# Compares the bits of a float, which are others in f32.
SKIPPED = {"fused-mask-finfo-min"}


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
for path in sorted(pathlib.Path(models).glob("*.mlir")):
    if path.stem in SKIPPED:
        continue
    text = path.read_text()
    case = re.search(r"%data/variants/([\w.-]+\.npz)", text).group(1)
    model = pathlib.Path(scratch) / path.name
    model.write_text(text.replace("f64", "f32"))
    to_f32(pathlib.Path(data) / case, pathlib.Path(scratch) / case)
    run = subprocess.run(
        [attn_run, str(model), "--case", str(pathlib.Path(scratch) / case), *options],
        capture_output=True,
        text=True,
    )
    print(path.stem, "ok" if run.returncode == 0 else "FAILED", flush=True)
    if run.returncode != 0:
        print(run.stdout, run.stderr, sep="\n")
        failed += 1
print(failed, "failed")
sys.exit(failed != 0)

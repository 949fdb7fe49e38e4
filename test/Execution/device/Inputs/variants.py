# ===- variants.py - each case of the algebra on a device ------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""variants.py ATTN_RUN TARGET MODELS CASES

Runs each MODELS/NAME.mlir with CASES/NAME.npz on TARGET; says what fails, and
how many passed.
"""

import glob
import os
import subprocess
import sys

program, target, models, cases = sys.argv[1:]
passed = failed = 0
for case in sorted(glob.glob(os.path.join(cases, "*.npz"))):
    name = os.path.splitext(os.path.basename(case))[0]
    model = os.path.join(models, name + ".mlir")
    if not os.path.exists(model):
        continue
    run = subprocess.run(
        [program, model, "--case", case, "--target=" + target],
        capture_output=True,
        text=True,
    )
    passed += run.returncode == 0
    if run.returncode:
        failed += 1
        print("FAIL:", name, run.stdout, run.stderr)
print("%d passed, %d failed" % (passed, failed))

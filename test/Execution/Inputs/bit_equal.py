# ===- bit_equal.py - rows and threads that must not change a bit ----------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   bit_equal.py ATTN_RUN MODEL TARGET DIM=SIZE,... [--flip]
#
# Runs a model whose tensors begin with a size `batch` on 8 rows with one
# thread, then with two, then each row alone. --flip changes one bit of what is
# expected, so that the comparison must fail.

import pathlib
import subprocess
import sys

import numpy as np

attn_run, model, target, sizes = sys.argv[1:5]
folder = pathlib.Path(model).parent
name, _, values = sizes.partition("=")


def run(*arguments):
    return subprocess.run(
        [attn_run, *arguments], capture_output=True, text=True, check=False
    )


def save(path, arrays, row=None, flip=False):
    picked = {
        key: array if row is None else array[row : row + 1]
        for key, array in arrays.items()
    }
    if flip:
        key = next(key for key in picked if key.startswith("out."))
        picked[key] = picked[key].copy()
        picked[key].view(np.uint32).flat[0] ^= 1
    np.savez(path, **picked)


# Compiled once: every run below takes the object.
prefix = str(folder / f"bit-equal-{target}")
for value in values.split(","):
    case = str(folder / "batch.npz")
    compiled = run(
        model, "--random", f"--target={target}", "--dim=batch=8",
        f"--dim={name}={value}", f"--write={case}", f"--keep={prefix}",
    )  # fmt: skip
    if compiled.returncode:
        sys.exit(compiled.stdout + compiled.stderr)
    arrays = dict(np.load(case))
    exact = [f"{prefix}.o", "--tolerance=0"]
    if run(*exact, "--threads=2", f"--case={case}").returncode:
        sys.exit(f"{name}={value}: expected the bits of one thread, got others")
    for row in range(8):
        one = str(folder / "row.npz")
        save(one, arrays, row, flip="--flip" in sys.argv)
        for threads in 1, 2:
            result = run(*exact, f"--threads={threads}", f"--case={one}")
            if result.returncode:
                print(result.stdout, result.stderr, file=sys.stderr)
                sys.exit(
                    f"{name}={value}: expected the bits of the batch, got others "
                    f"in row {row} with {threads} threads"
                )
    print(f"{name}={value}: 8 rows and 2 threads equal", flush=True)

# ===- agree.py - two lowerings of a model, size by size -------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   agree.py ATTN_OPT ATTN_RUN SCRATCH TOLERANCE MODEL...
#
# Compiles each model for Halide and for plain loops, once. For each pair of
# numbers of queries and keys, the results of the one are the case of the other.

import json
import pathlib
import re
import subprocess
import sys

import numpy as np

attn_opt, attn_run, scratch, tolerance, *models = sys.argv[1:]
# None, one, primes; tiles of 24 queries and 64 or 128 keys, and their neighbours.
SIZES = [
    (0, 7),
    (7, 0),
    (1, 1),
    (1, 127),
    (2, 3),
    (13, 131),
    (23, 24),
    (24, 64),
    (24, 128),
    (25, 65),
    (25, 129),
    (48, 256),
    (127, 47),
    (128, 255),
    (241, 2),
    (256, 256),
]
BATCHES = 2


TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


def run(command, what):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{what}: FAILED\n{result.stdout}{result.stderr}")


def random_inputs(interface, dims, random):
    """Numbers for floats; lengths, offsets and first keys for integers."""
    arrays = {}
    for tensor in interface["inputs"]:
        shape = [dims.get(size, size) for size in tensor["dims"]]
        if tensor["type"] == "bool":
            value = random.integers(0, 2, shape).astype(bool)
        elif tensor["type"].startswith("f"):
            value = random.standard_normal(shape).astype(TYPES[tensor["type"]])
        else:
            value = random.integers(0, dims["m"] + 1, shape).astype(TYPES[tensor["type"]])
        arrays["in." + tensor["name"]] = value
    return arrays


for source in map(pathlib.Path, models):
    # Whatever a model says of its sizes: all of these.
    text = re.sub(r"(attn.dim @\w+) range\(\d+, \d+\)", r"\1 range(0, 256)", source.read_text())
    prefix = pathlib.Path(scratch) / source.stem
    model = prefix.with_suffix(".mlir")
    model.write_text(text)
    objects = {}
    for way in ("halide", "loops"):
        objects[way] = f"{prefix}-{way}.o"
        run([attn_opt, model, f"--lowering={way}", "--emit=obj", "-o", f"{prefix}-{way}"], f"{source.stem} {way}")
    interface = json.loads(pathlib.Path(f"{prefix}-loops.json").read_text())
    random = np.random.default_rng(1)
    inputs, cases = [], []
    for n, m in SIZES:
        path = f"{prefix}-{n}-{m}.npz"
        np.savez(path, **random_inputs(interface, {"b": BATCHES, "n": n, "m": m}, random))
        inputs.append(f"--case={path}")
        cases.append(f"{prefix}-{n}-{m}-halide.npz")
    run([attn_run, objects["halide"], *inputs, *[f"--write={case}" for case in cases]], f"{source.stem} halide")
    run([attn_run, objects["loops"], *[f"--case={case}" for case in cases], f"--tolerance={tolerance}"], source.stem)
    print(f"{source.stem}: {len(SIZES)} sizes agree", flush=True)

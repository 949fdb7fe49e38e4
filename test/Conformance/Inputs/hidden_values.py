# ===- hidden_values.py - NaN and infinity where nothing looks -------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""hidden_values.py variants out: cases whose hidden keys and values hold NaN and
infinity. Where no query sees them, the expected outputs stay as they were."""
import os
import sys

import numpy

source, out = sys.argv[1:]


def load(name):
    with numpy.load(os.path.join(source, name + ".npz")) as arrays:
        return {key: arrays[key] for key in arrays if key != "out.p"}


def save(name, arrays):
    numpy.savez(os.path.join(out, name + ".npz"), **arrays)


arrays = load("mask-key-lengths")
for batch, length in enumerate(arrays["in.key_lengths"]):
    arrays["in.k"][batch, :, length:] = numpy.nan
    arrays["in.v"][batch, :, length:] = numpy.inf
save("mask-key-lengths", arrays)

# Some queries see these, which then have no finite result: no expected outputs.
for name in ("causal-top-left", "window-both"):
    arrays = {k: v for k, v in load(name).items() if k.startswith("in.")}
    arrays["in.k"][0, 0, -1] = numpy.nan
    arrays["in.v"][0, 1, -1] = -numpy.inf
    save(name, arrays)

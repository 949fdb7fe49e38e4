# ===- one_row.py - one batch row of a case --------------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""one_row.py case.npz row out.npz"""
import sys

import numpy

case, row, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with numpy.load(case) as arrays:
    numpy.savez(out, **{name: arrays[name][row : row + 1] for name in arrays})

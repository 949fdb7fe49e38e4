# ===- cases.py - cases of the model in model.c ----------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""cases.py folder: y = 2 x and n = ids + 1, and what differs from that."""
import os
import sys

import numpy

x = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
ids = numpy.arange(4, dtype=numpy.int64)
good = {"in.x": x, "in.ids": ids, "out.y": 2 * x, "out.n": ids + 1}


def write(name, **changes):
    arrays = dict(good)
    for key, value in changes.items():
        key = key.replace("_", ".")
        if value is None:
            del arrays[key]
        else:
            arrays[key] = value
    numpy.savez(os.path.join(sys.argv[1], name + ".npz"), **arrays)


def changed(array, *changes):
    array = array.copy()
    for place, value in changes:
        array[place] = value
    return array


write("good")
write("unknown", out_y=None, out_n=None, out_z=x)
write("wide", in_x=x.astype(numpy.float64), out_y=2 * x.astype(numpy.float64))
write("inexact", in_x=x + numpy.float64(0.1))
write(
    "types",
    in_x=x.astype(numpy.int32),
    in_ids=ids.reshape(4, 1),
    compare=ids,
)
write("sizes", in_ids=numpy.arange(5, dtype=numpy.int64))
write(
    "compare",
    compare=numpy.array([True, False, True, True]),
    out_y=changed(2 * x, ((1, 0), 100)),
    out_n=changed(ids + 1, (1, 100)),
)
special = changed(x, ((0, 0), numpy.nan), ((1, 2), -numpy.inf))
write("special", in_x=special, out_y=2 * special)
write("misplaced", in_x=special, out_y=changed(2 * special, ((1, 2), numpy.inf)))
write("integer", out_n=changed(ids + 1, (2, 4)))
numpy.savez(
    os.path.join(sys.argv[1], "static.npz"),
    **{"in.x": numpy.ones(4, dtype=numpy.float32)},
)
